"""What `regard report` leaves: the page, and where asked every figure as SVG, PDF and CSV and every table as LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.files import check_place, write
from regard.report.exported import write_exported
from regard.report.run_figures import run_figures
from regard.report.run_page import run_page
from regard.report.run_tables import run_tables


def write_report(found: Mapping[str, Any], out: Path, figures: Path | None = None) -> str:
    """ "" or what to know of the figures."""
    check_place(out.parent)
    said = "" if figures is None else write_exported(run_figures(found), run_tables(found), figures)
    write(out, run_page(found))
    return said
