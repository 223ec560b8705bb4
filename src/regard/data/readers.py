"""Files to examples: CSV, TSV, JSON lines, JSON, Parquet, lines of text (each also as .gz), or a folder for each class.

Every format gives rows: a number, a place to name in an error, and fields. One function makes a row an `Example` and
refuses what cannot be used. Nothing here decides the task: labels stay as they are written.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import importlib
import io
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from regard.data import words
from regard.data.guess import guess_columns, listed
from regard.errors import InputError
from regard.records import Example, Span

InputFormat = Literal["auto", "lines", "csv", "tsv", "jsonl"]
LONGEST_WORD = 10_000  # characters; longer ones are pasted files, not words
SAMPLE = 200  # rows that the columns are guessed from
DELIMITERS = ",;\t|"
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Corpus:
    """The examples of a file and how they were found."""

    path: str
    examples: list[Example]
    text_column: str
    label_column: str | None  # None where no example has a label
    guessed: list[str]  # sentences for the user
    skipped: int  # rows that were left out


@dataclass(frozen=True)
class _Row:
    number: int
    place: str
    fields: Mapping[str, Any]
    problem: str | None = None  # why there are no fields


@dataclass(frozen=True)
class _Wish:
    """What the caller asked for."""

    text: str | None
    label: str | None
    labelled: bool
    skip_bad_rows: bool
    at_least: int


def read(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    labelled: bool = True,
    skip_bad_rows: bool = False,
    at_least: int | None = None,
) -> Corpus:
    """Every example of a file or of a folder of classes.

    Without `labelled` a label is read where there is one but not asked for. `at_least` is two with labels, else one.
    """
    path = Path(path)
    wish = _Wish(text, label, labelled, skip_bad_rows, _limit(at_least, labelled))
    if path.is_dir():
        return _corpus(str(path), list(_folder_rows(path, skip_bad_rows)), wish, "text", "folder")
    suffix = _suffix(path)
    name = str(path)
    data = _bytes(path)
    if suffix == ".parquet":
        return _corpus(name, _parquet_rows(data, name), wish)
    return _from_text(_decoded(data, name, skip_bad_rows), name, suffix[1:], wish)


def read_lines(
    stream: IO[str] | IO[bytes],
    name: str = "standard input",
    input_format: InputFormat = "auto",
    *,
    text: str | None = None,
    label: str | None = None,
    labelled: bool = False,
    skip_bad_rows: bool = False,
    at_least: int | None = None,
) -> Corpus:
    """Every example of a stream; `auto` takes JSON objects for JSON lines, and anything else for a text a line."""
    data = stream.read()
    content = _decoded(data, name, skip_bad_rows) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if input_format == "auto":
        form = "jsonl" if _starts_with_object(content) else "txt"
    elif input_format in ("lines", "csv", "tsv", "jsonl"):
        form = "txt" if input_format == "lines" else input_format
    else:
        raise InputError(f"input_format: {input_format!r} is given; auto, lines, csv, tsv or jsonl is accepted")
    return _from_text(content, name, form, _Wish(text, label, labelled, skip_bad_rows, _limit(at_least, labelled)))


def _limit(at_least: int | None, labelled: bool) -> int:
    return at_least if at_least is not None else 2 if labelled else 1


# From a path to its content.


def _suffix(path: Path) -> str:
    accepted = ", ".join([".parquet", *(f".{form}" for form in _FORMS)])
    if not path.exists():
        raise InputError(f"{path}: no such file; a file ({accepted}, each also .gz) or a folder of classes is accepted")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]
    if suffix != ".parquet" and suffix[1:] not in _FORMS:
        raise InputError(
            f"{path}: {suffix or 'no suffix'} is found; {accepted} (each also .gz) or a folder of classes is accepted"
        )
    return suffix


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix.lower() == ".gz":
            data = gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise InputError(
            f"{path}: the gzip data is damaged or cut off ({problem}); a whole .gz file is expected"
        ) from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror})") from None
    return data


def _decoded(data: bytes, name: str, lenient: bool) -> str:
    """The text of the bytes. Lenient: what is no UTF-8 becomes lone surrogates, which make their row a bad one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8", errors="surrogateescape" if lenient else "strict")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        found = f"byte 0x{data[problem.start]:02x} at offset {problem.start}"
        raise InputError(
            f"{name}, line {line}: {found} is not UTF-8; convert the file to UTF-8 (iconv -f latin1 -t utf-8)"
        ) from None


def _from_text(content: str, name: str, form: str, wish: _Wish) -> Corpus:
    if not content.strip("\ufeff \t\r\n"):
        raise InputError(f"{name}: the file is empty; at least {wish.at_least} {_rows(wish.at_least)} expected")
    rows = _FORMS[form](content, name)
    return _corpus(name, rows, wish, "text", None) if form == "txt" else _corpus(name, rows, wish)


def _rows(count: int) -> str:
    return "row is" if count == 1 else "rows are"


# From content to rows.


def _csv_rows(content: str, name: str) -> list[_Row]:
    header = re.sub(r'"[^"]*"', "", content.lstrip("\r\n").split("\n", 1)[0])
    delimiter = max(DELIMITERS, key=header.count)  # the first of them where none occurs
    return _table(_records(content, name, delimiter), name)


def _tsv_rows(content: str, name: str) -> list[_Row]:
    """Some TSV files quote fields, in others a quotation mark is just a mark: the latter where the former fails."""
    try:
        rows = _table(_records(content, name, "\t"), name)
        if not any(row.problem for row in rows):
            return rows
    except InputError:
        pass
    return _table(_records(content, name, "\t", csv.QUOTE_NONE), name)


def _records(
    content: str, name: str, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Iterator[list[str]]:
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    try:
        yield from (record for record in reader if record)
    except csv.Error as problem:
        raise InputError(
            f"{name}, line {reader.line_num}: {problem}; a field that holds a quotation mark must be quoted"
        ) from None
    finally:
        csv.field_size_limit(before)


def _table(records: Iterator[list[str]], name: str) -> list[_Row]:
    columns = [column.strip() for column in next(records, [])]
    twice = [column for index, column in enumerate(columns) if column in columns[:index]]
    if twice:
        raise InputError(
            f"{name}: the first row names column {twice[0]!r} twice; every column must have a name of its own"
        )
    rows = []
    for number, record in enumerate(records, 1):
        found = (
            None
            if len(record) == len(columns)
            else f"{len(record)} fields are found; {len(columns)} are expected, as in the first row"
        )
        rows.append(_Row(number, f"row {number}", {} if found else dict(zip(columns, record, strict=True)), found))
    if not rows:
        raise InputError(
            f"{name}: only the row of column names ({listed(columns)}) is found; rows of data are expected below it"
        )
    return rows


def _jsonl_rows(content: str, name: str) -> list[_Row]:
    del name
    lines = [(line, number) for number, line in enumerate(content.split("\n"), 1) if line.strip()]
    return [_json_row(row, f"row {row} (line {number})", line) for row, (line, number) in enumerate(lines, 1)]


def _json_row(number: int, place: str, line: str) -> _Row:
    try:
        return _object_row(number, place, json.loads(line))
    except (ValueError, RecursionError) as problem:
        return _Row(
            number, place, {}, f"{line.strip()[:40]!r} is no JSON ({problem}); one JSON object a line is expected"
        )


def _object_row(number: int, place: str, value: object) -> _Row:
    if isinstance(value, dict):
        return _Row(number, place, value)
    return _Row(
        number, place, {}, f'{_shown(value)} is found; a JSON object such as {{"text": …, "label": …}} is expected'
    )


def _json_rows(content: str, name: str) -> list[_Row]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"{name}: is no JSON ({problem}); a list of objects is expected, or name it .jsonl for one a line"
        ) from None
    if not isinstance(values, list):
        raise InputError(
            f'{name}: {_shown(values)} is found; a list of objects such as {{"text": …, "label": …}} is expected'
        )
    return [_object_row(number, f"row {number}", value) for number, value in enumerate(values, 1)]


def _line_rows(content: str, name: str) -> list[_Row]:
    """A text a line; blank lines are no rows, but they are counted, so that a row's number is its line's."""
    del name
    lines = enumerate(content.split("\n"), 1)
    return [_Row(number, f"line {number}", {"text": line.strip()}) for number, line in lines if line.strip()]


def _parquet_rows(data: bytes, name: str) -> list[_Row]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{name}: Parquet needs pyarrow, which is not installed: pip install 'regard[parquet]'"
        ) from None
    try:
        values = parquet.read_table(io.BytesIO(data)).to_pylist()
    except (OSError, ValueError, NotImplementedError) as problem:
        raise InputError(f"{name}: is no whole Parquet file ({str(problem).splitlines()[0]})") from None
    return [_Row(number, f"row {number}", value) for number, value in enumerate(values, 1)]


def _folder_rows(folder: Path, lenient: bool) -> Iterator[_Row]:
    """A text a file, its label the name of the folder."""
    files = sorted((*folder.glob("*/*.txt"), *folder.glob("*/*.txt.gz")))
    files = [file for file in files if not file.parent.name.startswith(".")]
    if not files:
        raise InputError(
            f"{folder}: no file CLASS/NAME.txt is found in it; a folder of .txt files for each class is expected"
        )
    for number, file in enumerate(files, 1):
        text = _decoded(_bytes(file), str(file), lenient)
        yield _Row(number, f"file {file.relative_to(folder)}", {"text": text, "folder": file.parent.name})


_FORMS: dict[str, Callable[[str, str], list[_Row]]] = {
    "csv": _csv_rows,
    "tsv": _tsv_rows,
    "jsonl": _jsonl_rows,
    "ndjson": _jsonl_rows,
    "json": _json_rows,
    "txt": _line_rows,
}


def _starts_with_object(content: str) -> bool:
    first = content.lstrip().split("\n", 1)[0]
    try:
        return first.startswith("{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


# From rows to examples.


def _corpus(name: str, rows: list[_Row], wish: _Wish, text: str | None = None, label: str | None = None) -> Corpus:
    """`text` and `label` are columns that the format itself sets."""
    usable = [row for row in rows if row.problem is None]
    if not usable or not wish.skip_bad_rows:
        _fail_on_bad_rows(name, rows)
    guessed: list[str] = []
    if text is None:
        text, label = _columns(name, usable, wish, guessed)
    elif label is None and (wish.labelled or wish.label is not None):
        raise InputError(
            f"{name}: lines of text have no labels; a .csv, .tsv or .jsonl file with a label column is needed"
        )
    examples: list[Example] = []
    problems: list[InputError] = []
    for row in usable:
        try:
            examples.append(_example(row, name, text, label, wish.labelled))
        except InputError as problem:
            if not wish.skip_bad_rows:
                raise
            problems.append(problem)
    if len(examples) < wish.at_least:
        why = f"; the first of {len(rows) - len(examples)} bad rows: {problems[0]}" if problems else ""
        raise InputError(
            f"{name}: {len(examples)} usable rows found; at least {wish.at_least} {_rows(wish.at_least)} expected{why}"
        )
    return Corpus(name, examples, text, label, guessed, len(rows) - len(examples))


def _fail_on_bad_rows(name: str, rows: list[_Row]) -> None:
    for row in rows:
        if row.problem is not None:
            raise InputError(f"{name}, {row.place}: {row.problem}")
    if not rows:
        raise InputError(f"{name}: no rows are found; at least one is expected")


def _columns(name: str, rows: list[_Row], wish: _Wish, guessed: list[str]) -> tuple[str, str | None]:
    """The columns that were asked for, or guesses, noted in `guessed`."""
    columns = list(dict.fromkeys(column for row in rows for column in row.fields))
    for option, column in (("--text", wish.text), ("--label", wish.label)):
        if column is not None and column not in columns:
            raise InputError(f"{name}: there is no column {column!r} ({option}); {_there(column, columns)}")
    text, label = wish.text, wish.label
    if text is None or label is None:
        try:
            others = [column for column in columns if column != label]
            sample = [row.fields for row in rows[:SAMPLE]]
            text, guess = guess_columns(others, sample, text=wish.text, by_name_only=not wish.labelled)
        except InputError as problem:
            raise InputError(f"{name}: {problem}; --text names it") from None
        label = label if label is not None else guess
    if label is None and wish.labelled:
        raise InputError(f"{name}: no column looks like labels (columns: {listed(columns)}); --label names it")
    if text == label:
        raise InputError(f"{name}: column {text!r} is given for both text and label; two columns are needed")
    guesses = [("text", text)] * (wish.text is None) + [("label", label)] * (wish.label is None and label is not None)
    if guesses:
        found = " and ".join(f"{kind} column {column!r}" for kind, column in guesses)
        options = " and ".join(f"--{kind}" for kind, _ in guesses)
        guessed.append(f"{found} guessed; {options} {'override' if len(guesses) > 1 else 'overrides'}")
    return text, label


def _there(column: str, columns: list[str]) -> str:
    near = difflib.get_close_matches(column.lower(), [other.lower() for other in columns], n=1)
    meant = next((other for other in columns if near and other.lower() == near[0]), None)
    there = f"the columns are {listed(columns)} (the first row must name them)"
    return there if meant is None else f"did you mean {meant!r}? {there}"


def _example(row: _Row, name: str, text_column: str, label_column: str | None, labelled: bool) -> Example:
    where = f"{name}, {row.place}"
    text = _text(row.fields, text_column, f"{where}, column {text_column!r}")
    label = None
    if label_column is not None:
        label, found = _label(row.fields.get(label_column))
        if found and labelled:
            raise InputError(
                f"{where}, column {label_column!r}: {found}; a string or a finite number is accepted as a label"
            )
    return Example(text, label, row.number, _evidence(row.fields.get("evidence"), len(text)))


def _text(fields: Mapping[str, Any], column: str, where: str) -> str:
    if column not in fields:
        raise InputError(f"{where}: the row has no such field; its fields are {listed(list(fields))}")
    value = fields[column]
    text = _joined(value) if isinstance(value, list) and all(isinstance(part, str) for part in value) else value
    if not isinstance(text, str):
        raise InputError(f"{where}: {_shown(value)} is found; a text or a list of texts is accepted")
    if "\0" in text:
        raise InputError(f"{where}: a NUL byte is found at character {text.index(chr(0))}; only text is accepted")
    if _SURROGATE.search(text):
        raise InputError(
            f"{where}: bytes that are not UTF-8, or half a surrogate pair, are found; whole characters are accepted"
        )
    if not words.has_words(text):
        raise InputError(f"{where}: the text {text[:20]!r} has no word in it; at least one is expected")
    _refuse_long_words(text, where)
    return text


def _refuse_long_words(text: str, where: str) -> None:
    # Words hold no white space, so that nearly all texts pass the first, cheap question.
    if len(text) <= LONGEST_WORD or max(map(len, text.split())) <= LONGEST_WORD:
        return
    longest = max(end - start for start, end in words.spans(text))
    if longest > LONGEST_WORD:
        raise InputError(
            f"{where}: a word of {longest} characters is found (pasted binary data?); up to {LONGEST_WORD} are accepted"
        )


def _joined(parts: Iterable[str]) -> str:
    """Parts with a blank line between them, and none inside, so that `sentences.parts` finds them again."""
    stripped = (_BLANK_LINES.sub("\n", part.strip()) for part in parts)
    return "\n\n".join(part for part in stripped if part)


def _label(value: object) -> tuple[str | None, str | None]:
    """(label, None), or (None, what is wrong with it). The number 1, 1.0 and the string "1" give the same label."""
    if isinstance(value, bool):
        return str(value).lower(), None
    if isinstance(value, int):
        return str(value), None
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value), None
    if isinstance(value, str) and value.strip().lower() not in ("", "nan") and not _SURROGATE.search(value):
        return value, None
    missing = value is None or isinstance(value, str | float)
    return None, f"the label is {'missing or not usable' if missing else 'of another kind'} ({_shown(value)})"


def _evidence(value: object, length: int) -> tuple[Span, ...]:
    """Spans of the text, if that is what the field holds; anything else is somebody's field of that name."""
    if not isinstance(value, list):
        return ()
    for span in value:
        if not (isinstance(span, list) and len(span) == 2 and all(type(edge) is int for edge in span)):
            return ()
        if not 0 <= span[0] < span[1] <= length:
            return ()
    return tuple((start, end) for start, end in value)


def _shown(value: object) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    if value is None:
        return "null"
    kind = kinds.get(type(value), f"a {type(value).__name__}")
    return f"{kind} ({json.dumps(value, default=str)[:40]})"
