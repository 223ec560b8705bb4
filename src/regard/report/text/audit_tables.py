"""The tables of an audit: every number that a sentence of its verdict rests on, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard.facts.audit import (
    Adversary,
    Agreement,
    AuditFacts,
    Correlation,
    Diagnostics,
    Guided,
    OtherSeeds,
    Permutation,
    Plausibility,
    Retrained,
    TrainedAdversary,
    UniformWeights,
    WordDropout,
)
from regard.facts.faithfulness import Faithfulness
from regard.facts.separation import Separation
from regard.report.names import COMPARED, JUDGES, MAIN, explainer_name, measure_name
from regard.report.text.characters import one_line
from regard.report.text.erasure_tables import erasure_tables
from regard.report.text.exported import Table
from regard.report.text.intervals import DASH, p_value, span_or_dash
from regard.report.text.numbers import written

OVER = "mean with its 95 % interval"
CHECKS = {
    "inside": "the model's attention weights were accessible",
    "enough": "there are enough texts for a verdict",
    "above_chance": "removing its top words lowers probabilities clearly more than removing random words",
    "below_chance": "removing its top words lowers probabilities clearly less than removing random words",
    "keeps_up": "it keeps enough of the best alternative’s lead over random words",
    "falls_behind": "it falls behind the best alternative",
    "all_weights": "the weights that were permuted are all that the model has",
    "moves": "permuting the weights changes predictions",
    "still": "permuting the weights leaves predictions unchanged",
    "even": "the weights hardly vary",
    "below_neutral": "words of a class have clearly lower scores than neutral words",
}


def audit_tables(facts: AuditFacts) -> dict[str, Table]:
    """Tables by name, of what the audit contains."""
    tables = {
        "explainers": measures_table(facts.faithfulness),
        "comparisons": comparisons_table(facts.faithfulness),
        **erasure_tables(facts.faithfulness),
        "agreement": agreement_table(facts.agreement),
        **diagnostic_tables(facts.diagnostics),
        "separation": None if facts.separation is None else separation_table(facts.separation),
        "plausibility": None if facts.plausibility is None else plausibility_table(facts.plausibility),
        "model": model_table(facts),
        "checks": checks_table(facts.verdict.checks),
    }
    return {name: table for name, table in tables.items() if table is not None and table.rows}


def diagnostic_tables(facts: Diagnostics) -> dict[str, Table | None]:
    return {
        "correlation": None if facts.correlation is None else correlation_table(facts.correlation),
        "permutation": None if facts.permutation is None else permutation_table(facts.permutation),
        "adversary": None if facts.adversary is None else adversary_table(facts.adversary),
        "even": None if facts.even is None else even_table(facts.even),
        "seeds": None if facts.seeds is None else seeds_table(facts.seeds),
        "guided": None if facts.guided is None else guided_table(facts.guided),
        "trained_adversary": None if facts.trained_adversary is None else trained_table(facts.trained_adversary),
        "word_dropout": None if facts.word_dropout is None else dropout_table(facts.word_dropout),
    }


def measures_table(facts: Faithfulness) -> Table:
    """A row per explainer: means over the cut-offs."""
    by = {(one.explainer, one.measure): one for one in facts.curves}
    names = [name for name in COMPARED if any(measure == name for _, measure in by)]
    arrows = {one.measure: "↓" if one.better == "smaller" else "↑" for one in facts.curves}
    rows = [
        (explainer_name(who), *(span_or_dash(by[who, name].mean) if (who, name) in by else DASH for name in names))
        for who in dict.fromkeys(who for who, _ in by)
    ]
    head = ("explainer", *(f"{measure_name(name)} {arrows[name]}" for name in names))
    cuts = ", ".join(facts.cuts)
    caption = f"Means over cut-offs of {cuts} of the words, with 95 % intervals; ↑ larger is better, ↓ smaller"
    return Table(caption, head, rows)


def comparisons_table(facts: Faithfulness) -> Table:
    """The focus of the audit against every other explainer."""
    rows = [
        (
            measure_name(one.measure),
            f"{explainer_name(one.one)} minus {explainer_name(one.other)}",
            span_or_dash(one.difference),
            p_value(one.difference.p),
            p_value(one.holm),
        )
        for one in sorted(facts.comparisons, key=lambda one: COMPARED.index(one.measure))
        if one.difference.mean is not None
    ]
    return Table("Differences, paired by text", ("measure", "difference", OVER, "p", "p (Holm)"), rows)


def agreement_table(facts: Sequence[Agreement]) -> Table:
    rows = [
        (
            f"{explainer_name(one.one)}, {explainer_name(one.other)}",
            *map(span_or_dash, (one.tau, one.divergence, one.overlap, one.overlap_by_chance)),
        )
        for one in facts
    ]
    head = ("explainers", "Kendall’s τ", "Jensen–Shannon", "top words in common", "of random words")
    return Table("Pairwise agreement, by the absolute values of the scores", head, rows)


def correlation_table(facts: Mapping[str, Correlation]) -> Table:
    rows = [
        (explainer_name(name), span_or_dash(one.tau), written(one.deviation), span_or_dash(one.significant))
        for name, one in facts.items()
    ]
    head = ("with", "τ", "standard deviation", "fraction of texts with p < 0.05")
    return Table("Kendall’s τ over texts", head, rows)


def permutation_table(facts: Permutation) -> Table:
    named = (
        (f"change in predictions with permuted weights (median of {facts.draws})", facts.moved),
        ("change in predictions with uniform weights", facts.evened),
        ("largest weight of a text", facts.largest),
        ("distance of the weights from uniform", facts.uneven),
    )
    rows = [(name, span_or_dash(one), written(one.n)) for name, one in named]
    rows += [
        (
            f"change in predictions where the largest weight is {group.low:g} to {group.high:g}",
            written(group.moved),
            f"{group.n:,}",
        )
        for group in facts.by_largest
    ]
    return Table("Total variation distances", ("quantity", OVER, "texts"), rows)


def adversary_table(facts: Adversary) -> Table:
    rows = [
        ("divergence from the model’s weights", span_or_dash(facts.divergence)),
        ("distance of the predictions", span_or_dash(facts.distance)),
        ("fraction of texts where it is more than half of the maximum", span_or_dash(facts.far)),
    ]
    if facts.far_of_possible is not None:
        rows.append(("the same among texts where any weights are that far away", span_or_dash(facts.far_of_possible)))
    rows += [
        ("the maximum", written(facts.largest)),
        ("method", "exact" if facts.exact else "search, so a lower bound"),
    ]
    return Table(f"Farthest weights that keep predictions within {facts.epsilon:g}", ("quantity", OVER), rows)


def even_table(facts: UniformWeights) -> Table:
    rows = [
        ("accuracy with attention", span_or_dash(facts.attention), ""),
        ("accuracy with uniform weights", span_or_dash(facts.even), ""),
        ("difference", span_or_dash(facts.difference), p_value(facts.difference.p)),
    ]
    return Table(trained_on("Retrained", facts.retrained), ("quantity", OVER, "p"), rows)


def seeds_table(facts: OtherSeeds) -> Table:
    rows = [(f"seed {number}", span_or_dash(one)) for number, one in enumerate(facts.by_seed, 1)]
    rows += [("mean over the seeds", span_or_dash(facts.divergence))]
    rows += [("accuracies, starting with the first seed", ", ".join(map(written, facts.accuracy)))]
    return Table(
        trained_on("Divergence of attention from that of the first seed", facts.retrained), ("quantity", OVER), rows
    )


def guided_table(facts: Guided) -> Table:
    less_even, less_learned = facts.guided_less_even, facts.guided_less_learned
    rows = [
        ("accuracy with the run’s attention", span_or_dash(facts.guided), ""),
        ("accuracy with uniform weights", span_or_dash(facts.even), ""),
        ("accuracy with learned weights", span_or_dash(facts.learned), ""),
        ("attention minus uniform weights", span_or_dash(less_even), p_value(less_even.p)),
        ("attention minus learned weights", span_or_dash(less_learned), p_value(less_learned.p)),
    ]
    return Table(trained_on("A model that sees each word alone", facts.retrained), ("quantity", OVER, "p"), rows)


def trained_table(facts: TrainedAdversary) -> Table:
    rows = [
        (
            f"{point.factor:g}",
            span_or_dash(point.distance),
            span_or_dash(point.divergence),
            DASH if point.accuracy is None else span_or_dash(point.accuracy),
        )
        for point in facts.points
    ]
    head = ("λ", "distance of predictions (TVD)", "divergence of attention (JSD)", "accuracy")
    caption = f"Models trained to attend elsewhere, on {facts.learned_from:,} texts for {epoch_count(facts.epochs)}"
    return Table(caption, head, rows)


def dropout_table(facts: WordDropout) -> Table:
    """A column per judge: what each explainer reaches, and how far it is from random words."""
    judges = {one.name: {(each.measure, each.explainer): each for each in one.measured} for one in facts.judges}
    rows: list[tuple[str, ...]] = []
    for measure, who in next(iter(judges.values()), {}):
        name = f"{measure_name(measure)} {'↑' if measure == MAIN else '↓'}, {explainer_name(who)}"
        measured = [by.get((measure, who)) for by in judges.values()]
        rows.append((name, *(DASH if one is None else span_or_dash(one.mean) for one in measured)))
        less = [None if one is None else one.less_random for one in measured]
        if any(less):
            rows.append((f"{name} minus random", *(DASH if one is None else span_or_dash(one) for one in less)))
    for one in facts.accuracies:
        texts = "whole texts" if one.texts == "whole" else "texts with words dropped"
        rows.append((f"accuracy on {texts}", DASH, span_or_dash(one.plain), span_or_dash(one.dropout)))
        rows.append((f"accuracy on {texts}, with minus without word dropout", DASH, DASH, span_or_dash(one.difference)))
    rows.append(
        ("fraction of texts with the audited model’s prediction", *(span_or_dash(x.same) for x in facts.judges))
    )
    caption = trained_on(
        f"The same scores and three judges ({facts.copies:,} copies with words dropped)", facts.retrained
    )
    return Table(caption, ("quantity", *(JUDGES.get(name, one_line(name)) for name in judges)), rows)


def separation_table(facts: Separation) -> Table:
    rows = [("any class", span_or_dash(facts.area))]
    rows += [(one_line(one.name), span_or_dash(one.area)) for one in facts.by_type]
    caption = f"{facts.tied:,} tokens of a class against {facts.neutral:,} neutral ones"
    return Table(caption, ("words of", "AUC"), rows)


def plausibility_table(facts: Plausibility) -> Table:
    rows = [(explainer_name(one.name), span_or_dash(one.auprc), span_or_dash(one.f)) for one in facts.explainers]
    rows += [("fraction of words that people marked", span_or_dash(facts.base_rate), "")]
    return Table(f"{facts.texts:,} texts have words that people marked", ("explainer", "AUPRC", "token F1"), rows)


def model_table(facts: AuditFacts) -> Table:
    """The audited model, and the cost of each explanation."""
    model, rows = facts.model, list[tuple[str, ...]]()
    if model is not None:
        named = {"encoder": model.encoder, "pooling": model.pooling, "levels": model.levels}
        named |= {"attention": model.attention, "λ": model.scale}
        rows += [(name, one_line(value)) for name, value in named.items()]
        if model.head_hidden:
            rows.append(("head", "with a hidden layer"))
    rows += [
        (f"passes over a text for {explainer_name(one.name)}", f"{one.forward:g} forward, {one.backward:g} backward")
        for one in facts.explainers
        if one.forward is not None
    ]
    return Table("The model, and the cost of explaining a text", ("property", "value"), rows)


def checks_table(checks: Mapping[str, bool | None]) -> Table:
    results = {True: "yes", False: "no evidence", None: "not tested"}
    rows = [(CHECKS.get(name, one_line(name)), results[value]) for name, value in checks.items()]
    return Table(
        "“Yes” only if a whole 95 % interval supports it; “clearly” means by more than 0.01 (for an area: 0.05)",
        ("check", "result"),
        rows,
    )


def trained_on(what: str, facts: Retrained) -> str:
    epochs = epoch_count(facts.epochs)
    return f"{what}: trained on {facts.learned_from:,} texts for {epochs}, evaluated on {facts.judged_on:,}"


def epoch_count(epochs: int) -> str:
    return f"{epochs} epoch{'s' * (epochs != 1)}"
