"""What an audit found: a plain dict, as audit.json holds it, which can also be shown and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Found(dict[str, Any]):
    """Equal to the dict that it is; `json.dumps` takes it."""

    def page(self) -> str:
        """The whole HTML document: verdict, evidence, texts."""
        from regard.report.audit_page import audit_page

        return audit_page(self)

    def save(self, folder: str | Path, figures: str | Path | None = None) -> Path:
        """audit.json and the page, and where asked every figure as SVG, PDF and CSV and every table as LaTeX and CSV."""
        from regard.audit.writing import write_audit

        write_audit(self, Path(folder), None if figures is None else Path(figures))
        return Path(folder)
