"""Doubtful labels as text: a summary on the terminal, and rows for CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.facts.doubts import DoubtFacts
from regard.report.text.characters import one_line

FIRST, FEW = 10, 5  # rows shown of doubtful labels and chosen texts, and of the rest
CUT = 300  # characters of a text


def doubt_rows(facts: DoubtFacts) -> Iterator[list[str]]:
    """All rows, the most doubtful first."""
    yield ["row", "label", "suggested", "doubt", "words"]
    for one in facts.rows:
        yield [str(one.row), one.label, one.suggested, f"{one.doubt:.6f}", " ".join(one.words)]


def next_rows(facts: DoubtFacts) -> Iterator[list[str]]:
    """The texts of the pool that are worth labelling, in the order of their choice."""
    yield ["row", "text", "prediction", "uncertainty", "novelty"]
    for one in facts.next:
        yield [str(one.row), one.text, one.prediction, f"{one.uncertainty:.6f}", f"{one.novelty:.6f}"]


def summary(facts: DoubtFacts) -> str:
    """The result in one sentence."""
    disputed, texts = len(facts.disputed), len(facts.rows)
    if facts.estimated is None:
        subject = "1 label is" if disputed == 1 else f"{disputed:,} labels are"
        return f"of {texts:,} numbers, {subject} two or more standard deviations from the prediction"
    verb = "has a label that differs" if disputed == 1 else "have a label that differs"
    return (
        f"{disputed:,} of {texts:,} texts {verb} from what models predict that were not trained on the text; by confident "
        f"learning {round(facts.estimated):,} labels are wrong, which counts mistakes of the models too"
    )


def print_doubts(facts: DoubtFacts, console: Console) -> None:
    console.print(Text(summary(facts)))
    disputed = facts.disputed[:FIRST]
    if disputed:
        shown = [
            (one.row, one.label, one.suggested, f"{one.doubt:.3f}", " ".join(one.words), one.text) for one in disputed
        ]
        section(console, "most doubtful labels", ("row", "label", "suggested", "doubt", "words against", "text"), shown)
    if facts.contradictions:
        listed = [
            (f"{a.rows[0]}, {a.rows[1]}", f"{a.labels[0]}, {a.labels[1]}", f"{a.similarity:.2f}", a.texts[0])
            for a in facts.contradictions[:FEW]
        ]
        title = f"nearly the same text, different labels ({len(facts.contradictions):,} pairs)"
        section(console, title, ("rows", "labels", "similarity", "text"), listed)
    if facts.novel:
        odd = [(one.row, one.label, f"{one.novelty:.3f}", one.text) for one in facts.novel[:FEW]]
        section(console, "texts unlike the others", ("row", "label", "novelty", "text"), odd)
    if facts.next:
        chosen = [(one.row, one.prediction, f"{one.uncertainty:.3f}", one.text) for one in facts.next[:FIRST]]
        section(console, "label these next", ("row", "prediction", "uncertainty", "text"), chosen)


def section(console: Console, title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = Table(box=None, pad_edge=False, expand=True)
    for head in heads[:-1]:
        table.add_column(head, no_wrap=True, overflow="ellipsis", max_width=30)
    table.add_column(heads[-1], no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        table.add_row(*(Text(one_line(str(cell)[:CUT])) for cell in row))
    console.print()
    console.print(Text(title, style="bold"))
    console.print(table)
