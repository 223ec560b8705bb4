"""Files to examples: CSV, TSV, JSON lines, JSON, Parquet, lines of text (each also as .gz), or a folder for each class.

Every format gives rows (`tables`, `objects`, `texts`), and `examples` makes a row an `Example` or refuses it. Nothing
here decides the task: labels stay as they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from regard.data.columns import Columns, find_columns
from regard.data.contents import decoded, unpacked
from regard.data.examples import make_examples
from regard.data.objects import json_rows, jsonl_rows, parquet_rows, starts_with_object
from regard.data.rows import Row, usable_rows
from regard.data.tables import csv_rows, tsv_rows
from regard.data.texts import folder_rows, line_rows
from regard.errors import InputError
from regard.records import Example

InputFormat = Literal["auto", "lines", "csv", "tsv", "jsonl"]

FORMS: dict[str, Callable[[str, str], list[Row]]] = {
    "csv": csv_rows,
    "tsv": tsv_rows,
    "jsonl": jsonl_rows,
    "ndjson": jsonl_rows,
    "json": json_rows,
    "txt": line_rows,
}


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
        return _corpus(str(path), list(folder_rows(path, skip_bad_rows)), wish, Columns("text", "folder", []))
    suffix = _suffix(path)
    name = str(path)
    data = unpacked(path)
    if suffix == ".parquet":
        return _corpus(name, parquet_rows(data, name), wish)
    return _from_text(decoded(data, name, skip_bad_rows), name, suffix[1:], wish)


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
    content = decoded(data, name, skip_bad_rows) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if input_format == "auto":
        form = "jsonl" if starts_with_object(content) else "txt"
    elif input_format in ("lines", "csv", "tsv", "jsonl"):
        form = "txt" if input_format == "lines" else input_format
    else:
        raise InputError(f"input_format: {input_format!r} is given; auto, lines, csv, tsv or jsonl is accepted")
    return _from_text(content, name, form, _Wish(text, label, labelled, skip_bad_rows, _limit(at_least, labelled)))


def _limit(at_least: int | None, labelled: bool) -> int:
    return at_least if at_least is not None else 2 if labelled else 1


def _suffix(path: Path) -> str:
    accepted = ", ".join([".parquet", *(f".{form}" for form in FORMS)])
    if not path.exists():
        raise InputError(f"{path}: no such file; a file ({accepted}, each also .gz) or a folder of classes is accepted")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]
    if suffix != ".parquet" and suffix[1:] not in FORMS:
        raise InputError(
            f"{path}: {suffix or 'no suffix'} is found; {accepted} (each also .gz) or a folder of classes is accepted"
        )
    return suffix


def _from_text(content: str, name: str, form: str, wish: _Wish) -> Corpus:
    if not content.strip("\ufeff \t\r\n"):
        raise InputError(f"{name}: the file is empty; at least {_rows(wish.at_least)} expected")
    rows = FORMS[form](content, name)
    if form != "txt":
        return _corpus(name, rows, wish)
    if wish.labelled or wish.label is not None:
        raise InputError(
            f"{name}: lines of text have no labels; a .csv, .tsv or .jsonl file with a label column is needed"
        )
    return _corpus(name, rows, wish, Columns("text", None, []))


def _corpus(name: str, rows: list[Row], wish: _Wish, columns: Columns | None = None) -> Corpus:
    """`columns` where the format itself sets them."""
    usable = usable_rows(rows, name, wish.skip_bad_rows)
    if columns is None:
        columns = find_columns(name, usable, wish.text, wish.label, wish.labelled)
    examples, problems = make_examples(usable, name, columns.text, columns.label, wish.labelled, wish.skip_bad_rows)
    skipped = len(rows) - len(examples)
    if len(examples) < wish.at_least:
        why = f"; the first of {skipped} bad rows: {problems[0]}" if problems else ""
        raise InputError(f"{name}: {len(examples)} usable rows found; at least {_rows(wish.at_least)} expected{why}")
    return Corpus(name, examples, *columns, skipped)


def _rows(count: int) -> str:
    return f"{count} {'row is' if count == 1 else 'rows are'}"
