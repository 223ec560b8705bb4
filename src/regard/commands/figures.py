"""`--figures DIR`: what a command draws on its page, as files too."""

from __future__ import annotations

from pathlib import Path

from regard.arguments import Parser


def add_figures(parser: Parser) -> None:
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="every figure as SVG, PDF and CSV, every table as LaTeX and CSV, too",
    )


def told_figures(folder: Path | None, said: str) -> None:
    if folder is not None:
        print(f"figures and tables are in {folder}")
    if said:
        print(said)
