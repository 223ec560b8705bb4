"""What erasing words shows about explainers: curves, comparisons, limits, and checks of the erased texts and of signs."""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.facts.intervals import Difference, Interval
from regard.facts.json_form import FLAT, OMIT_NONE


@dataclass(frozen=True)
class MeasureCurve:
    """One measure of one explainer at every cut-off, and its mean over them, ERASER's AOPC."""

    measure: str
    explainer: str
    better: str  # "larger" or "smaller"
    values: tuple[Interval, ...]
    mean: Interval
    # where the mean lies between the limits, from 0 to 1, over the texts that were searched for these; absent in older files
    normalised: Interval | None = field(default=None, metadata=OMIT_NONE)


@dataclass(frozen=True)
class Comparison:
    """`one` minus `other`, by the mean over the cut-offs."""

    measure: str
    one: str
    other: str
    difference: Difference = field(metadata=FLAT)
    holm: float | None = None  # p after Holm's correction over all comparisons


@dataclass(frozen=True)
class Lead:
    """How much of the best alternative's lead over random words the audited explainer keeps."""

    measure: str
    kept: float  # the share it must keep
    best: str  # the alternative
    own_lead: Interval
    best_lead: Interval
    contrast: Interval  # own lead minus kept × the alternative's


@dataclass(frozen=True)
class MeasureLimits:
    """The lowest and highest mean over the cut-offs that any ranking of a text's words has, over texts."""

    measure: str
    lower: Interval
    upper: Interval


@dataclass(frozen=True)
class LimitSearch:
    texts: int  # searched, chosen at random
    exact: int  # of these, the texts for which all rankings were compared
    exact_words: int  # such texts have at most so many words
    width: int  # of the beam search for the others
    questions: int  # predictions that the search took
    measures: tuple[MeasureLimits, ...]


@dataclass(frozen=True)
class ErasedTexts:
    """The fraction of an explainer's erased texts that get the prediction of an empty text."""

    name: str
    deleted: Interval  # without its top words
    kept: Interval  # with only its top words


@dataclass(frozen=True)
class Emptiness:
    tolerance: float  # total variation distance within which two predictions are the same
    whole: Interval  # the same fraction of the whole texts
    explainers: tuple[ErasedTexts, ...]


@dataclass(frozen=True)
class SignedExplainer:
    """How often removing a word that it marks as evidence for the prediction makes the prediction stronger."""

    name: str
    default: bool  # whether the model's explanations show it where no method is named
    marked: int  # words marked as evidence for the prediction
    raised: int  # those whose removal raises its log-odds
    share: Interval  # of these words, over texts
    top: Interval  # of the texts whose top word is such a word


@dataclass(frozen=True)
class SignCheck:
    texts: int
    words: int
    tolerance: float  # of log-odds
    explainers: tuple[SignedExplainer, ...]


@dataclass(frozen=True)
class Faithfulness:
    how: str  # words are erased
    cuts: tuple[str, ...]
    curves: tuple[MeasureCurve, ...]
    comparisons: tuple[Comparison, ...]
    lead: Lead | None = None
    # absent in older files
    limits: LimitSearch | None = field(default=None, metadata=OMIT_NONE)
    emptiness: Emptiness | None = field(default=None, metadata=OMIT_NONE)
    signs: SignCheck | None = field(default=None, metadata=OMIT_NONE)
