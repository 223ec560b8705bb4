"""Predictions and explanations in every format; to a file or to standard output."""

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
from regard.extras import require
from regard.files import write
from regard.records import Example, Explanation, Prediction, to_jsonl
from regard.report.heatmap_pdf import heatmap_caution, heatmap_pdf, heatmap_png
from regard.report.heatmap_tex import heatmap_tex, tex_caution
from regard.report.pages.explanations import page_of_models
from regard.report.paper import paper
from regard.report.text.characters import one_line
from regard.report.text.terminal import show, show_beside, show_legend
from regard.report.word_heatmap import svg

Predicted = tuple[Example, Prediction | None]  # None: the example has an error instead
Explained = Iterable[tuple[Example, Sequence[Explanation]]]  # one explanation per model
TEXTUAL = {".jsonl": "jsonl", ".csv": "csv", ".html": "html", ".htm": "html", ".svg": "svg", ".txt": "terminal"}
SUFFIXES = {**TEXTUAL, ".tex": "tex", ".pdf": "pdf", ".png": "png"}
EXPLAINED = ("terminal", "jsonl", "csv", "html", "svg", "tex", "pdf", "png")  # formats of explanations
TYPESET = ("pdf", "png")  # binary, and made by typst


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
    predictions: Iterable[Predicted], requested: str | None, out: Path | None, classes: Sequence[str] | None = None
) -> None:
    """One line per text, written as they arrive; only the table waits for all. `classes`: see `prediction_rows`."""
    default = "terminal" if out is None and sys.stdout.isatty() else "jsonl"
    kind = choose_format(requested, out, ("terminal", "jsonl", "csv"), default)
    if kind == "terminal":
        to_console(out, prediction_table(predictions))
    elif kind == "csv":
        emit(out, as_csv(prediction_rows(predictions, classes)))
    else:
        emit(out, lines(prediction_json(example, prediction) for example, prediction in predictions))


def prediction_json(example: Example, prediction: Prediction | None) -> dict[str, object]:
    row = {"row": example.row, **(example.kept or {}), "text": example.text}
    return row | ({"prediction": None, "error": example.error} if prediction is None else prediction.as_dict())


def prediction_table(pairs: Iterable[Predicted]) -> Table:
    table = Table(
        box=None, pad_edge=False, expand=True
    )  # without `expand` a long text would push out the other columns
    for heading in ("row", "prediction", "probability"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    for example, prediction in pairs:
        if prediction is None:
            table.add_row(str(example.row), "–", "–", Text(one_line(f"error: {example.error}"), style="red"))
            continue
        value, probabilities = prediction.value, prediction.probabilities
        probability = f"{probabilities[str(value)]:.3f}" if probabilities else ""
        shown = value if isinstance(value, str) else f"{value:z.3f}".replace("-", "−")
        table.add_row(str(example.row), Text(one_line(shown)), probability, Text(one_line(example.text[:300])))
    return table


def prediction_rows(pairs: Iterable[Predicted], classes: Sequence[str] | None) -> Iterator[list[str]]:
    """With a column for errors, which needs to know the classes beforehand, unless they are None."""
    errors = [] if classes is None else ["error"]
    for number, (example, prediction) in enumerate(pairs):
        names = classes if classes is not None else list(prediction.probabilities) if prediction else []
        others = example.kept or {}
        if number == 0:
            yield ["row", *others, "text", "prediction", *(f"p({name})" for name in names), *errors]
        kept = ["" if value is None else str(value) for value in others.values()]
        answer = [""] * (1 + len(names))
        if prediction is not None:
            answer = [str(prediction.value), *(repr(prediction.probabilities[name]) for name in names)]
        yield [str(example.row), *kept, example.text, *answer, *([example.error or ""] if errors else [])]


def explanation_format(requested: str | None, out: Path | None) -> str:
    """The format, which is refused now if it could not be written later."""
    kind = choose_format(requested, out, EXPLAINED, "terminal")
    if kind in TYPESET:
        require("typst", f"the format {kind}")
        if out is None and sys.stdout.isatty():
            raise InputError(f"--format {kind}: expected --out FILE or a pipe, got a terminal")
    return kind


def write_explanations(
    explained: Explained, requested: str | None, out: Path | None, title: str, runs: Sequence[str] = ("",)
) -> str:
    """`runs`: the names of the models, in the order of each text's explanations. Returns a caution about the file, or ""."""
    kind = explanation_format(requested, out)
    if kind == "jsonl":
        emit(out, lines(explanation_json(explained, runs)))
    elif kind == "csv":
        emit(out, as_csv(explanation_rows(explained, runs)))
    elif kind == "html":
        emit(out, [page_of_models([items for _, items in explained], title, runs)])
    elif kind == "svg":
        if len(runs) > 1:
            raise InputError(f"svg: expected one model, got {len(runs)}; html, pdf and png draw two side by side")
        texts = [items for _, items in explained]
        if len(texts) != 1:
            raise InputError(f"svg: expected one text, got {len(texts)}; --limit 1 takes the first, and pdf has pages")
        emit(out, [svg(texts[0][0])])
    elif kind in ("tex", *TYPESET):
        return write_paper([items for _, items in explained], kind, out, title, runs)
    else:
        explanations_to_console(out, explained, runs)
    return ""


def write_paper(
    explanations: Sequence[Sequence[Explanation]], kind: str, out: Path | None, title: str, runs: Sequence[str]
) -> str:
    """Heat maps for papers; returns a caution about letters, or ""."""
    shown = paper(explanations, title, runs)
    if kind == "tex":
        emit(out, [heatmap_tex(shown, out)])
        return tex_caution(shown)
    drawn = heatmap_pdf(shown) if kind == "pdf" else heatmap_png(shown)
    if out is None:
        sys.stdout.buffer.write(drawn)
    else:
        write(out, drawn)
    return heatmap_caution(shown)


def explanation_json(explained: Explained, runs: Sequence[str]) -> Iterator[dict[str, object]]:
    """One row per text and model."""
    for example, items in explained:
        for run, item in zip(runs, items, strict=True):
            yield {"row": example.row, **({"run": run} if len(runs) > 1 else {}), **item.as_dict()}


def explanation_rows(explained: Explained, runs: Sequence[str]) -> Iterator[list[str]]:
    """One row per word, for a spreadsheet; `row` is that of the text in its file."""
    several = len(runs) > 1
    signed = ["contribution", "target", "read_as"]
    yield ["row", "prediction", "word", "start", "end", "weight", "known", *signed, *["run"] * several]
    for example, items in explained:
        for run, item in zip(runs, items, strict=True):
            for token in item.tokens:
                fields = [str(token.start), str(token.end), repr(token.weight), str(token.known)]
                signed = [
                    "" if token.contribution is None else repr(token.contribution),
                    item.target or "",
                    token.read_as,
                ]
                row = [str(example.row), str(item.prediction.value), token.text, *fields, *signed]
                yield [*row, *[run] * several]


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


def explanations_to_console(out: Path | None, explained: Explained, runs: Sequence[str]) -> None:
    sheet = None if out is None else io.StringIO()
    console = Console(file=sheet, highlight=False)
    for number, (_, items) in enumerate(explained):
        if number == 0:
            show_legend(items[0], console)
        if len(runs) > 1:
            show_beside([*zip(runs, items, strict=True)], console)
        else:
            show(items[0], console)
    if out is not None and sheet is not None:
        write(out, sheet.getvalue())


def to_console(out: Path | None, table: Table) -> None:
    sheet = None if out is None else io.StringIO()
    Console(file=sheet, highlight=False).print(table)
    if out is not None and sheet is not None:
        write(out, sheet.getvalue())
