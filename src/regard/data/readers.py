"""Files to examples: CSV, TSV, JSON lines, JSON, Parquet, lines of text (each also as .gz), or a folder for each class.

Every format gives rows (`tables`, `objects`, `texts`), and `examples` makes a row an `Example` or refuses it. Nothing
here decides the task: labels stay as they are written, but for blanks around them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from regard.data.columns import Columns, Known
from regard.data.contents import Text, decoded, is_blank, unpacked
from regard.data.objects import json_rows, jsonl_rows, parquet_rows, starts_with_object
from regard.data.rationales import Rationales
from regard.data.rows import Rows
from regard.data.streams import Stream, Wish, make_stream, row_count
from regard.data.tables import csv_rows, tsv_rows
from regard.data.texts import folder_rows, line_rows
from regard.errors import InputError
from regard.records import Example

FORMS: dict[str, Callable[[Text, str], Rows]] = {
    "csv": csv_rows,
    "tsv": tsv_rows,
    "jsonl": jsonl_rows,
    "ndjson": jsonl_rows,
    "json": json_rows,
    "txt": line_rows,
}
UNALIKE = ("jsonl", "ndjson", "json")  # one row may have other columns than the next


@dataclass(frozen=True)
class Corpus:
    """The examples of a file and how they were found."""

    path: str
    examples: list[Example]
    text_column: str
    label_column: str | None  # None where no example has a label
    guessed: list[str]  # sentences for the user
    skipped: int  # rows that were left out
    first_skipped: str = ""  # why the first of them was

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)


def read(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    labelled: bool = True,
    skip_bad_rows: bool = False,
    at_least: int | None = None,
    rationales: Rationales | None = None,
    known: Known = (None, None),
    keep: Sequence[str] = (),
) -> Corpus:
    """Every example of a file or of a folder of classes.

    Without `labelled` a label is read where there is one but not asked for. `at_least` is two with labels, else one.
    `rationales` says where evidence is; without, a field `evidence` is it where it holds spans. `known` are columns that go
    before guesses where the file has them, `keep` other ones that go along with each example.
    """
    return _corpus(
        stream(
            path,
            text=text,
            label=label,
            labelled=labelled,
            skip_bad_rows=skip_bad_rows,
            at_least=at_least,
            rationales=rationales,
            known=known,
            keep=keep,
        )
    )


def stream(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    labelled: bool = True,
    skip_bad_rows: bool = False,
    at_least: int | None = None,
    rationales: Rationales | None = None,
    known: Known = (None, None),
    keep: Sequence[str] = (),
) -> Stream:
    """The same, an example at a time, for files larger than memory.

    Held as a whole are only a JSON list, a Parquet file that is packed, and what comes through a pipe.
    """
    path = Path(path)
    name = str(path)
    wish = Wish(text, label, labelled, skip_bad_rows, _limit(at_least, labelled), rationales, known, tuple(keep))
    if path.is_dir():
        return make_stream(name, folder_rows(path, skip_bad_rows), wish, Columns("text", "folder", []))
    form = _form(path)
    source = path if path.is_file() else b"".join(unpacked(path))  # a pipe can be read only once
    if form == "parquet":
        return make_stream(name, parquet_rows(source, name), wish)
    return _from_text(partial(decoded, source, name, skip_bad_rows), name, form, wish)


def read_lines(
    stream: IO[bytes],
    name: str = "standard input",
    *,
    text: str | None = None,
    label: str | None = None,
    labelled: bool = False,
    skip_bad_rows: bool = False,
    at_least: int | None = None,
    rationales: Rationales | None = None,
    known: Known = (None, None),
    keep: Sequence[str] = (),
) -> Corpus:
    """Every example of a stream: JSON lines where the first is an object, and anything else as a text a line."""
    content = partial(decoded, stream.read(), name, skip_bad_rows)
    form = "jsonl" if starts_with_object(content) else "txt"
    wish = Wish(text, label, labelled, skip_bad_rows, _limit(at_least, labelled), rationales, known, tuple(keep))
    return _corpus(_from_text(content, name, form, wish))


def _limit(at_least: int | None, labelled: bool) -> int:
    return at_least if at_least is not None else 2 if labelled else 1


def _form(path: Path) -> str:
    accepted = ", ".join([".parquet", *(f".{form}" for form in FORMS)])
    if not path.exists():
        raise InputError(f"{path}: no such file; a file ({accepted}, each also .gz) or a folder of classes is accepted")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]
    if suffix != ".parquet" and suffix[1:] not in FORMS:
        raise InputError(
            f"{path}: {suffix or 'no suffix'} is found; {accepted} (each also .gz) or a folder of classes is accepted"
        )
    return suffix[1:]


def _from_text(content: Text, name: str, form: str, wish: Wish) -> Stream:
    if is_blank(content):
        raise InputError(f"{name}: the file is empty; at least {row_count(wish.at_least)} expected")
    if form != "txt":
        return make_stream(name, FORMS[form](content, name), wish, alike=form not in UNALIKE)
    if wish.labelled or wish.label is not None:
        raise InputError(
            f"{name}: lines of text have no labels; a .csv, .tsv or .jsonl file with a label column is needed"
        )
    return make_stream(name, line_rows(content, name), wish, Columns("text", None, []))


def _corpus(found: Stream) -> Corpus:
    examples = list(found)
    columns = (found.text_column, found.label_column)
    return Corpus(found.path, examples, *columns, found.guessed, found.skipped, found.first_skipped)
