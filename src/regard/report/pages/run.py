"""The report of a run as one self-contained HTML document: figures, tables, a scatter plot, explained texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from regard.facts.analysis import AnalysisFacts, Token
from regard.facts.history import rounds
from regard.facts.measures import Measures
from regard.facts.run import RunFacts
from regard.files import check_writable, write
from regard.report.pages.analysis import SCRIPTS, WORDS, payload, swatches, untyped_swatch
from regard.report.pages.audit_evidence import Shown, evidence, left_out
from regard.report.pages.run_figures import rounds_text, run_figures
from regard.report.pages.templates import render
from regard.report.pages.texts import READER, Reading, reading
from regard.report.text.analysis import WordRow, strongest_words, unit_name
from regard.report.text.audit_tables import audit_tables
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure, Table, write_exported
from regard.report.text.numbers import signed, written
from regard.report.text.tables import (
    COLUMNS,
    absent,
    class_rows,
    classes_shown,
    frequent_mistakes,
    small_matrix,
    summary,
)

TRUST = "Can attention be trusted?"
TILES = {"accuracy": "accuracy", "macro_f": "macro F1", "rmse": "RMSE", "r2": "R²"}
PREFIXES = {  # of vocabularies of word pieces, and what they mean
    "Ġ": "Ġ before a piece: it begins a word",
    "▁": "▁ before a piece: it begins a word",
    "##": "## before a piece: it continues a word",
}


class Tile(NamedTuple):
    """A headline number and its uncertainty."""

    name: str
    value: str
    uncertainty: str


@dataclass(frozen=True)
class WordsView:
    """The words of each class, and the marks of their types."""

    analysis: AnalysisFacts
    strongest: dict[str, list[WordRow]]
    marks: dict[str, Markup]
    untyped: Markup  # empty if every token has a type
    drawn: bool
    unit: str
    prefix: str


@dataclass(frozen=True)
class RunView:
    run: RunFacts
    title: str
    facts: dict[str, str]
    sections: dict[str, str]  # titles by anchor
    figures: dict[str, Markup]
    tables: dict[str, Table]
    evidence: dict[str, Shown]
    left_out: list[tuple[str, str]]  # of the audit: names and reasons
    absent: str
    tiles: list[Tile]
    rounds: str
    reading: Reading
    words: WordsView | None


def write_report(facts: RunFacts, out: Path, figures: Path | None = None) -> str:
    """Write the page, and every figure and table into the folder `figures` if given; returns a caution about figures, or ""."""
    check_writable(out.parent)
    drawn, tables = run_figures(facts), run_tables(facts)
    caution = "" if figures is None else write_exported(drawn, tables, figures)
    write(out, run_page(facts, drawn, tables))
    return caution


def run_page(facts: RunFacts, figures: Mapping[str, Figure], tables: Mapping[str, Table]) -> str:
    """The whole document, with the figures and tables of the run."""
    words = words_view(facts.analysis) if facts.analysis else None
    taken = rounds(facts.history, facts.best_epoch)
    view = RunView(
        facts,
        f"Report of {one_line(facts.run)}",
        header_facts(facts),
        sections(facts, figures),
        {name: Markup(figure.svg) for name, figure in figures.items()},
        dict(tables),
        evidence(figures, tables) if facts.audit else {},
        left_out(facts.audit) if facts.audit else [],
        absent(facts.measures) if facts.measures else "",
        tiles(facts),
        rounds_text(taken) if taken else "",
        reading(facts.texts, facts.texts_in_all, facts.classes, facts.measures is not None),
        words,
    )
    scatter = words is not None and words.drawn
    scripts = (*(SCRIPTS if scatter else ()), *((READER,) if facts.texts else ()))
    return render("run.html", view, scripts, payload(words.analysis) if words and scatter else "")


def header_facts(facts: RunFacts) -> dict[str, str]:
    shown = {"data": facts.data, **facts.facts}
    if (taken := rounds(facts.history, facts.best_epoch)) is not None:
        shown["rounds"] = f"{taken.listed[-1].number}, round {taken.kept.number} was kept"
    if facts.texts_in_all:
        shown["texts"] = f"{facts.texts_in_all:,}"
    return {name: one_line(value) for name, value in shown.items() if value}


def sections(facts: RunFacts, figures: Mapping[str, Figure]) -> dict[str, str]:
    """Titles of the page's sections, by anchor."""
    present = {
        "measures": ("Measures", facts.measures is not None),
        "calibration": ("Calibration", "calibration" in figures),
        "training": ("Training", "training" in figures or "norms" in figures),
        "words": ("Words", facts.analysis is not None),
        "trust": (TRUST, True),
        "texts": ("Texts", bool(facts.texts)),
        "notes": ("Notes", bool(facts.notes)),
    }
    return {anchor: title for anchor, (title, is_shown) in present.items() if is_shown}


def tiles(facts: RunFacts) -> list[Tile]:
    shown = []
    for key, name in TILES.items():
        if facts.measures and (one := facts.measures.get(key)):
            ends = one.interval
            uncertainty = f"95 % interval {written(ends[0])} to {written(ends[1])}" if ends else ""
            shown.append(Tile(name, written(one.value), uncertainty))
    if facts.calibration and facts.calibration.kind == "classes":
        excess = facts.calibration.excess
        ends_text = f"95 % interval {signed(excess.low)} to {signed(excess.high)}"
        shown.append(Tile("mean confidence minus accuracy", signed(excess.mean), ends_text))
    if facts.audit:
        texts = f"on {facts.audit.texts:,} texts of {one_line(facts.audit.data)}"
        shown.append(Tile("attention", one_line(facts.audit.verdict.name), texts))
    return shown


def words_view(facts: AnalysisFacts) -> WordsView:
    return WordsView(
        facts,
        strongest_words(facts, WORDS),
        swatches(facts),
        untyped_swatch(facts),
        bool(facts.tokens or facts.recorded),
        unit_name(facts),
        prefix(facts.tokens),
    )


def prefix(tokens: Sequence[Token]) -> str:
    """The meaning of the sign before some word pieces; "" if none has one."""
    return next(
        (meaning for sign, meaning in PREFIXES.items() if any(one.token.startswith(sign) for one in tokens)), ""
    )


def run_tables(facts: RunFacts) -> dict[str, Table]:
    """Tables by name, of what the report contains."""
    tables = {
        **(measure_tables(facts.measures) if facts.measures else {}),
        **({"words": words_table(facts.analysis)} if facts.analysis else {}),
        **(audit_tables(facts.audit) if facts.audit else {}),
    }
    return {name: table for name, table in tables.items() if table is not None and table.rows}


def measure_tables(measures: Measures) -> dict[str, Table | None]:
    matrix = small_matrix(measures)
    mistakes = [
        (one_line(one.actual), one_line(one.predicted), f"{one.count:,}") for one in frequent_mistakes(measures)
    ]
    return {
        "measures": Table("Measures, with 95 % intervals", ("measure", "value"), summary(measures)),
        "classes": Table(classes_shown(measures) or "Classes", COLUMNS, class_rows(measures, with_interval=True)),
        "confusion_matrix": None
        if matrix is None
        else Table(
            "Rows: actual, columns: predicted",
            ("", *map(one_line, matrix.labels)),
            [(one_line(label), *map(written, row)) for label, row in zip(matrix.labels, matrix.counts, strict=True)],
        ),
        "confusions": Table("Most frequent mistakes", ("actual", "predicted", "texts"), mistakes),
    }


def words_table(facts: AnalysisFacts) -> Table:
    rows = [
        (one_line(name), word.token, word.polarity, word.attention, word.weight, word.count)
        for name, words in strongest_words(facts, WORDS).items()
        for word in words
    ]
    unit = unit_name(facts)
    return Table(f"Strongest {unit}s", ("class", unit, "polarity", "attention", "weight", "count"), rows)
