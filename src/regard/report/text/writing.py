"""Predictions and explanations as JSONL, CSV, terminal output, HTML or SVG; to a file or to standard output."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.errors import InputError
from regard.files import write
from regard.records import Example, Explanation, Prediction, to_jsonl
from regard.report.pages.explanations import page
from regard.report.text.characters import one_line
from regard.report.text.terminal import show
from regard.report.word_heatmap import svg

SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".html": "html", ".htm": "html", ".svg": "svg", ".txt": "terminal"}


def choose_format(requested: str | None, out: Path | None, formats: Sequence[str], default: str) -> str:
    """The requested format, or the one of the file's extension, or the default if it has none."""
    if requested is not None or out is None or not out.suffix:
        return requested or default
    if out.suffix.lower() not in SUFFIXES:
        known = ", ".join(suffix for suffix, kind in SUFFIXES.items() if kind in formats)
        raise InputError(f"--out {out}: expected {known}, or any extension with --format, got {out.suffix}")
    kind = SUFFIXES[out.suffix.lower()]
    if kind not in formats:
        raise InputError(f"--out {out}: expected one of the formats {', '.join(formats)}, got {kind}")
    return kind


def write_predictions(
    predictions: Iterable[tuple[Example, Prediction]], requested: str | None, out: Path | None
) -> None:
    """One line per text, written as they arrive; only the table waits for all."""
    default = "terminal" if out is None and sys.stdout.isatty() else "jsonl"
    kind = choose_format(requested, out, ("terminal", "jsonl", "csv"), default)
    if kind == "terminal":
        to_console(out, [prediction_table(predictions)])
    elif kind == "csv":
        emit(out, as_csv(prediction_rows(predictions)))
    else:
        emit(out, lines(prediction_json(example, prediction) for example, prediction in predictions))


def prediction_json(example: Example, prediction: Prediction) -> dict[str, object]:
    return {"row": example.row, **(example.kept or {}), "text": example.text, **prediction.as_dict()}


def prediction_table(pairs: Iterable[tuple[Example, Prediction]]) -> Table:
    table = Table(
        box=None, pad_edge=False, expand=True
    )  # without `expand` a long text would push out the other columns
    for heading in ("row", "prediction", "probability"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    for example, prediction in pairs:
        value, probabilities = prediction.value, prediction.probabilities
        probability = f"{probabilities[str(value)]:.3f}" if probabilities else ""
        shown = value if isinstance(value, str) else f"{value:z.3f}".replace("-", "−")
        table.add_row(str(example.row), Text(one_line(shown)), probability, Text(one_line(example.text[:300])))
    return table


def prediction_rows(pairs: Iterable[tuple[Example, Prediction]]) -> Iterator[list[str]]:
    for number, (example, prediction) in enumerate(pairs):
        classes, others = list(prediction.probabilities), example.kept or {}
        if number == 0:
            yield ["row", *others, "text", "prediction", *(f"p({name})" for name in classes)]
        kept = ["" if value is None else str(value) for value in others.values()]
        probabilities = [repr(prediction.probabilities[name]) for name in classes]
        yield [str(example.row), *kept, example.text, str(prediction.value), *probabilities]


def write_explanations(
    explained: Iterable[tuple[Example, Explanation]], requested: str | None, out: Path | None, title: str
) -> None:
    kind = choose_format(requested, out, ("terminal", "jsonl", "csv", "html", "svg"), "terminal")
    if kind == "jsonl":
        emit(out, lines({"row": example.row, **item.as_dict()} for example, item in explained))
    elif kind == "csv":
        emit(out, as_csv(explanation_rows(explained)))
    elif kind == "html":
        emit(out, [page([item for _, item in explained], title)])
    elif kind == "svg":
        items = [item for _, item in explained]
        if len(items) != 1:
            raise InputError(f"svg: expected one text, got {len(items)}; --limit 1 takes the first")
        emit(out, [svg(items[0])])
    else:
        to_console(out, (item for _, item in explained))


def explanation_rows(explained: Iterable[tuple[Example, Explanation]]) -> Iterator[list[str]]:
    """One row per word, for a spreadsheet; `row` is that of the text in its file."""
    yield ["row", "prediction", "word", "start", "end", "weight", "known"]
    for example, item in explained:
        for token in item.tokens:
            fields = [str(token.start), str(token.end), repr(token.weight), str(token.known)]
            yield [str(example.row), str(item.prediction.value), token.text, *fields]


def as_csv(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        sheet = io.StringIO()
        csv.writer(sheet).writerow(row)
        yield sheet.getvalue()


def lines(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
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
