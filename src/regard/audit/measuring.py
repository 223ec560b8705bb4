"""The measures of `regard.faithfulness` side by side for several attributions, with what each differs by from the one in
question: paired by text, Holm's correction over all comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.audit.numbers import finite, told, told_difference, told_mean
from regard.faithfulness.agreement import agreement
from regard.faithfulness.curves import MEASURES, NEED_LABELS, Curve
from regard.faithfulness.intervals import holm
from regard.faithfulness.judged import Judged, judge_erased
from regard.faithfulness.judging import Judge
from regard.faithfulness.marking import marked
from regard.faithfulness.plausibility import Plausibility, against_rationales
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Scored
from regard.records import Span
from regard.report.names import COMPARED, MAIN

Doubles = NDArray[np.float64]
Attributions = Mapping[str, Sequence[Scored]]
Lacking = Mapping[str, NDArray[np.bool_]]  # by name, (texts,) True where scores only stand in for missing ones
CUTS = tuple(Cut(share, True) for share in (0.05, 0.1, 0.2, 0.3, 0.5))
SMALLER = ("accuracy_after", "sufficiency")  # of these measures, smaller is better
KEPT = 0.8  # of the best rival's lead over chance, which an attribution must keep
OVERLAP = 5  # top words


def faithfulness(
    judge: Judge,
    attributions: Attributions,
    focus: str,
    rivals: Sequence[str],
    cuts: Sequence[Cut],
    seed: int,
    lacking: Lacking,
) -> tuple[dict[str, Any], Doubles]:
    """Curves, comparisons and the lead over chance; and the judge's answers to the whole texts, (texts, classes)."""
    judged = judge_erased(judge, attributions, cuts, seed=seed)
    taken = [name for name in MEASURES if has_labels(judged) or name not in NEED_LABELS]
    curves = {name: curves_of(judged, name, lacking) for name in taken}
    # by measure and explainer, (texts,)
    means = {name: {who: curve.values.mean(1) for who, curve in own.items()} for name, own in curves.items()}
    found = {
        "how": judged[focus].how,
        "cuts": [str(cut) for cut in judged[focus].cuts],
        "curves": [told_curve(name, who, curve, seed) for name, own in curves.items() for who, curve in own.items()],
        "comparisons": comparisons(means, focus, seed),
        "lead": lead(means[MAIN], focus, rivals, seed),
    }
    return found, judged[focus].before


def curves_of(judged: Mapping[str, Judged], measure: str, lacking: Lacking) -> dict[str, Curve]:
    made = {who: MEASURES[measure](own) for who, own in judged.items()}
    return {who: replace(curve, values=known(curve.values, lacking, who)) for who, curve in made.items()}


def known(values: Doubles, lacking: Lacking, *names: str) -> Doubles:
    """(texts, …) with NaN where one of these has no scores."""
    for name in names:
        if name in lacking:
            values = values.copy()
            values[lacking[name]] = np.nan
    return values


def has_labels(judged: Mapping[str, Judged]) -> bool:
    return bool((next(iter(judged.values())).labels >= 0).all())


def told_curve(measure: str, who: str, curve: Curve, seed: int) -> dict[str, Any]:
    return {
        "measure": measure,
        "explainer": who,
        "better": "smaller" if measure in SMALLER else "larger",
        "values": [told(one) for one in curve.intervals(seed=seed)],
        "mean": told_mean(curve.values.mean(1), seed),  # over the cut-offs: ERASER's AOPC
    }


def comparisons(means: Mapping[str, Mapping[str, Doubles]], focus: str, seed: int) -> list[dict[str, Any]]:
    """The one in question less each other, by the mean over the cut-offs."""
    found = [
        {"measure": name, "one": focus, "other": who, **told_difference(own[focus], values, seed)}
        for name, own in means.items()
        if name in COMPARED
        for who, values in own.items()
        if who != focus
    ]
    corrected = holm([np.nan if one["p"] is None else one["p"] for one in found])
    return [{**one, "holm": finite(p)} for one, p in zip(found, corrected, strict=True)]


def lead(means: Mapping[str, Doubles], focus: str, rivals: Sequence[str], seed: int) -> dict[str, Any] | None:
    """own − chance − KEPT × (best rival − chance): not below 0 where it keeps that part of the rival's lead."""
    there = [name for name in rivals if name in means and name != focus]
    if not there:
        return None
    best = max(there, key=lambda name: float(np.nanmean(means[name])))
    chance, own, its = means[RANDOM], means[focus], means[best]
    return {
        "measure": MAIN,
        "kept": KEPT,
        "best": best,
        "own_lead": told_mean(own - chance, seed),
        "best_lead": told_mean(its - chance, seed),
        "contrast": told_mean(own - chance - KEPT * (its - chance), seed),
    }


def agreements(attributions: Attributions, seed: int, lacking: Lacking) -> list[dict[str, Any]]:
    """Of every two, by the sizes of their scores: attention has no sign to agree with."""
    sized = {
        name: [one._replace(scores=np.abs(np.asarray(one.scores, dtype=np.float64))) for one in scored]
        for name, scored in attributions.items()
    }
    found = []
    for one, other in combinations(sized, 2):
        both = agreement(sized[one], sized[other], [OVERLAP])
        values = {
            "tau": both.tau,
            "divergence": both.divergence,
            "overlap": both.overlap.values[:, 0],
            "overlap_by_chance": both.random_overlap.values[:, 0],
        }
        found.append(
            {
                "one": one,
                "other": other,
                **{name: told_mean(known(own, lacking, one, other), seed) for name, own in values.items()},
            }
        )
    return found


def plausibilities(
    attributions: Attributions, evidence: Sequence[Sequence[Span]], focus: str, seed: int, lacking: Lacking
) -> dict[str, Any] | None:
    """Against the words that people marked, in the texts that have such; None where none has."""
    gold = marked(attributions[focus], evidence)
    chosen = [place for place, own in enumerate(gold) if own.any()]
    if not chosen:
        return None
    marks = [evidence[place] for place in chosen]
    found = {
        name: against_rationales([scored[place] for place in chosen], marks) for name, scored in attributions.items()
    }
    lacks = {name: where[chosen] for name, where in lacking.items()}
    own = found[focus]
    return {
        "texts": len(chosen),
        "share": finite(own.share),
        "base_rate": told_mean(own.base_rate, seed),
        "explainers": [
            *(told_plausible(name, one, seed, lacks) for name, one in found.items()),
            {
                "name": RANDOM,
                "auprc": told_mean(own.random_auprc, seed),
                "f": told_mean(own.random_tokens.f.values[:, 0], seed),
            },
        ],
        "above_chance": told_difference(own.auprc, own.random_auprc, seed),
    }


def told_plausible(name: str, one: Plausibility, seed: int, lacking: Lacking) -> dict[str, Any]:
    values = {"auprc": one.auprc, "f": one.tokens.f.values[:, 0]}
    return {"name": name, **{measure: told_mean(known(own, lacking, name), seed) for measure, own in values.items()}}
