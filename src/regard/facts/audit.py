"""All that an audit measures and decides. `AuditFacts` is what audit.json holds; docs/audit.md describes each key."""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.facts.faithfulness import Faithfulness
from regard.facts.intervals import Difference, Interval
from regard.facts.json_form import FLAT, OMIT_NONE, JsonObject, from_json, key, to_json
from regard.facts.separation import Separation
from regard.records import Span

FORMAT = "regard audit 1"


@dataclass(frozen=True)
class AuditedModel:
    encoder: str
    pooling: str
    levels: int
    attention: str
    scale: float
    head_hidden: bool


@dataclass(frozen=True)
class AuditedExplainer:
    """What else is known depends on whether its scores come from regard or from elsewhere."""

    name: str
    signed: bool | None = field(default=None, metadata=OMIT_NONE)
    control: bool | None = field(default=None, metadata=OMIT_NONE)
    forward: float | None = field(default=None, metadata=OMIT_NONE)  # passes over a text, on average
    backward: float | None = field(default=None, metadata=OMIT_NONE)


@dataclass(frozen=True)
class Agreement:
    one: str
    other: str
    tau: Interval
    divergence: Interval
    overlap: Interval  # of the top words
    overlap_by_chance: Interval


@dataclass(frozen=True)
class ExplainerPlausibility:
    name: str
    auprc: Interval
    f: Interval


@dataclass(frozen=True)
class Plausibility:
    """Agreement with the words that people marked."""

    texts: int
    share: float | None
    base_rate: Interval
    explainers: tuple[ExplainerPlausibility, ...]
    above_chance: Difference


@dataclass(frozen=True)
class Correlation:
    """Kendall's τ of attention with another explainer."""

    tau: Interval
    deviation: float | None
    significant: Interval
    histogram: tuple[int, ...]


@dataclass(frozen=True)
class WeightGroup:
    """Texts whose largest weight lies in a range."""

    low: float = field(metadata=key("from"))
    high: float = field(metadata=key("to"))
    n: int
    moved: float | None


@dataclass(frozen=True)
class PermutationByText:
    moved: tuple[float | None, ...]
    largest: tuple[float | None, ...]


@dataclass(frozen=True)
class Permutation:
    draws: int
    moved: Interval  # total variation distance of predictions with permuted weights, the median over draws
    largest: Interval  # weight
    evened: Interval  # distance of predictions with uniform weights
    uneven: Interval  # distance of the weights from uniform
    by_largest: tuple[WeightGroup, ...]
    by_text: PermutationByText


@dataclass(frozen=True)
class DivergenceByText:
    divergence: tuple[float | None, ...]


@dataclass(frozen=True)
class Adversary:
    """The weights farthest from the model's that keep the prediction within epsilon."""

    epsilon: float
    exact: bool
    largest: float  # divergence that is possible
    divergence: Interval
    distance: Interval
    far: Interval  # share of texts where they lie more than half of the largest divergence away
    # the same of texts where any weights do; absent in older files
    far_of_possible: Interval | None = field(default=None, metadata=OMIT_NONE)
    by_text: DivergenceByText = field(kw_only=True)


@dataclass(frozen=True)
class Retrained:
    """What models were trained on again, and for how long."""

    learned_from: int
    judged_on: int
    epochs: int


@dataclass(frozen=True)
class UniformWeights:
    retrained: Retrained = field(metadata=FLAT)
    attention: Interval
    even: Interval
    difference: Difference


@dataclass(frozen=True)
class OtherSeeds:
    retrained: Retrained = field(metadata=FLAT)
    seeds: int
    divergence: Interval
    by_seed: tuple[Interval, ...]
    accuracy: tuple[float | None, ...]
    by_text: DivergenceByText


@dataclass(frozen=True)
class Guided:
    retrained: Retrained = field(metadata=FLAT)
    guided: Interval
    even: Interval
    learned: Interval
    guided_less_even: Difference
    guided_less_learned: Difference


@dataclass(frozen=True)
class AdversaryPoint:
    factor: float  # λ
    distance: Interval
    divergence: Interval
    accuracy: Interval | None = None


@dataclass(frozen=True)
class TrainedAdversary:
    learned_from: int
    epochs: int
    points: tuple[AdversaryPoint, ...]


@dataclass(frozen=True)
class JudgedExplainer:
    measure: str
    explainer: str
    mean: Interval  # over the cut-offs
    less_random: Difference | None = field(default=None, metadata=OMIT_NONE)  # its mean minus that of random words


@dataclass(frozen=True)
class ErasureJudge:
    """The scores of the audited run as a judge sees them."""

    name: str  # "audited", "plain" (retrained) or "dropout" (retrained with word dropout)
    same: Interval  # fraction of the texts for which it predicts the same class as the audited run
    measured: tuple[JudgedExplainer, ...]

    def less_random(self, measure: str, explainer: str) -> Difference | None:
        wanted = (measure, explainer)
        return next((one.less_random for one in self.measured if (one.measure, one.explainer) == wanted), None)


@dataclass(frozen=True)
class DropoutAccuracy:
    texts: str  # "whole" or "erased"
    plain: Interval
    dropout: Interval
    difference: Difference  # dropout minus plain


@dataclass(frozen=True)
class WordDropout:
    retrained: Retrained = field(metadata=FLAT)
    copies: int  # of these texts, with words dropped, that one of the models was trained on, too
    accuracies: tuple[DropoutAccuracy, ...]
    judges: tuple[ErasureJudge, ...]


@dataclass(frozen=True)
class Diagnostics:
    """None: left out of the audit."""

    correlation: dict[str, Correlation] | None = field(default=None, metadata=OMIT_NONE)
    permutation: Permutation | None = field(default=None, metadata=OMIT_NONE)
    adversary: Adversary | None = field(default=None, metadata=OMIT_NONE)
    even: UniformWeights | None = field(default=None, metadata=OMIT_NONE)
    seeds: OtherSeeds | None = field(default=None, metadata=OMIT_NONE)
    guided: Guided | None = field(default=None, metadata=OMIT_NONE)
    trained_adversary: TrainedAdversary | None = field(default=None, metadata=OMIT_NONE)
    word_dropout: WordDropout | None = field(default=None, metadata=OMIT_NONE)  # absent in older files


@dataclass(frozen=True)
class AuditedText:
    """A text with the scores of every explainer."""

    place: int  # among all texts, from 0
    text: str
    label: int | None
    decided: int
    probabilities: tuple[float, ...]
    spans: tuple[Span, ...]
    scores: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class LeftOut:
    what: str
    why: str


@dataclass(frozen=True)
class Reason:
    kind: str  # "may", "may_not" or "change"
    text: str
    evidence: str  # the part of the audit that its numbers come from


@dataclass(frozen=True)
class Verdict:
    name: str
    title: str
    checks: dict[str, bool | None]
    may: tuple[Reason, ...]
    may_not: tuple[Reason, ...]
    change: tuple[Reason, ...]


@dataclass(frozen=True)
class Measurements:
    """All but the verdict, which is a function of these."""

    format: str
    run: str | None
    data: str | None
    texts: int
    different: int = field(default=0, kw_only=True)  # texts that differ; 0 in older files
    seed: int
    classes: tuple[str, ...]
    model: AuditedModel | None
    focus: str  # the explainer that the verdict is about
    explainers: tuple[AuditedExplainer, ...]
    faithfulness: Faithfulness
    agreement: tuple[Agreement, ...]
    plausibility: Plausibility | None
    diagnostics: Diagnostics
    separation: Separation | None
    details: tuple[AuditedText, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class AuditFacts(Measurements):
    verdict: Verdict

    @classmethod
    def from_json(cls, value: object) -> AuditFacts:
        """ValueError where `value` is not what audit.json holds."""
        return from_json(cls, value, "audit")

    def to_json(self) -> JsonObject:
        return to_json(self)  # type: ignore[no-any-return]
