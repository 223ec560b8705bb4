"""How a judge's answers change with the number of words erased: in accuracy and in probability.

In accuracy (Attending via both Fine-tuning and Compressing, Findings of ACL 2021, §5.2), with the true label:

    accuracy_after(K)   the judge is right without the top K words
    accuracy_fall(K)    the paper's AOPC: right before, less right after       larger is better
    post_hoc(K)         the judge is right with the top K words alone          larger is better

In probability (ERASER, DeYoung et al. 2020), p being that of the class decided for on the whole text:

    comprehensiveness(K)   p(text) − p(text without the top K)                 larger is better
    sufficiency(K)         p(text) − p(top K alone)                            smaller is better

ERASER's AOPC of either is the mean over the cut-offs, `averaged`, as its code takes it: without a term for K = 0 unless
0 is among the cut-offs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.faithfulness.intervals import RESAMPLES, Difference, Interval, differences, intervals
from regard.faithfulness.judged import Judged
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Doubles


@dataclass(frozen=True)
class Curve:
    """A measure at each cut-off, text by text, so that anything can be paired. NaN: the text has no value, and is left out."""

    measure: str
    how: str  # "deletion", or "replacement by …"; empty where nothing is erased
    cuts: tuple[Cut, ...]
    values: Doubles  # (texts, cuts)

    def mean(self) -> Doubles:
        """(cuts,)"""
        return np.array([found.mean for found in self.intervals(draws=0)])

    def intervals(self, draws: int = RESAMPLES, seed: int = 0) -> list[Interval]:
        """Mean and 95 % interval at each cut-off."""
        return intervals(self.values, draws, seed)

    def averaged(self) -> Curve:
        """At each cut-off the mean over it and those before it; the last is ERASER's AOPC."""
        running = np.cumsum(self.values, axis=1) / np.arange(1, len(self.cuts) + 1)
        return replace(self, measure=f"{self.measure}, averaged", values=running)

    def of(self, texts: NDArray[np.bool_]) -> Curve:
        """Of some of the texts, such as those of one class."""
        return replace(self, values=self.values[np.asarray(texts, dtype=bool)])

    def minus(self, other: Curve, draws: int = RESAMPLES, seed: int = 0) -> list[Difference]:
        """This less another of the same measure and texts, paired by text, at each cut-off."""
        for name, mine, its in (
            ("measures", self.measure, other.measure),
            ("manners of erasing", self.how, other.how),
            ("cut-offs", [*map(str, self.cuts)], [*map(str, other.cuts)]),
        ):
            if mine != its:
                raise InputError(f"curves of different {name}, {mine} and {its}; curves that are alike are accepted")
        return differences(self.values, other.values, draws, seed)


def accuracy_after(judged: Judged) -> Curve:
    return Curve("accuracy after deletion of top words", judged.how, judged.cuts, right(judged, judged.deleted))


def accuracy_fall(judged: Judged) -> Curve:
    before = right(judged, judged.before[None, :, None])  # (N, 1)
    return Curve("AOPC (accuracy)", judged.how, judged.cuts, before - right(judged, judged.deleted))


def post_hoc(judged: Judged) -> Curve:
    return Curve("post-hoc accuracy", judged.how, judged.cuts, right(judged, judged.kept))


def comprehensiveness(judged: Judged) -> Curve:
    return Curve("comprehensiveness", judged.how, judged.cuts, fall(judged, judged.deleted))


def sufficiency(judged: Judged) -> Curve:
    return Curve("sufficiency", judged.how, judged.cuts, fall(judged, judged.kept))


def flipped(judged: Judged) -> Curve:
    """Whether the decision is another one without the top words."""
    decided = judged.before.argmax(1)[:, None]
    values = (judged.deleted.argmax(-1) != decided).mean(0)
    return Curve("decisions flipped", judged.how, judged.cuts, values)


MEASURES: Mapping[str, Callable[[Judged], Curve]] = {
    "accuracy_after": accuracy_after,
    "accuracy_fall": accuracy_fall,
    "post_hoc": post_hoc,
    "comprehensiveness": comprehensiveness,
    "sufficiency": sufficiency,
    "flipped": flipped,
}
NEED_LABELS = ("accuracy_after", "accuracy_fall", "post_hoc")


def right(judged: Judged, answers: Doubles) -> Doubles:
    """(N, K) the share of the draws in which the judge names the true class."""
    unknown = int((judged.labels < 0).sum())
    if unknown:
        raise InputError(
            f"label: {unknown} of {len(judged.labels)} texts have none; accuracy is measured where every text has one"
        )
    return np.asarray((answers.argmax(-1) == judged.labels[:, None]).mean(0))


def fall(judged: Judged, answers: Doubles) -> Doubles:
    """(N, K) by how much the probability of the class decided for falls, the mean of the draws."""
    decided = judged.before.argmax(1)
    texts = np.arange(len(decided))
    return np.asarray(judged.before[texts, decided][:, None] - answers[:, texts, :, decided].mean(1))
