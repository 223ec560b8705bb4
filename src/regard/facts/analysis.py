"""What an analysis of a run's words finds. `AnalysisFacts` is what analysis.json holds; docs/analyse.md describes each key."""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.facts.json_form import OMIT_NONE, JsonObject, from_json, to_json
from regard.facts.separation import Separation

Path = tuple[float | None, ...]  # a value per moment of training, None where it was not measured


@dataclass(frozen=True)
class AnalysedModel:
    form: str  # as Sun & Lu call it, such as "DP"
    encoder: str
    attention: str
    scale: float


@dataclass(frozen=True)
class Box:
    """The distribution of a score over the tokens of a type."""

    mean: float
    std: float
    min: float
    q1: float
    median: float
    q3: float
    max: float


@dataclass(frozen=True)
class TokenType:
    """None: the type has no tokens, or they have no weights."""

    name: str
    count: int
    polarity: Box | None
    attention: Box | None
    weight: Box | None


@dataclass(frozen=True)
class Vtw:
    """VᵀW of dot attention, one value per output: one for two classes, otherwise one per class."""

    values: tuple[float, ...]
    products: tuple[float, ...]  # times λ
    cosines: tuple[float, ...]
    norm_v: float
    norms_w: tuple[float, ...]
    mapped: tuple[float, ...] | None = field(default=None, metadata=OMIT_NONE)  # in the space of an affine layer
    meaning: str = field(kw_only=True)


@dataclass(frozen=True)
class Flow:
    """Terms of the gradient flow: term, then type, then mean."""

    polarity: dict[str, dict[str, float | None]]
    attention: dict[str, dict[str, float | None]]

    @property
    def by_score(self) -> dict[str, dict[str, dict[str, float | None]]]:
        return {"polarity": self.polarity, "attention": self.attention}


@dataclass(frozen=True)
class DotProducts:
    """Dot products of embeddings over pairs of tokens of two types."""

    pair: tuple[str, str]
    mean: float
    min: float
    q1: float
    median: float
    q3: float
    max: float


@dataclass(frozen=True)
class Token:
    """Scores are None for a token that only the recording has."""

    token: str
    type: str | None
    polarity: float | None = None
    by_class: tuple[float, ...] | None = None  # polarity for each class; None for two classes
    attention: float | None = None
    weight: float | None = None  # mean
    count: int | None = None
    gamma: float | None = None


@dataclass(frozen=True)
class ScorePaths:
    """Mean, first and third quartile at each moment."""

    polarity: tuple[Path | None, ...]
    attention: tuple[Path | None, ...]


@dataclass(frozen=True)
class PairPath:
    pair: tuple[str, str]
    mean: Path


@dataclass(frozen=True)
class Recording:
    """What was recorded during training; the first axis is the moment."""

    moments: tuple[float, ...]  # epochs, 0 before the first step
    tokens: tuple[str, ...]
    types: tuple[str, ...]
    polarity: tuple[Path, ...]
    attention: tuple[Path, ...]
    vtw: tuple[Path, ...]
    norm_v: Path
    norms_w: tuple[Path, ...]
    by_type: dict[str, ScorePaths]
    dot_products: tuple[PairPath, ...]
    terms: dict[str, dict[str, Path]]  # term, then type


@dataclass(frozen=True)
class AnalysisFacts:
    run: str
    data: str
    texts: int
    task: str
    classes: tuple[str, ...]
    model: AnalysedModel
    scores: str  # "global" or "local"
    types: tuple[TokenType, ...]  # the classes in their order, then the neutral type
    separation: Separation | None
    vtw: Vtw | None
    flow: Flow | None
    dot_products: tuple[DotProducts, ...]
    words: dict[str, tuple[Token, ...]]  # the strongest words of each class
    tokens: tuple[Token, ...]
    recording: Recording | None
    notes: tuple[str, ...]

    @property
    def recorded(self) -> Recording | None:
        """The recording, unless it is empty."""
        return self.recording if self.recording and self.recording.moments and self.recording.tokens else None

    @classmethod
    def from_json(cls, value: object) -> AnalysisFacts:
        """ValueError where `value` is not what analysis.json holds."""
        return from_json(cls, value, "analysis")

    def to_json(self) -> JsonObject:
        return to_json(self)  # type: ignore[no-any-return]
