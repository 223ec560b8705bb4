"""Several models on the same labelled texts: their scores, the differences to the first, and the texts they disagree on."""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.facts.intervals import Interval
from regard.facts.json_form import OMIT_NONE, JsonObject, to_json


@dataclass(frozen=True)
class ComparedRun:
    name: str
    model: str  # what kind of model it is
    scores: dict[str, float]  # accuracy, macro_f and log_loss, or rmse and mae


@dataclass(frozen=True)
class McNemar:
    """Of two runs: the texts that only one of them gets right, and the exact two-sided p of equal accuracy."""

    won: int  # only this run is right
    lost: int  # only the first run is right
    p: float
    corrected: float  # by Holm, for the number of runs that are compared with the first


@dataclass(frozen=True)
class RunDifference:
    """A run minus the first one, with 95 % intervals from a bootstrap over texts."""

    run: int
    scores: dict[str, Interval]
    mcnemar: McNemar | None = field(default=None, metadata=OMIT_NONE)  # None: numbers


@dataclass(frozen=True)
class Agreement:
    """Of two runs. Classes: the share of equal answers, and Cohen's kappa; numbers: the correlation of the answers."""

    one: int
    other: int
    equal: float | None = field(default=None, metadata=OMIT_NONE)
    kappa: float | None = field(default=None, metadata=OMIT_NONE)  # None if both give the same answer to every text
    correlation: float | None = field(default=None, metadata=OMIT_NONE)


@dataclass(frozen=True)
class ClassComparison:
    """The texts of a class, and how many of them each run gets right."""

    name: str
    texts: int
    right: tuple[int, ...]
    f: tuple[float, ...]

    @property
    def best(self) -> tuple[int, ...]:
        """The runs with the largest F1; none if all have the same."""
        highest = max(self.f)
        winners = tuple(run for run, f in enumerate(self.f) if f == highest)
        return winners if len(winners) < len(self.f) else ()


@dataclass(frozen=True)
class RunAnswer:
    value: str | float
    probability: float | None = field(default=None, metadata=OMIT_NONE)  # of the class that is the answer


@dataclass(frozen=True)
class DisputedText:
    row: int
    text: str
    label: str | float
    answers: tuple[RunAnswer, ...]  # one per run


@dataclass(frozen=True)
class ComparisonFacts:
    data: str
    task: str
    texts: int
    runs: tuple[ComparedRun, ...]
    differences: tuple[RunDifference, ...]
    agreement: tuple[Agreement, ...]
    classes: tuple[ClassComparison, ...]
    disagreements: int  # texts to which not all answers are equal; of numbers: all texts
    disputed: tuple[DisputedText, ...]  # some of them, those with the most confident answers first
    cautions: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return to_json(self)  # type: ignore[no-any-return]
