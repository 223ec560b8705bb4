"""Doubtful labels as one offline page: accept, keep or change each by keyboard, and save the corrected table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard.facts.doubts import Contradiction, DoubtFacts, DoubtfulRow, NextText, NovelText
from regard.report.pages.templates import render
from regard.report.text.characters import one_line
from regard.report.text.doubts import summary

SCRIPT = "doubts.js"
KEYED = 9  # classes that have a key


class Table(NamedTuple):
    """The file as it is: the corrected one differs in labels only."""

    columns: Sequence[str]
    rows: Sequence[tuple[int, Mapping[str, object]]]  # the number of each row, and its fields
    label: str  # the column of labels
    name: str  # of the file


@dataclass(frozen=True)
class DoubtsView:
    title: str
    summary: str
    facts: dict[str, str]
    sections: dict[str, str]  # titles by anchor
    rows: list[DoubtfulRow]
    more: int  # disputed labels that are not shown
    classes: tuple[str, ...]
    keyed: int
    contradictions: list[Contradiction]
    novel: list[NovelText]
    next: list[NextText]


def doubts_page(facts: DoubtFacts, table: Table, limit: int) -> str:
    disputed = facts.disputed
    present = {
        "doubts": ("Doubtful labels", True),
        "contradictions": ("Contradictions", bool(facts.contradictions)),
        "novel": ("Texts unlike the others", bool(facts.novel)),
        "next": ("Label these next", bool(facts.next)),
    }
    view = DoubtsView(
        title=f"Doubtful labels in {table.name}",
        summary=summary(facts),
        facts={"texts": f"{len(facts.rows):,}", "label column": one_line(table.label)},
        sections={anchor: name for anchor, (name, is_shown) in present.items() if is_shown},
        rows=disputed[:limit],
        more=max(0, len(disputed) - limit),
        classes=facts.classes,
        keyed=min(KEYED, len(facts.classes)),
        contradictions=facts.contradictions,
        novel=facts.novel,
        next=facts.next,
    )
    return render("doubts.html", view, (SCRIPT,), payload(table, facts.classes, view.rows))


def payload(table: Table, classes: Sequence[str], shown: Sequence[DoubtfulRow]) -> str:
    """JSON for the script, without `<`, so that nothing in it can end the script element."""
    content = {
        "name": corrected_name(table.name),
        "columns": list(table.columns),
        "label": list(table.columns).index(table.label),
        "numbers": [number for number, _ in table.rows],
        "rows": [[cell(fields.get(column)) for column in table.columns] for _, fields in table.rows],
        "classes": list(classes),
        # in the order of the page; attributes of elements would lose carriage returns
        "doubtful": [{"row": one.row, "label": one.label, "suggested": one.suggested} for one in shown],
    }
    written = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def cell(value: object) -> str:
    """A field as a CSV file has it: strings as they are, nothing for null, JSON for the rest."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def corrected_name(name: str) -> str:
    return f"{name.split('.')[0] or 'labels'}-corrected.csv"
