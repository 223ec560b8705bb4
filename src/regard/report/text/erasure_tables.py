"""Tables of what puts the measures of erased texts into perspective: limits, texts that look empty, and wrong signs."""

from __future__ import annotations

from collections.abc import Sequence

from regard.facts.faithfulness import Emptiness, Faithfulness, LimitSearch, MeasureCurve, SignCheck
from regard.report.names import explainer_name, measure_name
from regard.report.text.exported import Table
from regard.report.text.intervals import DASH, span_or_dash


def erasure_tables(facts: Faithfulness) -> dict[str, Table | None]:
    return {
        "limits": None if facts.limits is None else limits_table(facts.limits, facts.curves),
        "emptiness": None if facts.emptiness is None else emptiness_table(facts.emptiness),
        "signs": None if facts.signs is None else signs_table(facts.signs),
    }


def limits_table(facts: LimitSearch, curves: Sequence[MeasureCurve]) -> Table:
    """Where each explainer lies between the limits of a measure."""
    rows = []
    for one in facts.measures:
        name, ends = measure_name(one.measure), (span_or_dash(one.lower), span_or_dash(one.upper))
        rows += [
            (
                f"{name} of {explainer_name(curve.explainer)}",
                span_or_dash(curve.mean),
                *ends,
                span_or_dash(curve.normalised),
            )
            for curve in curves
            if curve.measure == one.measure and curve.normalised is not None
        ]
    longer = facts.texts - facts.exact
    how = [f"all rankings of {facts.exact:,} texts of at most {facts.exact_words} words"] if facts.exact else []
    how += [f"a beam search of width {facts.width} for {longer:,} longer ones"] if longer else []
    caption = (
        f"Lowest and highest mean that any ranking of words reaches: {' and '.join(how) or 'no text was searched'}, "
        f"{facts.questions:,} predictions. Normalised: 0 at the lower limit, 1 at the upper"
    )
    return Table(caption, ("measure", "all texts", "lower limit", "upper limit", "normalised"), rows)


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
