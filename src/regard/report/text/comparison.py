"""The comparison of several runs as tables, for the terminal and for its page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from regard.facts.comparison import Agreement, ClassComparison, ComparisonFacts, RunAnswer, RunDifference
from regard.facts.intervals import Interval
from regard.report.text.characters import one_line, shortened
from regard.report.text.exported import Table
from regard.report.text.intervals import p_value
from regard.report.text.numbers import figures, metric_name, written
from regard.report.text.tables import CLASSES, plain_table

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LISTED = 10  # disputed texts on a terminal
CELLS = 76  # of such a text
WORDS = ("folder or model", "measure", "best")  # columns that are not numbers
LOWER_IS_BETTER = ("log_loss", "rmse", "mae")


def letter(run: int) -> str:
    """A short name of a run for the heads of tables."""
    return LETTERS[run] if run < len(LETTERS) else f"run {run + 1}"


def comparison_tables(facts: ComparisonFacts, classes: int | None = CLASSES) -> dict[str, Table]:
    """Tables by name; at most so many classes, those in which runs differ most first."""
    is_numbers = facts.task == "regression"
    return {
        "scores": scores_table(facts),
        "differences": differences_table(facts),
        **({} if is_numbers else {"mcnemar": mcnemar_table(facts)}),
        "agreement": agreement_table(facts),
        **({} if is_numbers else {"classes": classes_table(facts, classes)}),
    }


def scores_table(facts: ComparisonFacts) -> Table:
    names = [*facts.runs[0].scores]
    rows = [
        (letter(place), *(written(run.scores[name]) for name in names), one_line(run.name))
        for place, run in enumerate(facts.runs)
    ]
    return Table(f"Scores on {facts.texts:,} texts", ("run", *map(metric_name, names), "folder or model"), rows)


def differences_table(facts: ComparisonFacts) -> Table:
    rows = [
        (f"{letter(one.run)} − {letter(0)}", metric_name(name), difference(gap))
        for one in facts.differences
        for name, gap in one.scores.items()
    ]
    caption = f"Differences to {letter(0)}, with 95 % intervals (paired bootstrap)"
    return Table(caption, ("runs", "measure", "difference"), rows)


def mcnemar_table(facts: ComparisonFacts) -> Table:
    """With several runs, the last column has p corrected for their number."""
    several = len(facts.differences) > 1
    rows = []
    for one in facts.differences:
        if (test := one.mcnemar) is not None:
            cells = (written(test.won), written(test.lost), p_value(test.p), *[p_value(test.corrected)] * several)
            rows.append((f"{letter(one.run)} and {letter(0)}", *cells))
    head = ("runs", "only the former is right", f"only {letter(0)} is right", "p", *["p, by Holm"] * several)
    return Table("McNemar’s exact test of equal accuracy", head, rows)


def difference(one: Interval) -> str:
    """+0.012 (−0.003 to +0.027)"""
    bounds = one.bounds
    if bounds is None:
        return with_sign(one.mean or 0.0)
    mean, low, high = map(with_sign, bounds)
    return f"{mean} ({low} to {high})"


def with_sign(value: float) -> str:
    return f"{value:+z.3f}".replace("-", "−")


def agreement_table(facts: ComparisonFacts) -> Table:
    measures = ("correlation",) if facts.task == "regression" else ("equal answers", "Cohen’s kappa")
    rows = [(f"{letter(one.one)} and {letter(one.other)}", *agreement_cells(one, measures)) for one in facts.agreement]
    return Table("Agreement between runs", ("runs", *measures), rows)


def agreement_cells(one: Agreement, measures: Sequence[str]) -> list[str]:
    return [written(value) for value in ((one.correlation,) if len(measures) == 1 else (one.equal, one.kappa))]


def classes_table(facts: ComparisonFacts, most: int | None) -> Table:
    """F1 and the number of correct answers of every run, and which run is best."""
    ranked = facts.classes
    caption = "F1 of each class, with the texts that were answered correctly"
    if most is not None and len(ranked) > most:
        ranked = tuple(sorted(ranked, key=lambda one: min(one.f) - max(one.f))[:most])
        caption = f"{most} of {len(facts.classes)} classes, largest differences first: {caption}"
    heads = [f"{letter(run)} {what}" for what in ("F1", "correct") for run in range(len(facts.runs))]
    return Table(caption, ("class", "texts", *heads, "best"), [class_row(one) for one in ranked])


def class_row(one: ClassComparison) -> tuple[str, ...]:
    best = ", ".join(map(letter, one.best)) or "equal"
    return one_line(one.name), written(one.texts), *map(written, one.f), *map(written, one.right), best


def conclusion(facts: ComparisonFacts) -> str:
    """One sentence per run: whether it differs from the first, and by how much."""
    return " ".join(run_conclusion(facts, one) for one in facts.differences)


def run_conclusion(facts: ComparisonFacts, one: RunDifference) -> str:
    name = next(iter(one.scores))
    bounds = one.scores[name].bounds
    pair = f"{letter(one.run)} and {letter(0)}"
    if bounds is None:
        return f"There are too few texts to tell {pair} apart."
    mean, low, high = bounds
    is_clear = one.mcnemar.corrected < 0.05 if one.mcnemar is not None else not low <= 0 <= high
    if not is_clear:
        return f"These texts do not tell {pair} apart: {metric_name(name)} {difference(one.scores[name])}."
    better = (mean < 0) == (name in LOWER_IS_BETTER)
    verdict = f"{letter(one.run)} is {'better' if better else 'worse'} than {letter(0)}"
    return f"{verdict}: {metric_name(name)} {difference(one.scores[name])}."


def answer_text(one: RunAnswer) -> str:
    if not isinstance(one.value, str):
        return figures(one.value)
    return one_line(one.value) + ("" if one.probability is None else f" {one.probability:.3f}")


def label_text(label: str | float) -> str:
    return one_line(label) if isinstance(label, str) else figures(label)


def disputed_title(facts: ComparisonFacts, listed: int) -> str:
    if facts.task == "regression":
        return f"{listed:,} of {facts.texts:,} texts, largest differences between answers first"
    return (
        f"{listed:,} of {facts.disagreements:,} texts on which the runs disagree (of {facts.texts:,}), "
        "those with the most confident answer first"
    )


def show_comparison(facts: ComparisonFacts, console: Console) -> None:
    for table in comparison_tables(facts).values():
        shown = plain_table(table.caption)
        for place, name in enumerate(table.head):
            words = place == 0 or name in WORDS
            shown.add_column(name, justify="left" if words else "right", overflow="fold", no_wrap=not words)
        for row in table.rows:
            shown.add_row(*map(Text, row))
        console.print(shown, "")
    console.print(Text(conclusion(facts)))
    if not facts.disputed:
        return
    listed = facts.disputed[:LISTED]
    console.print("", Text(disputed_title(facts, len(listed)), style="dim"))
    for one in listed:
        answers = " · ".join(f"{letter(run)}: {answer_text(each)}" for run, each in enumerate(one.answers))
        console.print(Text(f"row {one.row}: {label_text(one.label)} · {answers}", style="bold"))
        console.print(Text(f"  {shortened(one.text[: 4 * CELLS], CELLS)}"))
