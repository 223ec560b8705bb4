"""What `regard report` leaves: the page, and where asked every figure as SVG and CSV and every table as LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.files import check_place, write, write_all
from regard.report.run_figures import run_figures
from regard.report.run_page import run_page
from regard.report.run_tables import as_csv, latex, run_tables


def write_report(found: Mapping[str, Any], out: Path, figures: Path | None = None) -> None:
    check_place(out.parent)
    if figures is not None:
        write_figures(found, figures)
    write(out, run_page(found))


def write_figures(found: Mapping[str, Any], folder: Path) -> None:
    """All files or none."""
    check_place(folder)
    files: dict[str, str] = {}
    for name, figure in run_figures(found).items():
        files |= {f"{name}.svg": figure.svg, f"{name}.csv": as_csv(figure.head, figure.rows)}
    for name, table in run_tables(found).items():
        files |= {f"table_{name}.tex": latex(table), f"table_{name}.csv": as_csv(table.head, table.rows)}
    write_all(folder, {name: told.encode("utf-8", "replace") for name, told in files.items()})
