"""The comparisons of a table: differences with intervals and p-values, corrected over all of them, beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from regard_lab.measures import shown, signed, value_of
from regard_lab.rows import Place, Row
from regard_lab.statistics import Paired, holm, paired
from regard_lab.tables.table import Compare, Table


@dataclass(frozen=True)
class Comparison:
    """One test, with its numbers and as it is written."""

    method: str
    against: str
    corpus: str
    measure: str
    setting: str
    found: Paired
    holm: float | None
    words: tuple[str, ...]  # one for each of HEADS


HEADS = ("method", "against", "corpus", "measure", "seeds", "difference", "p", "p (Holm)", "p (Wilcoxon)", "paper")


def compare_all(table: Table, rows: Mapping[Place, Sequence[Row]]) -> tuple[Comparison, ...]:
    made = [one for wish in table.compare for one in compare(table, wish, rows)]
    corrected = holm([one.found.p for one in made])
    return tuple(
        replace(one, holm=p, words=(*one.words[:7], written(p), *one.words[8:]))
        for one, p in zip(made, corrected, strict=True)
    )


def compare(table: Table, wish: Compare, rows: Mapping[Place, Sequence[Row]]) -> Iterator[Comparison]:
    """A wish on every corpus, measure and setting that it names and that both have results of."""
    pairs = [(wish.setting, wish.against_setting)] if wish.setting is not None else [(x, x) for x in table.settings]
    for corpus in wish.corpora or table.corpora:
        measures = [name for name in table.corpora[corpus].measures if not wish.measures or name in wish.measures]
        for name in measures:
            if not wish.measures and not table.measure(name).better:
                continue
            for own, other in pairs:
                one, two = (wish.method, corpus, own or ""), (wish.against, corpus, other or "")
                found = paired(by_seed(rows.get(one, ()), name), by_seed(rows.get(two, ()), name))
                if found is not None:
                    yield told(table, one, two, name, found)


def by_seed(rows: Sequence[Row], measure: str) -> dict[int, float]:
    return {row["seed"]: value for row in rows if (value := value_of(row, measure)) is not None}


def told(table: Table, one: Place, two: Place, name: str, found: Paired) -> Comparison:
    measure = table.measure(name)
    half = f" ± {shown(found.difference.half, measure)}" if found.difference.half is not None else ""
    printed = [table.printed_value(place, name) for place in (one, two)]
    paper = printed[0] - printed[1] if printed[0] is not None and printed[1] is not None else None
    words = (
        table.title_of(one),
        table.title_of(two),
        table.corpora[one[1]].title,
        measure.title,
        str(found.difference.n),
        signed(found.difference.mean, measure) + half,
        written(found.p),
        "",
        written(found.wilcoxon),
        signed(paper, measure) if paper is not None else "",
    )
    return Comparison(one[0], two[0], one[1], name, one[2], found, None, words)


def written(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
