"""What `regard report` leaves: the page, and where asked every figure as SVG, PDF and CSV and every table as LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.files import check_place, write
from regard.report.pages.run import run_page
from regard.report.pages.run_figures import run_figures
from regard.report.pages.run_tables import run_tables
from regard.report.text.exported import write_exported


def write_report(found: Mapping[str, Any], out: Path, figures: Path | None = None) -> str:
    """ "" or what to know of the figures."""
    check_place(out.parent)
    said = "" if figures is None else write_exported(run_figures(found), run_tables(found), figures)
    write(out, run_page(found))
    return said
