"""What puts the numbers of erased texts into perspective: the limits of each measure, texts that look empty, and wrong signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regard.audit.intervals import mean_interval
from regard.facts.faithfulness import (
    Emptiness,
    ErasedTexts,
    LimitSearch,
    MeasureCurve,
    MeasureLimits,
    SignCheck,
    SignedExplainer,
)
from regard.faithfulness import emptiness, signs
from regard.faithfulness.judged import Judged
from regard.faithfulness.judging import Judge, Questions
from regard.faithfulness.limits import ERASE, EXACT, WIDTH, Limits, find_limits, normalised
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Doubles, Scored

Attributions = Mapping[str, Sequence[Scored]]
Lacking = Mapping[str, NDArray[np.bool_]]  # by name, (texts,) True where scores are missing and others fill the gap


def known(values: Doubles, lacking: Lacking, *names: str) -> Doubles:
    """(texts, …) with NaN where one of these explainers has no scores."""
    for name in names:
        if name in lacking:
            values = values.copy()
            values[lacking[name]] = np.nan
    return values


def measured_limits(
    judge: Judge,
    scored: Sequence[Scored],
    cuts: Sequence[Cut],
    means: Mapping[str, Mapping[str, Doubles]],
    seed: int,
) -> Limits:
    """The limits that a search finds, or the rankings of an explainer beyond them. `means`: by measure and explainer, (texts,)"""
    limits = find_limits(judge, scored, cuts, seed)
    lower, upper = dict(limits.lower), dict(limits.upper)
    for measure in ERASE:
        for values in means[measure].values():
            lower[measure] = np.fmin(lower[measure], values[limits.rows])
            upper[measure] = np.fmax(upper[measure], values[limits.rows])
    return limits._replace(lower=lower, upper=upper)


def limit_facts(limits: Limits, seed: int) -> LimitSearch:
    return LimitSearch(
        texts=len(limits.rows),
        exact=int(limits.exact.sum()),
        exact_words=EXACT,
        width=WIDTH,
        questions=limits.questions,
        measures=tuple(
            MeasureLimits(
                measure, mean_interval(limits.lower[measure], seed), mean_interval(limits.upper[measure], seed)
            )
            for measure in ERASE
        ),
    )


def with_normalised(curve: MeasureCurve, limits: Limits, means: Doubles, seed: int) -> MeasureCurve:
    if curve.measure not in ERASE:
        return curve
    values = normalised(means[limits.rows], limits.lower[curve.measure], limits.upper[curve.measure])
    return replace(curve, normalised=mean_interval(values, seed))


def emptiness_facts(judge: Judge, judged: Mapping[str, Judged], lacking: Lacking, seed: int) -> Emptiness:
    question = Questions()
    question.add("")
    empty = question.put(judge)[0]

    def share(answers: Doubles, name: str) -> Doubles:
        return known(emptiness.like_empty(answers, empty), lacking, name)

    whole = next(iter(judged.values())).before[None, :, None]
    return Emptiness(
        tolerance=emptiness.TOLERANCE,
        whole=mean_interval(emptiness.like_empty(whole, empty), seed),
        explainers=tuple(
            ErasedTexts(name, mean_interval(share(one.deleted, name), seed), mean_interval(share(one.kept, name), seed))
            for name, one in judged.items()
        ),
    )


def sign_facts(
    judge: Judge, attributions: Attributions, lacking: Lacking, default: str | None, seed: int
) -> SignCheck | None:
    """None if no explainer is signed."""
    if not attributions:
        return None
    removed = signs.remove_each(judge, next(iter(attributions.values())), seed)
    explainers = []
    for name, scored in attributions.items():
        scores = [np.asarray(scored[row].scores, dtype=np.float64) for row in removed.rows.tolist()]
        if name in lacking:  # others fill these gaps: they are no scores of this explainer
            lacks = lacking[name][removed.rows]
            scores = [np.zeros_like(one) if is_lacking else one for one, is_lacking in zip(scores, lacks, strict=True)]
        wrong = signs.wrong_signs(scores, removed)
        explainers.append(
            SignedExplainer(
                name=name,
                default=name == default,
                marked=int(wrong.marked.sum()),
                raised=int(wrong.raised.sum()),
                share=mean_interval(wrong.share, seed),
                top=mean_interval(wrong.top, seed),
            )
        )
    words = sum(map(len, removed.drops))
    return SignCheck(len(removed.rows), words, signs.TOLERANCE, tuple(explainers))
