"""The report of a run as one self-contained HTML document: figures, tables, a scatter plot, explained texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from regard.facts.analysis import AnalysisFacts
from regard.facts.history import rounds
from regard.facts.measures import Measures
from regard.facts.run import RunFacts
from regard.files import check_writable, write
from regard.report.pages.analysis import SCRIPTS, payload
from regard.report.pages.audit_evidence import Shown, evidence, left_out
from regard.report.pages.filters import READER
from regard.report.pages.run_figures import rounds_text, run_figures
from regard.report.pages.run_sentences import bins_table, sentences, tendency, with_sign
from regard.report.pages.templates import FINDING, FOLDING, SORTING, render
from regard.report.pages.texts import Reading, reading
from regard.report.pages.tiles import Tile, tone, verdict_tile
from regard.report.pages.words import WORDS, WordsView, words_view
from regard.report.text.analysis import strongest_words, unit_name
from regard.report.text.audit_tables import audit_tables
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure, Table, write_exported
from regard.report.text.numbers import written
from regard.report.text.tables import (
    CLASSES,
    absent,
    class_columns,
    class_rows,
    classes_shown,
    frequent_mistakes,
    never_predicted,
    small_matrix,
    summary,
)

TRUST = "Can attention be trusted?"
TILES = {
    "accuracy": "accuracy",
    "macro_f": "macro F1",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "rmse": "RMSE",
    "r2": "R²",
}


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
    never_predicted: str
    tiles: list[Tile]
    rounds: str
    reading: Reading
    words: WordsView | None
    sentences: dict[str, str]  # one per section, by anchor
    bins: Table | None  # of the calibration
    tone: str  # of the audit's verdict
    first_open: bool = False  # every part of the evidence is folded


def write_report(facts: RunFacts, out: Path, figures: Path | None = None, escape: bool = False) -> str:
    """Write the page, and every figure and table into the folder `figures` if given; returns a caution about figures, or "".

    `escape`: formulas in CSV.
    """
    check_writable(out.parent)
    drawn, tables = run_figures(facts), run_tables(facts)
    caution = "" if figures is None else write_exported(drawn, tables, figures, escape)
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
        {**tables, **page_tables(facts)},
        evidence(facts.audit, figures, tables) if facts.audit else {},
        left_out(facts.audit) if facts.audit else [],
        absent(facts.measures) if facts.measures else "",
        never_predicted(facts.measures) if facts.measures else "",
        tiles(facts),
        rounds_text(taken) if taken else "",
        reading(facts.texts, facts.texts_in_all, facts.classes, facts.measures is not None),
        words,
        sentences(facts),
        bins_table(facts.calibration) if facts.calibration else None,
        tone(facts.audit.verdict.name) if facts.audit else "",
    )
    scatter = words is not None and words.drawn
    shared = (FOLDING, SORTING) if tables else ()
    scripts = (
        *shared,
        *((FINDING,) if words else ()),
        *(SCRIPTS if scatter else ()),
        *((READER,) if facts.texts else ()),
    )
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
        verdict = f"{found}; " if (found := tendency(excess)) else ""
        ends_text = f"{verdict}95 % interval {with_sign(excess.low)} to {with_sign(excess.high)}"
        shown.append(Tile("mean confidence minus accuracy", with_sign(excess.mean), ends_text))
    return [*shown, verdict_tile(facts.audit)] if facts.audit else shown


def run_tables(facts: RunFacts) -> dict[str, Table]:
    """Tables by name, of what the report contains."""
    tables = {
        **(measure_tables(facts.measures) if facts.measures else {}),
        **({"words": words_table(facts.analysis)} if facts.analysis else {}),
        **(audit_tables(facts.audit) if facts.audit else {}),
    }
    return {name: table for name, table in tables.items() if table is not None and table.rows}


def page_tables(facts: RunFacts) -> dict[str, Table]:
    """What the page shows in full and files shorten: every class, in a table that scrolls and can be sorted."""
    if facts.measures is None or len(facts.measures.classes) <= CLASSES:
        return {}
    rows = class_rows(facts.measures, with_interval=True, most=len(facts.measures.classes))
    columns = class_columns(facts.measures)
    return {"classes": Table(f"{len(rows)} {many(columns[0])}, weakest first", columns, rows)}


def measure_tables(measures: Measures) -> dict[str, Table | None]:
    matrix = small_matrix(measures)
    columns = class_columns(measures)
    mistakes = [
        (one_line(one.actual), one_line(one.predicted), f"{one.count:,}") for one in frequent_mistakes(measures)
    ]
    return {
        "measures": Table("Measures, with 95 % intervals", ("measure", "value"), summary(measures)),
        "classes": Table(
            classes_shown(measures) or many(columns[0]).capitalize(), columns, class_rows(measures, with_interval=True)
        ),
        "confusion_matrix": None
        if matrix is None
        else Table(
            "Rows: actual, columns: predicted",
            ("", *map(one_line, matrix.labels)),
            [(one_line(label), *map(written, row)) for label, row in zip(matrix.labels, matrix.counts, strict=True)],
        ),
        "confusions": Table("Most frequent mistakes", ("actual", "predicted", "texts"), mistakes),
    }


def many(name: str) -> str:
    return {"class": "classes", "label": "labels"}[name]


def words_table(facts: AnalysisFacts) -> Table:
    rows = [
        (one_line(name), word.token, word.polarity, word.attention, word.weight, word.count)
        for name, words in strongest_words(facts, WORDS).items()
        for word in words
    ]
    unit = unit_name(facts)
    return Table(f"Strongest {unit}s", ("class", unit, "polarity", "attention", "weight", "count"), rows)
