"""Figures and tables as they leave a page: each figure as SVG, PDF and CSV, each table as LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.files import check_writable, write_all
from regard.report.plots.pdf import boxed, pdf
from regard.report.text.characters import one_line

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # bare, at the beginning of a row, they would be arguments of the \\ before it
    **{character: f"{{{character}}}" for character in "[]*"},
    **{character: f"${character}$" for character in "<>"},
    "–": "--",
    "…": r"\dots{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "²": "$^2$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "τ": r"$\tau$",
}


class Figure(NamedTuple):
    svg: str
    head: tuple[str, ...]  # of the table of its numbers
    rows: Sequence[Sequence[object]]


class Table(NamedTuple):
    caption: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def write_exported(figures: Mapping[str, Figure], tables: Mapping[str, Table], folder: Path) -> str:
    """All files or none; "" or what to know of the PDFs."""
    check_writable(folder)
    write_all(folder, exported(figures, tables))
    return caution(figures)


def exported(figures: Mapping[str, Figure], tables: Mapping[str, Table]) -> dict[str, bytes]:
    """By the names of their files."""
    files: dict[str, bytes] = {}
    for name, figure in figures.items():
        files |= {f"{name}.svg": encoded(figure.svg), f"{name}.pdf": pdf(figure.svg)}
        files[f"{name}.csv"] = encoded(as_csv(figure.head, figure.rows))
    for name, table in tables.items():
        files |= {
            f"table_{name}.tex": encoded(latex(table)),
            f"table_{name}.csv": encoded(as_csv(table.head, [[*map(for_machines, row)] for row in table.rows])),
        }
    return files


def caution(figures: Mapping[str, Figure]) -> str:
    """What to know of the PDFs: "" or a sentence."""
    lacking = {name: found for name, figure in figures.items() if (found := boxed(figure.svg))}
    if not lacking:
        return ""
    letters = sorted(set("".join(lacking.values())))
    some = "".join(letters[:12]) + "…" * (len(letters) > 12)
    names = ", ".join(f"{name}.pdf" for name in lacking)
    return f"{names}: a PDF's own fonts have no {some}, which are boxes there; the SVG has them"


def as_csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    sheet = io.StringIO()
    csv.writer(sheet).writerows([head, *rows])
    return sheet.getvalue()


def for_machines(cell: str) -> str:
    """With a minus that a spreadsheet takes for one."""
    return re.sub(r"−(?=\d)", "-", cell)


def latex(table: Table) -> str:
    """With the rules of booktabs."""
    body = [" & ".join(map(escaped, row)) + r" \\" for row in table.rows]
    ways = "l" + "r" * (len(table.head) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\begin{{tabular}}{{{ways}}}",
        r"\toprule",
        " & ".join(map(escaped, table.head)) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(words: str) -> str:
    """As LaTeX, on one line."""
    return "".join(SPECIAL.get(character, character) for character in one_line(words))


def encoded(told: str) -> bytes:
    return told.encode("utf-8", "replace")
