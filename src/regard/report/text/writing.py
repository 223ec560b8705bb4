"""Predictions and explanations as JSONL, CSV, a table in the terminal, a page or a picture; to a file or to the screen."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.errors import InputError
from regard.files import write
from regard.records import Example, Explanation, Prediction, to_jsonl
from regard.report.pages.explanations import page
from regard.report.plots.word_heatmap import svg
from regard.report.text.characters import one_line
from regard.report.text.terminal import show

SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".html": "html", ".htm": "html", ".svg": "svg", ".txt": "terminal"}


def choose_format(given: str | None, out: Path | None, accepted: Sequence[str], default: str) -> str:
    """The format asked for, or as the file's name ends, or the default where it has no ending."""
    if given is not None or out is None or not out.suffix:
        return given or default
    if out.suffix.lower() not in SUFFIXES:
        known = ", ".join(suffix for suffix, kind in SUFFIXES.items() if kind in accepted)
        raise InputError(
            f"--out {out}: {out.suffix} is no ending that is known here; accepted are {known}, or any with --format"
        )
    found = SUFFIXES[out.suffix.lower()]
    if found not in accepted:
        raise InputError(f"--out {out}: {found} is not written here; accepted are {', '.join(accepted)}")
    return found


def write_predictions(said: Iterable[tuple[Example, Prediction]], given: str | None, out: Path | None) -> None:
    """A line a text, written as they come; the table alone waits for all."""
    default = "terminal" if out is None and sys.stdout.isatty() else "jsonl"
    kind = choose_format(given, out, ("terminal", "jsonl", "csv"), default)
    if kind == "terminal":
        to_console(out, [prediction_table(said)])
    elif kind == "csv":
        emit(out, as_csv(prediction_rows(said)))
    else:
        told = ({"row": one.row, **(one.kept or {}), "text": one.text, **found.as_dict()} for one, found in said)
        emit(out, lines(told))


def prediction_table(pairs: Iterable[tuple[Example, Prediction]]) -> Table:
    table = Table(box=None, pad_edge=False, expand=True)  # without `expand` a long text would push all others out
    for heading in ("row", "prediction", "probability"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    for example, said in pairs:
        chance = f"{said.probabilities[str(said.value)]:.3f}" if said.probabilities else ""
        value = said.value if isinstance(said.value, str) else f"{said.value:z.3f}".replace("-", "−")
        table.add_row(str(example.row), Text(one_line(value)), chance, Text(one_line(example.text[:300])))
    return table


def prediction_rows(pairs: Iterable[tuple[Example, Prediction]]) -> Iterator[list[str]]:
    for number, (example, said) in enumerate(pairs):
        classes, others = list(said.probabilities), example.kept or {}
        if number == 0:
            yield ["row", *others, "text", "prediction", *(f"p({name})" for name in classes)]
        kept = ["" if value is None else str(value) for value in others.values()]
        chances = [repr(said.probabilities[name]) for name in classes]
        yield [str(example.row), *kept, example.text, str(said.value), *chances]


def write_explanations(
    explained: Iterable[tuple[Example, Explanation]], given: str | None, out: Path | None, title: str
) -> None:
    kind = choose_format(given, out, ("terminal", "jsonl", "csv", "html", "svg"), "terminal")
    if kind == "jsonl":
        emit(out, lines({"row": example.row, **item.as_dict()} for example, item in explained))
    elif kind == "csv":
        emit(out, as_csv(explanation_rows(explained)))
    elif kind == "html":
        emit(out, [page([item for _, item in explained], title)])
    elif kind == "svg":
        found = [item for _, item in explained]
        if len(found) != 1:
            raise InputError(f"svg draws one text, and {len(found)} were given; --limit 1 takes the first")
        emit(out, [svg(found[0])])
    else:
        to_console(out, (item for _, item in explained))


def explanation_rows(explained: Iterable[tuple[Example, Explanation]]) -> Iterator[list[str]]:
    """One row a word, for a spreadsheet; `row` is that of the text in its file."""
    yield ["row", "prediction", "word", "start", "end", "weight", "known"]
    for example, item in explained:
        for token in item.tokens:
            place = [str(token.start), str(token.end), repr(token.weight), str(token.known)]
            yield [str(example.row), str(item.prediction.value), token.text, *place]


def as_csv(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        sheet = io.StringIO()
        csv.writer(sheet).writerow(row)
        yield sheet.getvalue()


def lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    return (f"{line}\n" for line in to_jsonl(iter(rows)))


def emit(out: Path | None, pieces: Iterable[str]) -> None:
    if out is not None:
        write(out, pieces)
        return
    last = "\n"
    for piece in pieces:
        sys.stdout.write(piece)
        last = piece[-1:] or last
    if last != "\n":
        sys.stdout.write("\n")


def to_console(out: Path | None, items: Iterable[Table | Explanation]) -> None:
    sheet = None if out is None else io.StringIO()
    console = Console(file=sheet, highlight=False)
    for item in items:
        if isinstance(item, Explanation):
            show(item, console)
        else:
            console.print(item)
    if out is not None and sheet is not None:
        write(out, sheet.getvalue())
