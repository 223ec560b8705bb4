"""How well attention scores separate the words of a class from neutral words: areas under ROC curves."""

from __future__ import annotations

from dataclasses import dataclass

from regard.facts.intervals import Interval


@dataclass(frozen=True)
class ClassSeparation:
    """The words of one class against neutral words."""

    name: str
    auc: float
    low: float | None = None
    high: float | None = None

    @property
    def area(self) -> Interval:
        return Interval(None, self.auc, self.low, self.high)


@dataclass(frozen=True)
class Separation:
    """The words of any class against neutral words; without an interval where there are too few of either."""

    auc: float
    low: float | None
    high: float | None
    tied: int  # words of a class
    neutral: int
    by_type: tuple[ClassSeparation, ...] = ()
    meaning: str = ""

    @property
    def area(self) -> Interval:
        return Interval(None, self.auc, self.low, self.high)
