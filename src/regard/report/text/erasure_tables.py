"""Tables of what puts the measures of erased texts into perspective: limits, texts that look empty, and wrong signs."""

from __future__ import annotations

from collections.abc import Sequence

from regard.facts.faithfulness import Emptiness, Faithfulness, LimitSearch, MeasureCurve, SignCheck
from regard.report.names import explainer_name, measure_name
from regard.report.text.exported import Table
from regard.report.text.intervals import DASH, span_or_dash


def erasure_tables(facts: Faithfulness) -> dict[str, Table | None]:
    return {
        **({} if facts.limits is None else limits_tables(facts.limits, facts.curves)),
        "emptiness": None if facts.emptiness is None else emptiness_table(facts.emptiness),
        "signs": None if facts.signs is None else signs_table(facts.signs),
    }


def limits_tables(facts: LimitSearch, curves: Sequence[MeasureCurve]) -> dict[str, Table]:
    """One per measure, of where each explainer lies between its limits."""
    longer = facts.texts - facts.exact
    how = [f"all rankings of {facts.exact:,} texts of at most {facts.exact_words} words"] if facts.exact else []
    how += [f"a beam search of width {facts.width} for {longer:,} longer texts"] if longer else []
    searched = f"limits from {' and '.join(how) or 'no text'}, which took {facts.questions:,} predictions"
    tables = {}
    for one in facts.measures:
        measured = [curve for curve in curves if curve.measure == one.measure]
        rows = [
            (
                explainer_name(each.explainer),
                span_or_dash(each.mean),
                DASH if each.normalised is None else span_or_dash(each.normalised),
            )
            for each in measured
        ]
        ends = (("upper limit", span_or_dash(one.upper), "1"), ("lower limit", span_or_dash(one.lower), "0"))
        better = next((curve.better for curve in measured), "larger")
        caption = f"{measure_name(one.measure).capitalize()}, {better} is better; {searched}"
        head = ("explainer", "mean over cut-offs", "normalised")
        tables[f"limits_{one.measure}"] = Table(caption, head, [ends[0], *rows, ends[1]])
    return tables


def emptiness_table(facts: Emptiness) -> Table:
    rows = [("whole texts", span_or_dash(facts.whole), DASH)]
    rows += [(explainer_name(one.name), span_or_dash(one.deleted), span_or_dash(one.kept)) for one in facts.explainers]
    caption = f"Fraction of texts with the prediction of an empty text, within {facts.tolerance:g} in total variation"
    return Table(caption, ("explainer", "without its top words", "with only its top words"), rows)


def signs_table(facts: SignCheck) -> Table:
    rows = [
        (
            explainer_name(one.name) + (" (shown by default)" if one.default else ""),
            f"{one.marked:,}",
            f"{one.raised:,}",
            span_or_dash(one.share),
            span_or_dash(one.top),
        )
        for one in facts.explainers
    ]
    caption = (
        f"Words marked as evidence for the prediction whose removal raises its log-odds by more than {facts.tolerance:g}: "
        f"{facts.words:,} words of {facts.texts:,} texts, each removed alone"
    )
    head = ("explainer", "words for", "raising it", "fraction per text", "of texts, its top word")
    return Table(caption, head, rows)
