"""An analysis in words and in the terminal: types, strongest words, how well attention separates them, VᵀW·λ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import fmean

from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from regard.facts.analysis import AnalysisFacts, Box, Token
from regard.report.text.characters import one_line
from regard.report.text.numbers import between, share, signed, weight
from regard.report.text.tables import plain_table

CLASSES = 6  # more than this are counted instead of named
WORDS = 8  # of each class, in the terminal
TABLES = 4  # with more classes than this, a class gets a line instead of a table
SCORES = {"global": "of each token alone", "local": "means over all occurrences of a token"}


@dataclass(frozen=True)
class TypeRow:
    """A dash where a type has no tokens or no weights."""

    name: str
    count: str
    polarity: str
    attention: str
    weight: str


@dataclass(frozen=True)
class WordRow:
    token: str
    polarity: str
    attention: str
    weight: str
    count: str


@dataclass(frozen=True)
class OutputRow:
    """VᵀW of one output of the head."""

    name: str
    vtw: str
    product: str
    cosine: str
    norm: str


def unit_name(facts: AnalysisFacts) -> str:
    """The unit that has a vector and scores."""
    return "word piece" if facts.model.encoder == "bert" else "word"


def header_facts(facts: AnalysisFacts) -> dict[str, str]:
    """The facts at the head of an analysis: model, data, number of texts."""
    model, classes = facts.model, facts.classes
    read = f"{one_line(model.encoder)}, {one_line(model.attention)} attention"
    return {
        "run": one_line(facts.run),
        "data": one_line(facts.data),
        "texts": f"{facts.texts:,}",
        "classes": ", ".join(map(one_line, classes)) if len(classes) <= CLASSES else f"{len(classes)}",
        "model": read if model.form == read else f"{one_line(model.form)} ({read})",
        "λ": f"{model.scale:g}",
        "scores": SCORES.get(facts.scores, one_line(facts.scores)),
    }


def type_rows(facts: AnalysisFacts) -> list[TypeRow]:
    return [
        TypeRow(
            one_line(kind.name),
            f"{kind.count:,}",
            signed(mean(kind.polarity)),
            signed(mean(kind.attention)),
            weight(mean(kind.weight)),
        )
        for kind in facts.types
    ]


def strongest_words(facts: AnalysisFacts, most: int) -> dict[str, list[WordRow]]:
    """The first words of each class, with their polarity for that class."""
    return {
        name: [word_row(word, polarity_for(word, facts.classes.index(name))) for word in words[:most]]
        for name, words in facts.words.items()
    }


def word_row(word: Token, polarity: float | None) -> WordRow:
    scores = signed(polarity), signed(word.attention), weight(word.weight)
    return WordRow(one_line(word.token), *scores, f"{word.count:,}")


def polarity_for(word: Token, k: int) -> float | None:
    """The one score of two classes; of more, the score of class k minus the mean of the others."""
    if word.by_class is None:
        return word.polarity
    others = [score for index, score in enumerate(word.by_class) if index != k]
    return word.by_class[k] - fmean(others)


def output_rows(facts: AnalysisFacts) -> list[OutputRow]:
    """One output for two classes, otherwise one per class."""
    vtw, names = facts.vtw, facts.classes
    if vtw is None:
        return []
    if len(vtw.values) == 1:
        names = (" → ".join(names),)
    columns = zip(names, vtw.values, vtw.products, vtw.cosines, vtw.norms_w, strict=True)
    return [
        OutputRow(one_line(name), signed(value), signed(product), signed(cosine), f"{norm:.3g}")
        for name, value, product, cosine, norm in columns
    ]


def mean(box: Box | None) -> float | None:
    return None if box is None else box.mean


def print_analysis(facts: AnalysisFacts, console: Console) -> None:
    for number, part in enumerate(analysis_tables(facts)):
        if number:
            console.print()
        console.print(part, highlight=False)


def analysis_tables(facts: AnalysisFacts) -> list[RenderableType]:
    """What is printed, in order. Text objects everywhere: a class or a word may be called "[bold]"."""
    parts = [_header(facts), _types(facts), _words(facts), _separation(facts), _vtw(facts), _notes(facts)]
    return [part for part in parts if part is not None]


def _header(facts: AnalysisFacts) -> Text:
    head = header_facts(facts)
    line = Text()
    line.append(head["run"] or "a run", "bold")
    line.append(f" on {head['data']}, {head['texts']} texts; {head['model']}, λ = {head['λ']}; scores {head['scores']}")
    return line


def _types(facts: AnalysisFacts) -> Table:
    table = plain_table("token types and their mean scores")
    table.add_column("type", overflow="fold", min_width=4)
    for name in ("tokens", "polarity", "attention", "weight"):
        table.add_column(name, justify="right", overflow="fold", min_width=6)
    for row in type_rows(facts):
        table.add_row(*map(Text, astuple(row)))
    return table


def _words(facts: AnalysisFacts) -> RenderableType | None:
    listed = strongest_words(facts, WORDS)
    if not listed:
        return None
    unit = unit_name(facts)
    if len(listed) > TABLES:
        return _lines(listed, unit)
    return Columns([_class(name, words, unit) for name, words in listed.items()], padding=(0, 4))


def _class(name: str, words: Sequence[WordRow], unit: str) -> Table:
    table = plain_table(f"strongest {unit}s: {one_line(name)}")
    table.add_column(unit, overflow="fold", min_width=8)
    for heading in ("polarity", "attention"):
        table.add_column(heading, justify="right", no_wrap=True)
    for word in words:
        table.add_row(Text(word.token), Text(word.polarity), Text(word.attention))
    if not words:
        table.add_row(Text("none", style="dim"), "", "")
    return table


def _lines(listed: dict[str, list[WordRow]], unit: str) -> Table:
    table = plain_table(f"strongest {unit}s, with their polarity")
    table.add_column("class", overflow="fold")
    table.add_column(f"{unit}s", overflow="fold")
    for name, words in listed.items():
        cell = ", ".join(f"{word.token} {word.polarity}" for word in words) or "none"
        table.add_row(Text(one_line(name)), Text(cell))
    return table


def _separation(facts: AnalysisFacts) -> Text | None:
    separation = facts.separation
    if separation is None:
        return None
    line = Text()
    line.append("separation ", "dim")
    line.append(f"AUC {share(separation.auc)} ({between(separation.area)})", "bold")
    line.append(f": attention of {separation.tied:,} tokens of a class against {separation.neutral:,} neutral ones")
    for one in separation.by_type if len(separation.by_type) <= TABLES else ():
        line.append(f"; {one_line(one.name)} {share(one.auc)} ({between(one.area)})")
    line.append(f"\n{one_line(separation.meaning)}")
    return line


def _vtw(facts: AnalysisFacts) -> Text | None:
    rows = output_rows(facts)
    if facts.vtw is None or not rows:
        return None
    line = Text()
    line.append("VᵀW·λ ", "dim")
    values = [one.product if len(rows) == 1 else f"{one.name} {one.product}" for one in rows]
    line.append(", ".join(values), "bold")
    if len(rows) == 1:
        line.append(f" (VᵀW {rows[0].vtw}, cosine {rows[0].cosine})")
    line.append(f"\n{one_line(facts.vtw.meaning)}")
    return line


def _notes(facts: AnalysisFacts) -> Text | None:
    notes = [f"note: {one_line(note)}" for note in facts.notes]
    return Text("\n".join(notes), style="dim") if notes else None
