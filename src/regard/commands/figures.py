"""`--figures DIR`: write the figures and tables of a page as files, too."""

from __future__ import annotations

from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import add_escape_formulas
from regard.report.text.characters import print_line


def add_figures(parser: Parser) -> None:
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="also write every figure as SVG, PDF (with the extra pdf) and CSV, and every table as LaTeX and CSV",
    )
    add_escape_formulas(parser)


def report_figures(folder: Path | None, caution: str) -> None:
    if folder is not None:
        print_line(f"figures and tables are in {folder}")
    for sentence in caution.splitlines():
        print_line(sentence)
