"""How a judge's answers change with the number of erased words: accuracy and probability.

In accuracy (Attending via both Fine-tuning and Compressing, Findings of ACL 2021, §5.2), with the true label:

    accuracy_after(K)   the judge is right without the top K words
    accuracy_fall(K)    the paper's AOPC: right before minus right after       larger is better
    post_hoc(K)         the judge is right with the top K words alone          larger is better

In probability (ERASER, DeYoung et al. 2020), where p is the probability of the class predicted for the whole text:

    comprehensiveness(K)   p(text) − p(text without the top K)                 larger is better
    sufficiency(K)         p(text) − p(top K alone)                            smaller is better

ERASER's AOPC of either is the mean over the cut-offs, `averaged`, as its code computes it: without a term for K = 0 unless
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
from regard.faithfulness.scored import Doubles, Ints


@dataclass(frozen=True)
class Curve:
    """A measure at each cut-off, per text, so that curves can be paired by text. NaN: the text has no value and is left out."""

    measure: str
    how: str  # "deletion", or "replacement by …"; empty if nothing is erased
    cuts: tuple[Cut, ...]
    values: Doubles  # (texts, cuts)

    def mean(self) -> Doubles:
        """(cuts,)"""
        return np.array([interval.mean for interval in self.intervals(draws=0)])

    def intervals(self, draws: int = RESAMPLES, seed: int = 0) -> list[Interval]:
        """Mean and 95 % interval at each cut-off."""
        return intervals(self.values, draws, seed)

    def averaged(self) -> Curve:
        """The running mean over the cut-offs; the last value is ERASER's AOPC."""
        running = np.cumsum(self.values, axis=1) / np.arange(1, len(self.cuts) + 1)
        return replace(self, measure=f"{self.measure}, averaged", values=running)

    def of(self, texts: NDArray[np.bool_]) -> Curve:
        """The curve of some of the texts, such as those of one class."""
        return replace(self, values=self.values[np.asarray(texts, dtype=bool)])

    def minus(self, other: Curve, draws: int = RESAMPLES, seed: int = 0) -> list[Difference]:
        """This curve minus another of the same measure and texts, paired by text, at each cut-off."""
        for name, first, second in (
            ("measures", self.measure, other.measure),
            ("ways of erasing", self.how, other.how),
            ("cut-offs", [*map(str, self.cuts)], [*map(str, other.cuts)]),
        ):
            if first != second:
                raise InputError(f"curves: expected the same {name}, got {first} and {second}")
        return differences(self.values, other.values, draws, seed)


def accuracy_after(judged: Judged) -> Curve:
    return Curve("accuracy after deletion of top words", judged.how, judged.cuts, right(judged, judged.deleted))


def accuracy_fall(judged: Judged) -> Curve:
    before = right(judged, judged.before[None, :, None])  # (N, 1)
    return Curve("AOPC (accuracy)", judged.how, judged.cuts, before - right(judged, judged.deleted))


def post_hoc(judged: Judged) -> Curve:
    return Curve("post-hoc accuracy", judged.how, judged.cuts, right(judged, judged.kept))


def comprehensiveness(judged: Judged) -> Curve:
    return Curve("comprehensiveness", judged.how, judged.cuts, drop(judged, judged.deleted))


def sufficiency(judged: Judged) -> Curve:
    return Curve("sufficiency", judged.how, judged.cuts, drop(judged, judged.kept))


def flipped(judged: Judged) -> Curve:
    """Whether the prediction changes without the top words."""
    predicted = judged.before.argmax(1)[:, None]
    values = (judged.deleted.argmax(-1) != predicted).mean(0)
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
    """(N, K) the fraction of draws in which the judge is right."""
    unknown = int((judged.labels < 0).sum())
    if unknown:
        raise InputError(
            f"label: expected one for every text to measure accuracy, got none for {unknown} of {len(judged.labels)} texts"
        )
    return np.asarray((answers.argmax(-1) == judged.labels[:, None]).mean(0))


def drop(judged: Judged, answers: Doubles, target: Ints | None = None) -> Doubles:
    """(N, K) the drop in probability of the target, by default the class that the judge predicts, averaged over the draws."""
    predicted = judged.before.argmax(1) if target is None else target  # (N,)
    texts = np.arange(len(predicted))
    return np.asarray(judged.before[texts, predicted][:, None] - answers[:, texts, :, predicted].mean(1))
