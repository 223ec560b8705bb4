"""The files of an audit: audit.json, its page, and if asked for its figures and tables."""

from __future__ import annotations

import json
from pathlib import Path

from regard.facts.audit import AuditFacts
from regard.files import check_place, write_all
from regard.report.audit_page import audit_page, audit_views
from regard.report.text.exported import write_exported

NAME, PAGE = "audit.json", "audit.html"


def write_audit(facts: AuditFacts, folder: Path, figures: Path | None = None) -> str:
    """All files of a folder or none; "" or what to know about the figures."""
    check_place(folder)
    views = audit_views(facts)
    caution = "" if figures is None else write_exported(*views, figures)
    written = {PAGE: audit_page(facts, views), NAME: as_json(facts) + "\n"}
    write_all(folder, {name: text.encode("utf-8", "replace") for name, text in written.items()})
    return caution


def as_json(facts: AuditFacts) -> str:
    return json.dumps(facts.to_json(), ensure_ascii=False, allow_nan=False)
