"""An audit in the terminal: the measures of each explainer, the diagnostics, and the verdict as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.facts.audit import AuditFacts, Diagnostics
from regard.facts.faithfulness import Faithfulness
from regard.report.names import COMPARED, JUDGES, MAIN, audited_name, explainer_name, measure_name
from regard.report.text.characters import one_line
from regard.report.text.intervals import DASH, mean_or_dash, percent, span
from regard.report.text.tables import plain_table

NORMALISED = "normalised"  # between the limits of the main measure
SHORT = {
    MAIN: "comprehens.",
    NORMALISED: "norm.",
    "sufficiency": "suffic.",
    "accuracy_fall": "acc. drop",
    "post_hoc": "post hoc",
}


def print_audit(facts: AuditFacts, console: Console) -> None:
    console.print(header(facts), highlight=False)
    for part in (measures(facts.faithfulness), diagnostics(facts)):
        console.print()
        console.print(part, highlight=False)
    console.print()
    verdict = facts.verdict
    console.print(Text(one_line(verdict.title), style="bold"))
    kinds = {"can be read as": verdict.may, "cannot be read as": verdict.may_not, "what to change": verdict.change}
    for heading, reasons in kinds.items():
        if reasons:
            console.print(Text(heading, style="dim"))
        for reason in reasons:
            console.print(Text(f"  · {one_line(reason.text)}"), highlight=False)
    for one in facts.left_out:
        console.print(Text(one_line(f"left out: {audited_name(one.what)} ({one.why})"), style="dim"), highlight=False)
    for note in facts.notes:
        console.print(Text(one_line(f"note: {note}"), style="dim"), highlight=False)


def header(facts: AuditFacts) -> Text:
    line = Text(one_line(facts.run or facts.focus), style="bold")
    where = f" on {one_line(facts.data or 'texts')}, {facts.texts} texts; erasing by {facts.faithfulness.how}"
    line.append(where, "not bold")
    return line


def measures(facts: Faithfulness) -> Table:
    """Means over the cut-offs: the main measure with its interval, which all of them have in audit.json."""
    table = plain_table(f"means over cut-offs of {', '.join(facts.cuts)} of the words, with 95 % intervals")
    rows: dict[str, dict[str, str]] = {}
    for curve in facts.curves:
        cell = span(curve.mean) if curve.measure == MAIN else mean_or_dash(curve.mean)
        if curve.measure == MAIN and curve.normalised is not None:
            rows.setdefault(curve.explainer, {})[NORMALISED] = mean_or_dash(curve.normalised)
        rows.setdefault(curve.explainer, {})[curve.measure] = cell
    shown = (MAIN, NORMALISED, *COMPARED[1:])
    columns = [name for name in shown if any(name in cells for cells in rows.values())]
    table.add_column("explainer")
    arrows = {curve.measure: "↑" if curve.better == "larger" else "↓" for curve in facts.curves}
    for name in columns:
        table.add_column(f"{SHORT.get(name, name)} {arrows.get(name, '↑')}", justify="right")
    for who, cells in rows.items():
        table.add_row(*map(Text, (explainer_name(who), *(cells.get(name, DASH) for name in columns))))
    return table


def diagnostics(facts: AuditFacts) -> Table:
    table = plain_table("diagnostics")
    table.add_column("quantity")
    table.add_column("value", justify="right")
    erased, diagnosed = facts.faithfulness, facts.diagnostics
    for row in (*erasure_rows(erased, facts.focus), *weight_rows(diagnosed), *trained_rows(diagnosed, facts.focus)):
        table.add_row(*map(Text, row))
    if facts.separation is not None:
        table.add_row(Text("separation of words of a class (AUC)"), Text(span(facts.separation.area)))
    if facts.plausibility is not None:
        table.add_row(Text("AUPRC above random words"), Text(span(facts.plausibility.above_chance)))
    return table


def erasure_rows(facts: Faithfulness, focus: str) -> Iterator[tuple[str, str]]:
    for limits in () if facts.limits is None else facts.limits.measures:
        lowest, highest = mean_or_dash(limits.lower), mean_or_dash(limits.upper)
        yield f"lowest and highest possible {measure_name(limits.measure)}", f"{lowest} to {highest}"
    for texts in () if facts.emptiness is None else facts.emptiness.explainers:
        if texts.name == focus:
            yield "erased texts with the prediction of an empty text", percent(texts.deleted)
            yield "  the same with only its top words", percent(texts.kept)
    for one in () if facts.signs is None else facts.signs.explainers:
        default = ", the default" if one.default else ""
        yield f"words “for” that hold the prediction back ({explainer_name(one.name)}{default})", percent(one.share)
        yield "  its top word does, in", percent(one.top)


def weight_rows(facts: Diagnostics) -> Iterator[tuple[str, str]]:
    """Of diagnostics after Jain & Wallace."""
    for name, one in (facts.correlation or {}).items():
        yield f"Kendall's τ with {explainer_name(name)}", span(one.tau)
        yield "  significant in", percent(one.significant)
    if (permuted := facts.permutation) is not None:
        yield "change in predictions with permuted weights", span(permuted.moved)
        yield "  with uniform weights", span(permuted.evened)
        yield "largest weight", span(permuted.largest)
        yield "distance of the weights from uniform", span(permuted.uneven)
    if (adversary := facts.adversary) is not None:
        how = "exactly" if adversary.exact else "by search"
        yield f"farthest weights with the same prediction, {how} (JSD)", span(adversary.divergence)
        yield "  more than half of log 2 in", percent(adversary.far)


def trained_rows(facts: Diagnostics, focus: str) -> Iterator[tuple[str, str]]:
    """Of diagnostics that train models."""
    if facts.even is not None:
        yield "accuracy with attention minus uniform weights", span(facts.even.difference)
    if facts.seeds is not None:
        yield f"attention of {facts.seeds.seeds} other seeds (JSD)", span(facts.seeds.divergence)
    if facts.guided is not None:
        yield "accuracy of a guided model minus uniform weights", span(facts.guided.guided_less_even)
    for point in () if facts.trained_adversary is None else facts.trained_adversary.points:
        yield f"adversary, λ = {point.factor:g}: TVD, JSD", f"{span(point.distance)}, {span(point.divergence)}"
    for judge in () if facts.word_dropout is None else facts.word_dropout.judges:
        if (lead := judge.less_random(MAIN, focus)) is not None:
            yield f"{measure_name(MAIN)} minus random, {JUDGES.get(judge.name, one_line(judge.name))}", span(lead)
