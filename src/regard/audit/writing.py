"""What `regard audit` leaves: audit.json, a page, and where asked its figures and tables as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.files import check_place, write_all
from regard.report.audit_figures import audit_figures
from regard.report.audit_page import audit_page
from regard.report.audit_tables import audit_tables
from regard.report.text.exported import write_exported

NAME, PAGE = "audit.json", "audit.html"


def write_audit(found: Mapping[str, Any], folder: Path, figures: Path | None = None) -> str:
    """All files of a folder or none; "" or what to know of the figures."""
    check_place(folder)
    said = "" if figures is None else write_exported(audit_figures(found), audit_tables(found), figures)
    written = {PAGE: audit_page(found), NAME: as_json(found) + "\n"}
    write_all(folder, {name: told.encode("utf-8", "replace") for name, told in written.items()})
    return said


def as_json(found: Mapping[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False)
