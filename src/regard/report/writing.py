"""Predictions and explanations as JSONL, CSV, a table in the terminal, a page or a picture; to a file or to the screen."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.errors import InputError
from regard.files import write
from regard.records import Example, Explanation, Prediction, to_jsonl
from regard.report.characters import one_line
from regard.report.figure import svg
from regard.report.page import page
from regard.report.terminal import show

SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".html": "html", ".htm": "html", ".svg": "svg", ".txt": "terminal"}


def choose_format(given: str | None, out: Path | None, accepted: Sequence[str], default: str) -> str:
    """The format asked for, or as the file's name ends, or the default."""
    if given is not None or out is None:
        return given or default
    found = SUFFIXES.get(out.suffix.lower(), default)
    if found not in accepted:
        raise InputError(f"--out {out}: {found} is not written here; accepted are {', '.join(accepted)}")
    return found


def write_predictions(
    examples: Sequence[Example], predictions: Sequence[Prediction], given: str | None, out: Path | None
) -> None:
    default = "terminal" if out is None and sys.stdout.isatty() else "jsonl"
    kind = choose_format(given, out, ("terminal", "jsonl", "csv"), default)
    if kind == "terminal":
        to_console(out, [prediction_table(examples, predictions)])
    elif kind == "csv":
        emit(out, prediction_csv(examples, predictions))
    else:
        pairs = zip(examples, predictions, strict=True)
        rows = ({"row": example.row, "text": example.text, **said.as_dict()} for example, said in pairs)
        emit(out, lines(rows))


def prediction_table(examples: Sequence[Example], predictions: Sequence[Prediction]) -> Table:
    table = Table(box=None, pad_edge=False, expand=True)  # without `expand` a long text would push all others out
    for heading in ("row", "prediction", "probability"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    for example, said in zip(examples, predictions, strict=True):
        chance = f"{said.probabilities[str(said.value)]:.3f}" if said.probabilities else ""
        value = said.value if isinstance(said.value, str) else f"{said.value:.3f}"
        table.add_row(str(example.row), Text(one_line(value)), chance, Text(one_line(example.text[:300])))
    return table


def prediction_csv(examples: Sequence[Example], predictions: Sequence[Prediction]) -> str:
    classes = list(predictions[0].probabilities) if predictions else []
    rows = [["row", "text", "prediction", *(f"p({name})" for name in classes)]]
    for example, said in zip(examples, predictions, strict=True):
        rows.append(
            [str(example.row), example.text, str(said.value), *(repr(said.probabilities[name]) for name in classes)]
        )
    return as_csv(rows)


def write_explanations(explanations: Iterable[Explanation], given: str | None, out: Path | None, title: str) -> None:
    kind = choose_format(given, out, ("terminal", "jsonl", "csv", "html", "svg"), "terminal")
    if kind == "jsonl":
        emit(out, lines(item.as_dict() for item in explanations))
    elif kind == "csv":
        emit(out, explanation_csv(explanations))
    elif kind == "html":
        emit(out, page(list(explanations), title))
    elif kind == "svg":
        found = list(explanations)
        if len(found) != 1:
            raise InputError(f"svg draws one text, and {len(found)} were given; --limit 1 takes the first")
        emit(out, svg(found[0]))
    else:
        to_console(out, explanations)


def explanation_csv(explanations: Iterable[Explanation]) -> str:
    """One row a word, for a spreadsheet."""
    rows = [["text", "prediction", "word", "start", "end", "weight", "known"]]
    for number, item in enumerate(explanations, 1):
        for token in item.tokens:
            place = [str(token.start), str(token.end), repr(token.weight), str(token.known)]
            rows.append([str(number), str(item.prediction.value), token.text, *place])
    return as_csv(rows)


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    sheet = io.StringIO()
    csv.writer(sheet).writerows(rows)
    return sheet.getvalue()


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(f"{line}\n" for line in to_jsonl(iter(rows)))


def emit(out: Path | None, content: str) -> None:
    if out is None:
        sys.stdout.write(content if content.endswith("\n") else content + "\n")
    else:
        write(out, content)


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
