"""The comparison of several runs as one self-contained HTML document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from regard.facts.comparison import ComparisonFacts
from regard.files import write
from regard.report.pages.templates import FOLDING, SORTING, render
from regard.report.pages.tiles import Tile
from regard.report.text.characters import one_line
from regard.report.text.comparison import (
    answer_text,
    comparison_tables,
    conclusion,
    difference,
    disputed_title,
    label_text,
    letter,
)
from regard.report.text.exported import Table
from regard.report.text.intervals import p_value
from regard.report.text.numbers import metric_name, written


@dataclass(frozen=True)
class ShownAnswer:
    run: str
    answer: str
    right: bool | None  # None: a number


@dataclass(frozen=True)
class ShownDispute:
    row: int
    text: str
    label: str
    answers: list[ShownAnswer]


@dataclass(frozen=True)
class ComparisonView:
    title: str
    facts: dict[str, str]
    tiles: list[Tile]
    sections: dict[str, str]  # titles by anchor
    tables: dict[str, Table]
    conclusion: str
    disputed_title: str
    disputed: list[ShownDispute]
    notes: tuple[str, ...]


def write_comparison(facts: ComparisonFacts, out: Path) -> None:
    write(out, comparison_page(facts))


def comparison_page(facts: ComparisonFacts) -> str:
    """The whole document; write it as UTF-8."""
    present = {
        "scores": ("Scores", True),
        "agreement": ("Agreement", True),
        "classes": ("Classes", bool(facts.classes)),
        "texts": ("Where they differ", bool(facts.disputed)),
        "notes": ("Notes", bool(facts.cautions)),
    }
    view = ComparisonView(
        f"Comparison of {len(facts.runs)} runs",
        header(facts),
        tiles(facts),
        {anchor: name for anchor, (name, is_shown) in present.items() if is_shown},
        comparison_tables(facts, classes=None),
        conclusion(facts),
        disputed_title(facts, len(facts.disputed)),
        disputes(facts),
        facts.cautions,
    )
    return render("comparison.html", view, (FOLDING, SORTING))


def header(facts: ComparisonFacts) -> dict[str, str]:
    runs = {letter(place): f"{one_line(run.name)} ({one_line(run.model)})" for place, run in enumerate(facts.runs)}
    return {"data": one_line(facts.data), "texts": f"{facts.texts:,}", **runs}


def tiles(facts: ComparisonFacts) -> list[Tile]:
    """The main score of every run, and how it differs from the first."""
    name = next(iter(facts.runs[0].scores))
    meanings = {0: "the run that the others are compared with"}
    for one in facts.differences:
        test = "" if one.mcnemar is None else f"; p = {p_value(one.mcnemar.corrected)}"
        meanings[one.run] = f"{difference(one.scores[name])} against {letter(0)}{test}"
    return [
        Tile(f"{letter(place)}, {metric_name(name)}", written(run.scores[name]), meanings[place])
        for place, run in enumerate(facts.runs)
    ]


def disputes(facts: ComparisonFacts) -> list[ShownDispute]:
    return [
        ShownDispute(
            one.row,
            one.text,
            label_text(one.label),
            [
                ShownAnswer(letter(run), answer_text(each), each.value == one.label if facts.classes else None)
                for run, each in enumerate(one.answers)
            ],
        )
        for one in facts.disputed
    ]
