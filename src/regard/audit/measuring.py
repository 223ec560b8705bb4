"""The measures of `regard.faithfulness` for several explainers, and how much each differs from the audited one.

Differences are paired by text, with Holm's correction over all comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from regard.audit.erasure_checks import (
    Attributions,
    Lacking,
    emptiness_facts,
    known,
    limit_facts,
    measured_limits,
    with_normalised,
)
from regard.audit.intervals import finite, interval_of, mean_interval, paired_difference
from regard.facts.audit import Agreement, ExplainerPlausibility, Plausibility
from regard.facts.faithfulness import Comparison, Faithfulness, Lead, MeasureCurve
from regard.facts.intervals import Interval
from regard.faithfulness import plausibility
from regard.faithfulness.agreement import agreement
from regard.faithfulness.curves import MEASURES, NEED_LABELS, Curve
from regard.faithfulness.intervals import holm
from regard.faithfulness.judged import Judged, judge_erased
from regard.faithfulness.judging import Judge
from regard.faithfulness.marking import marked
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.ranking import Cut
from regard.records import Span
from regard.report.names import COMPARED, MAIN

Doubles = NDArray[np.float64]
CUTS = tuple(Cut(share, True) for share in (0.05, 0.1, 0.2, 0.3, 0.5))
SMALLER = ("accuracy_after", "sufficiency")  # measures of which smaller is better
KEPT = 0.8  # the share of the best alternative's lead over random words that an explainer must keep
OVERLAP = 5  # top words


def faithfulness(
    judge: Judge,
    attributions: Attributions,
    focus: str,
    rivals: Sequence[str],
    cuts: Sequence[Cut],
    seed: int,
    lacking: Lacking,
) -> tuple[Faithfulness, Doubles]:
    """Curves, comparisons and the lead over random words; and the judge's answers to the whole texts, (texts, classes)."""
    judged = judge_erased(judge, attributions, cuts, seed=seed)
    taken = [name for name in MEASURES if has_labels(judged) or name not in NEED_LABELS]
    curves = {name: curves_of(judged, name, lacking) for name in taken}
    # by measure and explainer, (texts,)
    means = {
        name: {who: curve.values.mean(1) for who, curve in by_explainer.items()}
        for name, by_explainer in curves.items()
    }
    limits = measured_limits(judge, attributions[focus], judged[focus].cuts, means, seed)
    facts = Faithfulness(
        how=judged[focus].how,
        cuts=tuple(str(cut) for cut in judged[focus].cuts),
        curves=tuple(
            with_normalised(measure_curve(name, who, curve, seed), limits, means[name][who], seed)
            for name, by_explainer in curves.items()
            for who, curve in by_explainer.items()
        ),
        comparisons=comparisons(means, focus, seed),
        lead=lead(means[MAIN], focus, rivals, seed),
        limits=limit_facts(limits, seed),
        emptiness=emptiness_facts(judge, judged, lacking, seed),
    )
    return facts, judged[focus].before


def curves_of(judged: Mapping[str, Judged], measure: str, lacking: Lacking) -> dict[str, Curve]:
    curves = {who: MEASURES[measure](one) for who, one in judged.items()}
    return {who: replace(curve, values=known(curve.values, lacking, who)) for who, curve in curves.items()}


def has_labels(judged: Mapping[str, Judged]) -> bool:
    return bool((next(iter(judged.values())).labels >= 0).all())


def measure_curve(measure: str, who: str, curve: Curve, seed: int) -> MeasureCurve:
    return MeasureCurve(
        measure=measure,
        explainer=who,
        better="smaller" if measure in SMALLER else "larger",
        values=tuple(interval_of(one) for one in curve.intervals(seed=seed)),
        mean=mean_interval(curve.values.mean(1), seed),
    )


def comparisons(means: Mapping[str, Mapping[str, Doubles]], focus: str, seed: int) -> tuple[Comparison, ...]:
    """The focus minus each other, by the mean over the cut-offs."""
    uncorrected = [
        Comparison(name, focus, who, paired_difference(by_explainer[focus], values, seed))
        for name, by_explainer in means.items()
        if name in COMPARED
        for who, values in by_explainer.items()
        if who != focus
    ]
    corrected = holm([np.nan if one.difference.p is None else one.difference.p for one in uncorrected])
    return tuple(replace(one, holm=finite(p)) for one, p in zip(uncorrected, corrected, strict=True))


def lead(means: Mapping[str, Doubles], focus: str, rivals: Sequence[str], seed: int) -> Lead | None:
    """focus − random − KEPT × (best alternative − random): not below 0 if the focus keeps that share of its lead."""
    candidates = [name for name in rivals if name in means and name != focus]
    if not candidates:
        return None
    best = max(candidates, key=lambda name: float(np.nanmean(means[name])))
    random, focused, rival = means[RANDOM], means[focus], means[best]
    return Lead(
        measure=MAIN,
        kept=KEPT,
        best=best,
        own_lead=mean_interval(focused - random, seed),
        best_lead=mean_interval(rival - random, seed),
        contrast=mean_interval(focused - random - KEPT * (rival - random), seed),
    )


def agreements(attributions: Attributions, seed: int, lacking: Lacking) -> tuple[Agreement, ...]:
    """Of every two, by the absolute values of their scores: attention has no sign to agree with."""
    sized = {
        name: [one._replace(scores=np.abs(np.asarray(one.scores, dtype=np.float64))) for one in scored]
        for name, scored in attributions.items()
    }
    return tuple(agreement_of(sized, pair, seed, lacking) for pair in combinations(sized, 2))


def agreement_of(sized: Attributions, pair: tuple[str, str], seed: int, lacking: Lacking) -> Agreement:
    one, other = pair
    values = agreement(sized[one], sized[other], [OVERLAP])

    def mean(by_text: Doubles) -> Interval:
        return mean_interval(known(by_text, lacking, one, other), seed)

    return Agreement(
        one=one,
        other=other,
        tau=mean(values.tau),
        divergence=mean(values.divergence),
        overlap=mean(values.overlap.values[:, 0]),
        overlap_by_chance=mean(values.random_overlap.values[:, 0]),
    )


def plausibilities(
    attributions: Attributions, evidence: Sequence[Sequence[Span]], focus: str, seed: int, lacking: Lacking
) -> Plausibility | None:
    """Against the words that people marked, in the texts that have any; None if none has."""
    gold = marked(attributions[focus], evidence)
    chosen = [row for row, marks in enumerate(gold) if marks.any()]
    if not chosen:
        return None
    marks = [evidence[row] for row in chosen]
    measured = {
        name: plausibility.against_rationales([scored[row] for row in chosen], marks)
        for name, scored in attributions.items()
    }
    lacks = {name: where[chosen] for name, where in lacking.items()}
    focused = measured[focus]
    random = ExplainerPlausibility(
        RANDOM, mean_interval(focused.random_auprc, seed), mean_interval(focused.random_tokens.f.values[:, 0], seed)
    )
    return Plausibility(
        texts=len(chosen),
        share=finite(focused.share),
        base_rate=mean_interval(focused.base_rate, seed),
        explainers=(*(explainer_plausibility(name, one, seed, lacks) for name, one in measured.items()), random),
        above_chance=paired_difference(focused.auprc, focused.random_auprc, seed),
    )


def explainer_plausibility(
    name: str, one: plausibility.Plausibility, seed: int, lacking: Lacking
) -> ExplainerPlausibility:
    auprc, f = (known(values, lacking, name) for values in (one.auprc, one.tokens.f.values[:, 0]))
    return ExplainerPlausibility(name, mean_interval(auprc, seed), mean_interval(f, seed))
