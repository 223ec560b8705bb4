"""Figures and tables as files: each figure as SVG, CSV and (with the extra `pdf`) PDF, each table as LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.extras import install_command, is_installed
from regard.files import check_writable, write_all
from regard.report.latex_text import SPECIAL
from regard.report.text.characters import one_line
from regard.report.text.formulas import Formulas
from regard.report.typesetting import boxed_letter, pdf


class Figure(NamedTuple):
    svg: str
    head: tuple[str, ...]  # of the table of its numbers
    rows: Sequence[Sequence[object]]


class Table(NamedTuple):
    caption: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


NUMBERS = re.compile(r"[-+\d\s.,%()\[\]±–to]+")  # such as "-0.1 to 0.2", which no spreadsheet runs


def write_exported(
    figures: Mapping[str, Figure], tables: Mapping[str, Table], folder: Path, escape: bool = False
) -> str:
    """Write all files or none; returns a caution about PDFs and formulas, or "". `escape`: formulas in CSV."""
    check_writable(folder)
    formulas = Formulas(escape)
    write_all(folder, exported(figures, tables, formulas))
    return "\n".join(filter(None, (caution(figures), formulas.sentence())))


def exported(
    figures: Mapping[str, Figure], tables: Mapping[str, Table], formulas: Formulas | None = None
) -> dict[str, bytes]:
    """Contents by file name; cells like formulas are counted."""
    formulas = formulas or Formulas()
    files: dict[str, bytes] = {}
    for name, figure in figures.items():
        files[f"{name}.svg"] = encoded(figure.svg)
        if is_installed("typst"):
            files[f"{name}.pdf"] = pdf(figure.svg)
        files[f"{name}.csv"] = encoded(as_csv(figure.head, figure.rows, formulas))
    for name, table in tables.items():
        files |= {
            f"table_{name}.tex": encoded(latex(table)),
            f"table_{name}.csv": encoded(
                as_csv(table.head, [[*map(for_machines, row)] for row in table.rows], formulas)
            ),
        }
    return files


def caution(figures: Mapping[str, Figure]) -> str:
    """A sentence about PDFs that are missing or lack letters, or ""."""
    if not figures:
        return ""
    if not is_installed("typst"):
        return f"no PDFs were written, because they need typst: {install_command('typst')}"
    boxed = {f"{name}.pdf": letter for name, figure in figures.items() if (letter := boxed_letter(figure.svg))}
    if not boxed:
        return ""
    letters = " ".join(dict.fromkeys(boxed.values()))
    return (
        f"{', '.join(boxed)}: no installed font contains {letters}, so boxes are drawn; install a font for the script"
    )


def as_csv(head: Sequence[str], rows: Sequence[Sequence[object]], formulas: Formulas) -> str:
    sheet = io.StringIO()
    for row in (head, *rows):
        cells = (
            value if isinstance(value, str) and NUMBERS.fullmatch(value) else formulas.cell(value) for value in row
        )
        csv.writer(sheet).writerow([*cells])
    return sheet.getvalue()


def for_machines(cell: str) -> str:
    """With an ASCII minus, which spreadsheets understand."""
    return re.sub(r"−(?=\d)", "-", cell)


def latex(table: Table) -> str:
    """A LaTeX table with booktabs rules."""
    body = [" & ".join(map(escaped, row)) + r" \\" for row in table.rows]
    alignment = "l" + "r" * (len(table.head) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(map(escaped, table.head)) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """As LaTeX, on one line."""
    return "".join(SPECIAL.get(character, character) for character in one_line(text))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
