"""An audit as one HTML document that needs nothing but itself: the verdict in words, its evidence a click away, the texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regard.report.audit_evidence import evidence
from regard.report.audit_texts import audit_texts
from regard.report.names import explainer_name
from regard.report.pages.explanations import templates
from regard.report.pages.run import READER, reading
from regard.report.pages.scripts import permitted
from regard.report.pages.texts import COLD, text_view
from regard.report.plots.marks import ON_DARK
from regard.report.text.analysis_numbers import CLASSES
from regard.report.text.characters import one_line


def audit_page(found: Mapping[str, Any]) -> str:
    """The whole document; write it as UTF-8."""
    texts = [text_view(text, found["classes"]) for text in audit_texts(found)]
    focus = explainer_name(found["focus"])
    labelled = any(text["right"] for text in texts)
    view: dict[str, Any] = {
        "title": f"May {focus} be trusted?" + (f" {one_line(found['run'])}" if found["run"] else ""),
        "facts": facts(found),
        "audit": found,
        "evidence": evidence(found),
        # as a report has them, for the reader
        "found": {"texts_in_all": found["texts"], "metrics": labelled, "classes": found["classes"]},
        **reading(texts),
        **permitted((READER,) if texts else ()),
        "on_dark": ON_DARK,
        "cold": COLD,
    }
    return templates().get_template("audit_page.html").render(view)


def facts(found: Mapping[str, Any]) -> dict[str, str]:
    told = {"data": found["data"], "texts": f"{found['texts']:,}", "seed": found["seed"]}
    told["classes"] = ", ".join(found["classes"]) if len(found["classes"]) <= CLASSES else len(found["classes"])
    return {name: one_line(value) for name, value in told.items() if value is not None}
