"""Record the polarity and attention of words during training (Sun & Lu, Figures 2–4; supplement 1–12).

At every moment, measured in epochs, 0 before the first step: polarity and attention score of selected tokens; their mean
and quartiles by token type; the mean Ω = eᵀe' by pair of types; VᵀW, ‖V‖, ‖W‖; and the mean by type of each term of the
gradient flow on a sample of texts. Weights are only read.

For a flat model all this follows from the weights. For a model that reads context, scores are global: each token is fed
alone (supplement G.1), and there are no terms. When recording within epochs, fewer tokens represent their types, terms are
recorded only at whole epochs, and tokens are fed alone only as often as costs little compared with training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from regard.analysis.dot_products import mean_products
from regard.analysis.gradient_flow import flow
from regard.analysis.token_names import token_names
from regard.analysis.token_scores import lead, of_type
from regard.analysis.token_types import token_types
from regard.analysis.tracked_tokens import track_tokens
from regard.config import Config
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.models.flat import EMBEDDING, HEAD, QUERY, State, is_flat, tables
from regard.models.tasks import Classes
from regard.models.training_record import AxisNames, Frames, TrainingRecord

if TYPE_CHECKING:
    from regard.models.classifier import Classifier

PARTS = 25  # moments per epoch with record = "step"
FED = (
    0.06  # tokens fed alone per epoch, relative to its training words; training a word costs about three times as much
)
# most tokens that represent their type (None: all; 0: only those that are recorded one by one), for flat models and for
# models that must be run on each token
MOST: dict[tuple[bool, str], int | None] = {
    (True, "epoch"): None,
    (True, "step"): 500,
    (False, "epoch"): 1000,
    (False, "step"): 0,
}


class Observation(NamedTuple):
    """Weights and scores of the tracked rows at one moment."""

    state: State  # with the embeddings of these rows only; for a model that isn't flat, only these and V and W
    attention: NDArray[np.float32]  # (R,)
    polarity: NDArray[np.float32]  # (R, C)


class Dynamics:
    def __init__(
        self, config: Config, tokenizer: Tokenizer, task: Classes, texts: UnitTexts, weights: State | Classifier
    ) -> None:
        """`texts` are the training texts, which determine the tokens of each class; `weights` change as they are trained."""
        self.weights = weights
        model = config.model.filled()
        self.flat, self.often = is_flat(model), config.training.record == "step"
        self.tokenizer, self.kind, self.scale, self.dot = tokenizer, task.kind, model.scale, model.attention == "dot"
        types = token_types(texts, len(tokenizer), task.classes)
        self.tracked = track_tokens(types, texts, MOST[self.flat, config.training.record], pulls=self.flat)
        fed = 0 if self.flat else self.tracked.few
        self.parts = min(PARTS, max(1, int(FED * int(texts.counts.sum()) / fed))) if fed else PARTS
        self.terms: list[str] | None = None  # known after the first moment
        self.frames: list[Frames] = []
        self.part = 0  # of the current epoch
        self.blas = ThreadpoolController().select(user_api="blas")

    @property
    def note(self) -> str:
        """A sentence about what is recorded."""
        parts = [f"{len(self.tracked.chosen)} tokens individually"]
        counts = np.diff(self.tracked.bounds).tolist()
        sizes = [f"{count:,} of {name!r}" for count, name in zip(counts, self.tracked.names, strict=True)]
        parts += [f"types represented by {', '.join(sizes)}"] if sizes else []
        parts += [f"gradient-flow terms on {len(self.tracked.texts.labels)} texts"] if self.flat and sizes else []
        return f"recording {'; '.join(parts)}"

    def record_within(self, epoch: int, done: int, of: int) -> None:
        """Record within an epoch (the first is 1), if requested and if another part of it has been completed."""
        part = done * self.parts // of
        if self.often and part > self.part:
            self.record(epoch - 1 + done / of, whole=done == of)
            self.part = part

    def record(self, moment: float, whole: bool = True) -> None:
        """Record the current moment, with terms at whole epochs; the same moment is not recorded twice."""
        self.part = 0
        is_kept = bool(self.frames) and float(self.frames[-1]["moments"]) >= moment
        if is_kept and self.terms is not None:
            return
        # BLAS threads spin while they wait, and would take the cores from PyTorch's threads in the next steps
        threads = None if isinstance(self.weights, Mapping) else 1
        # the training loop reports weights that are not finite
        with self.blas.limit(limits=threads), np.errstate(all="ignore"):
            frame = {"moments": np.asarray(moment, dtype=np.float64), **self.frame(self.observe(whole), whole)}
        if self.frames and forms(frame) != forms(self.frames[-1]):
            raise ValueError("recorded quantities of another model")  # in a damaged checkpoint
        if not is_kept:
            self.frames.append(frame)

    def observe(self, whole: bool) -> Observation:
        weights = self.weights
        rows = self.tracked.rows if whole else self.tracked.rows[: self.tracked.few]
        if not isinstance(weights, Mapping):
            return observe_flat(select_rows(weights, rows), self.scale) if self.flat else observe_alone(weights, rows)
        return observe_flat({**weights, EMBEDDING: weights[EMBEDDING].take(rows, 0)}, self.scale)

    def frame(self, observed: Observation, whole: bool) -> dict[str, NDArray[Any]]:
        query, head = (observed.state[name].astype(np.float64) for name in (QUERY, HEAD))
        one = lead(observed.polarity.astype(np.float64))
        chosen, groups = self.tracked.chosen, self.tracked.slices
        spreads = [(spread(one[group]), spread(observed.attention[group])) for group in groups]  # (G, 2, 3)
        values = {
            "polarity": one[chosen],
            "attention": observed.attention[chosen],
            "by_type": np.array(spreads).reshape(len(groups), 2, 3),
            "dot_products": mean_products([observed.state[EMBEDDING][group] for group in groups]),
            "vtw": head @ query
            if self.dot
            else np.empty(0),  # with additive attention V and W are not in the same space
            "norm_v": np.linalg.norm(query),
            "norms_w": np.linalg.norm(head, axis=1),
            "terms": self.mean_terms(observed.state)
            if whole
            else np.full((len(self.terms or ()), len(groups)), np.nan),
        }
        return {name: np.asarray(value, dtype=np.float32) for name, value in values.items()}

    def mean_terms(self, state: State) -> NDArray[np.float64]:
        """(N, G). For K classes, the effect on the class of the type; for neutral tokens the largest effect."""
        pulled = self.tracked.pulled
        if not self.flat or not pulled:
            self.terms = []
            return np.empty((0, len(pulled)))
        derivatives = flow(state, self.scale, self.tracked.texts, self.kind, np.concatenate(pulled))
        terms = {**derivatives.polarity, **derivatives.attention}
        self.terms = list(terms)
        means = np.empty((len(terms), len(pulled)))
        ends = np.cumsum([len(group) for group in pulled])[:-1]
        for row, values in enumerate(terms.values()):
            for group, (members, code) in enumerate(zip(np.split(values, ends), self.tracked.codes, strict=True)):
                means[row, group] = (members if members.ndim == 1 else of_type(members, code)).mean()
        return means

    def arrays(self) -> Frames:
        """All moments, stacked, for a checkpoint."""
        return (
            {name: np.stack([frame[name] for frame in self.frames]) for name in self.frames[0]} if self.frames else {}
        )

    def resume(self, arrays: Frames) -> None:
        """Continue after the moments in a checkpoint; without any, recording starts at the current epoch."""
        moments = len(arrays.get("moments", ()))
        self.frames = [{name: values[moment] for name, values in arrays.items()} for moment in range(moments)]

    def recorded(self) -> TrainingRecord:
        return TrainingRecord(
            AxisNames(self.tokens(), self.tracked.types, self.tracked.names, self.terms or [], self.note), self.arrays()
        )

    def tokens(self) -> list[str]:
        """Names of the selected tokens. There may be a million pairs, so others are not named."""
        units = self.tracked.rows[self.tracked.chosen]  # in the order of their ids
        first = len(self.tokenizer.vocabulary) + len(self.tokenizer.beginnings)
        few = replace(self.tokenizer, pairs=self.tokenizer.pairs[units[units >= first] - first])
        names = token_names(few)
        return [names[unit] for unit in units[units < first]] + names[first:]


def forms(frame: Frames) -> dict[str, tuple[int, ...]]:
    return {name: np.shape(value) for name, value in frame.items()}


def observe_flat(state: State, scale: float) -> Observation:
    scores = tables(state, scale)  # of one member: the config refuses to record committees
    return Observation(state, scores.scores[:, 0], scores.polarity[:, 0])


def select_rows(model: Classifier, rows: NDArray[np.int64]) -> State:
    """The weights of a flat model, with only these rows of the embeddings."""
    import torch

    weights = {name: weight.detach() for name, weight in model.state_dict().items()}
    weights[EMBEDDING] = weights[EMBEDDING][torch.from_numpy(rows).to(weights[EMBEDDING].device)]
    return {name: weight.float().cpu().numpy() for name, weight in weights.items()}


def observe_alone(model: Classifier, rows: NDArray[np.int64]) -> Observation:
    """Run the model on every row as a text of one word. Its mode and the random state are left unchanged."""
    import torch

    from regard.values import Batch

    embedding, head = model.embedding.weight.detach(), model.head.weight.detach()
    ids = torch.from_numpy(rows).to(embedding.device).unsqueeze(1)  # (R, 1)
    attention, polarity = torch.zeros(0), torch.zeros(0, len(head))
    if len(rows):
        was_training = model.training
        model.eval()
        with torch.inference_mode():
            trace = model(Batch(ids, torch.ones_like(ids, dtype=torch.bool))).traces[0]
            attention, polarity = trace.pooled.scores[:, 0], trace.states[:, 0] @ head.T
        model.train(was_training)
    weights = {EMBEDDING: embedding[ids[:, 0]], HEAD: head, QUERY: model.state_dict()[QUERY]}
    state = {name: weight.float().cpu().numpy() for name, weight in weights.items()}
    return Observation(state, attention.float().cpu().numpy(), polarity.float().cpu().numpy())


def spread(values: NDArray[np.floating]) -> tuple[float, ...]:
    """Mean and quartiles, as by `numpy.quantile` but faster."""
    positions = [share * (len(values) - 1) for share in (0.25, 0.75)]
    ends = [(int(position), min(int(position) + 1, len(values) - 1)) for position in positions]
    ordered = np.partition(values, sorted({end for both in ends for end in both}))
    marks = (
        float(ordered[low] + (ordered[high] - ordered[low]) * (position - low))
        for position, (low, high) in zip(positions, ends, strict=True)
    )
    return (float(values.mean(dtype=np.float64)), *marks)
