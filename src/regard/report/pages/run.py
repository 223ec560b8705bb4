"""The report of a run as one HTML document that needs nothing but itself: figures, tables, a scatter, a reader for texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from regard.facts.audit import AuditFacts
from regard.report.pages.analysis import SCRIPTS, swatch
from regard.report.pages.analysis_payload import payload
from regard.report.pages.analysis_scores import has_untyped, marks_of, recorded
from regard.report.pages.audit_evidence import evidence
from regard.report.pages.explanations import templates
from regard.report.pages.run_figures import run_figures
from regard.report.pages.run_rounds import rounds, told_rounds
from regard.report.pages.run_tables import WORDS, run_tables
from regard.report.pages.scripts import permitted
from regard.report.pages.texts import COLD, text_view
from regard.report.plots.marks import ON_DARK, UNTYPED
from regard.report.text.analysis_numbers import between, share, signed, strongest, unit_name
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure
from regard.report.text.measures import absent, written

READER = "reader.js"
SIGNS = {  # of vocabularies of word pieces, and what they tell
    "Ġ": "Ġ before a piece: it begins a word",
    "▁": "▁ before a piece: it begins a word",
    "##": "## before a piece: it goes on with a word",
}
Report = Mapping[str, Any]


def run_page(found: Report) -> str:
    """The whole document; write it as UTF-8."""
    figures, tables = run_figures(found), run_tables(found)
    texts = [text_view(text, found["classes"]) for text in found["texts"]]
    listed = words(found)
    scattered = bool(listed and listed["drawn"])
    view: dict[str, Any] = {
        "found": found,
        "title": f"Report of {one_line(found['run'])}",
        "facts": facts(found),
        "sections": sections(found, figures),
        "figures": {name: Markup(figure.svg) for name, figure in figures.items()},
        "tables": tables,
        "absent": absent(found["metrics"] or {}),
        "tiles": tiles(found),
        "rounds": told_rounds(found),
        "evidence": evidence(figures, tables),
        **reading(texts),
        "words": listed,
        "payload": Markup(payload(found["analysis"])) if scattered else "",
        **permitted((*(SCRIPTS if scattered else ()), *((READER,) if texts else ()))),
        "on_dark": ON_DARK,
        "cold": COLD,
        "share": share,
        "between": between,
        "signed": signed,
        "written": written,
    }
    return templates().get_template("run_report.html").render(view)


def facts(found: Report) -> dict[str, str]:
    told = {"data": found["data"], **found["facts"]}
    if (taken := rounds(found)) is not None:
        told["rounds"] = f"{taken.listed[-1].number}, number {taken.kept.number} was kept"
    if found["texts_in_all"]:
        told["texts"] = f"{found['texts_in_all']:,}"
    return {name: one_line(value) for name, value in told.items() if value}


def sections(found: Report, figures: Mapping[str, Figure]) -> dict[str, str]:
    """By their anchors, those that there are."""
    there = {
        "measures": ("Measures", bool(found["metrics"])),
        "calibration": ("Calibration", "calibration" in figures),
        "training": ("Training", "training" in figures or "norms" in figures),
        "words": ("Words", bool(found["analysis"])),
        "trust": ("May attention be trusted?", True),
        "texts": ("Texts", bool(found["texts"])),
        "notes": ("Notes", bool(found["notes"])),
    }
    return {anchor: title for anchor, (title, shown) in there.items() if shown}


def tiles(found: Report) -> list[tuple[str, str, str]]:
    """What to know first: name, value, and how sure that is."""
    metrics, shown = found["metrics"] or {}, []
    for key, name in (("accuracy", "accuracy"), ("macro_f", "macro F1"), ("rmse", "RMSE"), ("r2", "R²")):
        if key in metrics:
            ends = metrics.get(f"{key}_interval")
            sure = f"95 % interval {written(ends[0])} to {written(ends[1])}" if ends else ""
            shown.append((name, written(metrics[key]), sure))
    given = found["calibration"]
    if given and given["kind"] == "classes":
        excess = given["excess"]
        ends = f"95 % interval {signed(excess['low'])} to {signed(excess['high'])}"
        shown.append(("mean probability less accuracy", signed(excess["mean"]), ends))
    if found["audit"]:
        audit: AuditFacts = found["audit"]
        texts = f"by {audit.texts:,} texts of {one_line(audit.data)}"
        shown.append(("attention", one_line(audit.verdict.name), texts))
    return shown


def reading(texts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the reader takes: the texts, how many are mistakes, explainers in their order, those with a sign."""
    views = [view for text in texts for view in text["views"]]
    return {
        "texts": texts,
        "wrong": sum(text["right"] == "no" for text in texts),
        "methods": {view["method"]: view["name"] for view in views},
        "unknown": any(not piece.known for view in views for row in view["rows"] for piece in row.pieces),
        "with_sign": list(dict.fromkeys(view["name"] for view in views if view["signed"])),
    }


def words(found: Report) -> dict[str, Any]:
    """The words of each class, and the marks of their types."""
    given = found["analysis"]
    if not given:
        return {}
    marks = {name: Markup(swatch(mark)) for name, mark in marks_of(given).items()}
    return {
        "strongest": strongest(given, WORDS),
        "marks": marks,
        "untyped": Markup(swatch(UNTYPED)) if has_untyped(given) else "",
        "recorded": bool(recorded(given)),
        "drawn": bool(given["tokens"] or recorded(given)),
        "unit": unit_name(given),
        "sign": sign(given["tokens"]),
    }


def sign(tokens: Sequence[Mapping[str, Any]]) -> str:
    """What the sign before some of them means; "" where none has one."""
    return next((told for begun, told in SIGNS.items() if any(one["token"].startswith(begun) for one in tokens)), "")
