"""Explanations in every format, and what writes any of them to a file or to standard output."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from regard.errors import InputError
from regard.extras import require
from regard.files import write
from regard.records import Example, Explanation, Prediction, to_jsonl
from regard.report.heatmap_pdf import heatmap_caution, heatmap_pdf, heatmap_png
from regard.report.heatmap_tex import heatmap_tex, tex_caution
from regard.report.pages.explanations import page_of_models
from regard.report.paper import paper
from regard.report.text.explanation_lines import explanation_lines
from regard.report.text.formulas import OPTION, Formulas
from regard.report.text.terminal import show, show_beside, show_legend
from regard.report.word_heatmap import svg

Explained = Iterable[tuple[Example, Sequence[Explanation]]]  # one explanation per model
TEXTUAL = {".jsonl": "jsonl", ".csv": "csv", ".html": "html", ".htm": "html", ".svg": "svg", ".txt": "terminal"}
SUFFIXES = {**TEXTUAL, ".tex": "tex", ".pdf": "pdf", ".png": "png", ".parquet": "parquet", ".xlsx": "xlsx"}
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


def check_escaping(escape: bool, kind: str) -> None:
    if escape and kind != "csv":
        raise InputError(f"{OPTION}: expected --format csv or --out FILE.csv, got the format {kind}")


def explanation_format(requested: str | None, out: Path | None, escape: bool = False) -> str:
    """The format, which is refused now if it could not be written later; `escape`: formulas in CSV."""
    kind = choose_format(requested, out, EXPLAINED, "terminal")
    check_escaping(escape, kind)
    if kind in TYPESET:
        require("typst", f"the format {kind}")
        if out is None and sys.stdout.isatty():
            raise InputError(f"--format {kind}: expected --out FILE or a pipe, got a terminal")
    return kind


def write_explanations(
    explained: Explained,
    requested: str | None,
    out: Path | None,
    title: str,
    runs: Sequence[str] = ("",),
    formulas: Formulas | None = None,
) -> str:
    """`runs`: the names of the models, in the order of each text's explanations. Returns a caution about the file, or ""."""
    kind = explanation_format(requested, out)
    if kind == "jsonl":
        emit(out, explanation_lines(explanation_heads(explained, runs)))
    elif kind == "csv":
        emit(out, as_csv(explanation_rows(explained, runs), formulas or Formulas()))
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


def explanation_heads(explained: Explained, runs: Sequence[str]) -> Iterator[tuple[dict[str, object], Explanation]]:
    """Every text and model: what a line of JSON begins with, and what it is about."""
    for example, items in explained:
        for run, item in zip(runs, items, strict=True):
            yield {"row": example.row, **({"run": run} if len(runs) > 1 else {})}, item


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
                row = [str(example.row), joined_label(item.prediction), token.text, *fields, *signed]
                yield [*row, *[run] * several]


def joined_label(prediction: Prediction) -> str:
    """The prediction in one cell; several labels are joined."""
    named = prediction.named
    return named if isinstance(named, str) else ";".join(named)


def as_csv(rows: Iterable[Sequence[str]], formulas: Formulas) -> Iterator[str]:
    sheet = io.StringIO()
    writer = csv.writer(sheet)
    for row in rows:
        writer.writerow(formulas.checked(row))
        yield sheet.getvalue()
        sheet.seek(0)
        sheet.truncate()


def lines(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    return (f"{line}\n" for line in to_jsonl(iter(rows)))


CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\r\n"}


def emit(out: Path | None, pieces: Iterable[str] | Iterable[bytes]) -> None:
    """Into a file, or to standard output. Bytes are UTF-8."""
    if out is not None:
        write(out, pieces)
        return
    is_terminal = sys.stdout.isatty()  # a pipe and a file get what the texts have
    last = "\n"
    for piece in pieces:
        text = piece.decode() if isinstance(piece, bytes) else piece
        sys.stdout.write(text.translate(CONTROLS) if is_terminal else text)
        last = text[-1:] or last
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
