"""The page of an audit, one self-contained HTML document: the verdict, linked to its evidence, and the texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from regard.facts.audit import AuditedText, AuditFacts
from regard.facts.run import ShownText, TextView
from regard.files import check_writable, write_all
from regard.records import Explanation, Prediction, TokenScore
from regard.report.names import explainer_name
from regard.report.pages.audit_evidence import Shown, evidence, left_out
from regard.report.pages.audit_figures import audit_figures
from regard.report.pages.filters import READER
from regard.report.pages.templates import FOLDING, SORTING, render
from regard.report.pages.texts import Reading, reading
from regard.report.pages.tiles import Tile, audit_tiles, tone
from regard.report.text.analysis import CLASSES
from regard.report.text.audit_tables import audit_tables
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure, Table, write_exported

NAME, PAGE = "audit.json", "audit.html"
SECTIONS = {"verdict-heading": "The verdict", "evidence": "The evidence"}
WORDS = 40_000  # of all texts and explainers in total: more would make the page slow to open


class AuditViews(NamedTuple):
    """Figures and tables, drawn once for the page and for files."""

    figures: dict[str, Figure]
    tables: dict[str, Table]


@dataclass(frozen=True)
class AuditView:
    audit: AuditFacts
    title: str
    facts: dict[str, str]
    evidence: dict[str, Shown]
    left_out: list[tuple[str, str]]  # names and reasons
    reading: Reading
    tiles: list[Tile]
    sections: dict[str, str]  # titles by anchor
    tone: str  # of the verdict
    first_open: bool = True  # the first part of the evidence is unfolded


def audit_views(facts: AuditFacts) -> AuditViews:
    return AuditViews(audit_figures(facts), audit_tables(facts))


def write_audit(facts: AuditFacts, folder: Path, figures: Path | None = None, escape: bool = False) -> str:
    """Write all files or none; returns a caution about the figures, or "". `escape`: formulas in CSV."""
    check_writable(folder)
    views = audit_views(facts)
    caution = "" if figures is None else write_exported(*views, figures, escape)
    written = {PAGE: audit_page(facts, views), NAME: as_json(facts) + "\n"}
    write_all(folder, {name: text.encode("utf-8", "replace") for name, text in written.items()})
    return caution


def as_json(facts: AuditFacts) -> str:
    return json.dumps(facts.to_json(), ensure_ascii=False, allow_nan=False)


def audit_page(facts: AuditFacts, views: AuditViews | None = None) -> str:
    """The whole document; write it as UTF-8."""
    texts = audit_texts(facts)
    labelled = any(text.mistake is not None for text in texts)
    view = AuditView(
        facts,
        f"Can {explainer_name(facts.focus)} be trusted?" + (f" {one_line(facts.run)}" if facts.run else ""),
        page_facts(facts),
        evidence(facts, *(views or audit_views(facts))),
        left_out(facts),
        reading(texts, facts.texts, facts.classes, labelled),
        audit_tiles(facts),
        {**SECTIONS, **({"texts": "Texts"} if texts else {})},
        tone(facts.verdict.name),
    )
    return render("audit.html", view, (FOLDING, SORTING, *((READER,) if texts else ())))


def page_facts(facts: AuditFacts) -> dict[str, str]:
    classes = ", ".join(facts.classes) if len(facts.classes) <= CLASSES else len(facts.classes)
    named = {"data": facts.data, "texts": f"{facts.texts:,}", "seed": facts.seed, "classes": classes}
    return {name: one_line(value) for name, value in named.items() if value not in (None, "")}


def audit_texts(facts: AuditFacts) -> list[ShownText]:
    """The most confident mistakes first, then correct predictions, the least confident first; unlabelled texts in order."""
    kept: list[ShownText] = []
    words = 0
    for text in sorted(facts.details, key=rank):
        words += len(text.spans) * len(text.scores)
        if kept and words > WORDS:
            break
        kept.append(shown_text(text, facts.classes))
    return kept


def rank(text: AuditedText) -> tuple[bool, float, int]:
    if text.label is None:
        return False, 0.0, text.place
    is_right, confidence = text.label == text.decided, max(text.probabilities)
    return is_right, confidence if is_right else -confidence, text.place


def shown_text(text: AuditedText, classes: tuple[str, ...]) -> ShownText:
    label = None if text.label is None else classes[text.label]
    mistake = None if text.label is None else text.label != text.decided
    return ShownText(f"text {text.place + 1}", mistake, label, tuple(views_of(text, classes)))


def views_of(text: AuditedText, classes: tuple[str, ...]) -> Iterator[TextView]:
    """Absolute scores as weights that sum to 1; words with a score below 0 count against the prediction."""
    answer = Prediction(classes[text.decided], dict(zip(classes, text.probabilities, strict=True)))
    for method, scores in text.scores.items():
        total = sum(map(abs, scores)) or 1.0
        scored = list(zip(text.spans, scores, strict=True))
        tokens = tuple(TokenScore(text.text[a:b], a, b, abs(score) / total) for (a, b), score in scored)
        against = tuple(a for (a, _), score in scored if score < 0)
        yield TextView(Explanation(text.text, answer, tokens, method=method), against or None)
