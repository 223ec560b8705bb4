"""Everything that the report of a run shows. `regard.run_facts` collects it; `regard.report.pages` renders it."""

from __future__ import annotations

from dataclasses import dataclass

from regard.facts.analysis import AnalysisFacts
from regard.facts.audit import AuditFacts
from regard.facts.history import Epoch
from regard.facts.json_form import JsonObject, to_json
from regard.facts.measures import Measures
from regard.records import Explanation, Label


@dataclass(frozen=True)
class Mean:
    """With its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class CalibrationBin:
    """Texts with similar predictions."""

    start: float
    end: float
    n: int
    predicted: float  # mean confidence, or mean predicted number
    actual: float  # accuracy, or mean actual number
    low: float  # of the 95 % interval of `actual`
    high: float


@dataclass(frozen=True)
class Calibration:
    kind: str  # "classes" or "numbers"
    bins: tuple[CalibrationBin, ...]
    error: float | None  # expected calibration error; None for numbers
    excess: Mean  # predicted minus actual


@dataclass(frozen=True)
class TextView:
    """One explanation of a text. `against`: if it has weights only, the starts of the words that count against the
    prediction; None: not signed."""

    explanation: Explanation
    against: tuple[int, ...] | None = None
    sentences_against: tuple[int, ...] = ()


@dataclass(frozen=True)
class ShownText:
    place: str  # such as "row 7"
    mistake: bool | None  # None: unknown, or a number
    label: Label | None
    views: tuple[TextView, ...]


@dataclass(frozen=True)
class RunFacts:
    run: str
    data: str | None  # None: without texts
    facts: dict[str, str]  # about the model and its training, for the head of the page
    task: str
    classes: tuple[str, ...] = ()
    measures: Measures | None = None
    measured_on: str | None = None
    caution: str = ""  # why measures may be too good
    calibration: Calibration | None = None
    history: tuple[Epoch, ...] = ()
    best_epoch: int | None = None
    analysis: AnalysisFacts | None = None
    audit: AuditFacts | None = None
    no_audit: str = ""  # why there is none
    texts: tuple[ShownText, ...] = ()
    texts_in_all: int = 0
    notes: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return to_json(self)  # type: ignore[no-any-return]
