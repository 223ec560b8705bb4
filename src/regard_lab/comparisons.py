"""The comparisons of a table: differences with intervals and corrected p-values, next to those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from regard_lab.measures import shown, signed, value_of
from regard_lab.over_texts import OverTexts, compare_over_texts
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import Paired, holm, paired
from regard_lab.tables.table import Compare, Table


@dataclass(frozen=True)
class Comparison:
    """One test: its numbers, and the texts of its row."""

    method: str
    against: str
    corpus: str
    measure: str
    setting: str
    test: Paired
    holm: float | None
    words: tuple[str, ...]  # one per entry of `heads_of`
    over_texts: OverTexts | None = None  # if both methods have predictions


HEADS = ("method", "against", "corpus", "measure", "seeds", "difference", "p", "p (Holm)", "p (Wilcoxon)", "paper")
TEXT_HEADS = ("over texts too", "p (McNemar)")


def compare_all(table: Table, rows: Mapping[CellKey, Sequence[Row]]) -> tuple[Comparison, ...]:
    comparisons = [comparison for spec in table.compare for comparison in compare(table, spec, rows)]
    corrected = holm([comparison.test.p for comparison in comparisons])
    further = any(comparison.over_texts is not None for comparison in comparisons)
    return tuple(
        replace(
            comparison,
            holm=p,
            words=(
                *comparison.words[:7],
                p_text(p),
                *comparison.words[8:],
                *(words_over_texts(table, comparison) if further else ()),
            ),
        )
        for comparison, p in zip(comparisons, corrected, strict=True)
    )


def heads_of(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """The heads of the columns; those over texts only if some comparison has predictions."""
    return HEADS + TEXT_HEADS if any(one.over_texts is not None for one in comparisons) else HEADS


def words_over_texts(table: Table, comparison: Comparison) -> tuple[str, str]:
    result, measure = comparison.over_texts, table.measure(comparison.measure)
    if result is None:
        return "", ""
    fewer = f" ({result.seeds} seeds)" if result.seeds < comparison.test.difference.n else ""
    interval = f"{signed(result.low, measure)} … {signed(result.high, measure)}{fewer}"
    return interval, "" if result.discordant is None else p_text(result.discordant.p)


def compare(table: Table, spec: Compare, rows: Mapping[CellKey, Sequence[Row]]) -> Iterator[Comparison]:
    """One [[compare]] on every corpus, measure and setting that it names, where both sides have results."""
    pairs = [(spec.setting, spec.against_setting)] if spec.setting is not None else [(x, x) for x in table.settings]
    for corpus in spec.corpora or table.corpora:
        measures = [name for name in table.corpora[corpus].measures if not spec.measures or name in spec.measures]
        for name in measures:
            if not spec.measures and not table.measure(name).better:
                continue
            for setting, against_setting in pairs:
                first, second = (spec.method, corpus, setting or ""), (spec.against, corpus, against_setting or "")
                both = rows.get(first, ()), rows.get(second, ())
                test = paired(by_seed(both[0], name), by_seed(both[1], name))
                if test is not None:
                    over_texts = compare_over_texts(*both, name)
                    yield replace(describe(table, first, second, name, test), over_texts=over_texts)


def by_seed(rows: Sequence[Row], measure: str) -> dict[int, float]:
    return {row["seed"]: value for row in rows if (value := value_of(row, measure)) is not None}


def describe(table: Table, first: CellKey, second: CellKey, name: str, test: Paired) -> Comparison:
    measure = table.measure(name)
    half = f" ± {shown(test.difference.half, measure)}" if test.difference.half is not None else ""
    printed = [table.printed_value(cell_key, name) for cell_key in (first, second)]
    paper = printed[0] - printed[1] if printed[0] is not None and printed[1] is not None else None
    words = (
        table.title_of(first),
        table.title_of(second),
        table.corpora[first[1]].title,
        measure.title,
        str(test.difference.n),
        signed(test.difference.mean, measure) + half,
        p_text(test.p),
        "",
        p_text(test.wilcoxon),
        signed(paper, measure) if paper is not None else "",
    )
    return Comparison(first[0], second[0], first[1], name, first[2], test, None, words)


def p_text(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
