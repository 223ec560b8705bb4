"""What `regard analyse` leaves: analysis.json, the page, and every figure as a file of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regard.files import check_place, write_all
from regard.report.pages.analysis import analysis_page
from regard.report.pages.analysis_figures import figures

PAGE = "analysis.html"


def write_analysis(found: dict[str, Any], folder: Path) -> Path:
    """All files or none; where the page is."""
    check_place(folder)
    files = {"analysis.json": json.dumps(found, ensure_ascii=False, indent=1), PAGE: analysis_page(found)}
    files |= {f"{name}.svg": drawn for name, drawn in figures(found).items()}
    write_all(folder, {name: told.encode("utf-8", "replace") for name, told in files.items()})
    return folder / PAGE
