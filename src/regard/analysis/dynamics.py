"""A recorder that rides along a training run and keeps what words weigh and say (Sun & Lu, Figures 2–4; supplement 1–12).

At every moment, an epoch as a number, 0 before the first step: polarity and attention score of chosen tokens; their mean and
quartiles by token type; the mean Ω = eᵀe' by pair of types; VᵀW, ‖V‖, ‖W‖; and the mean by type of each term of the gradient
flow on a sample of texts. It reads weights and never writes any.

Of a flat model all this follows from the weights. Of one that reads contexts, scores are global: each token is fed alone
(supplement G.1), and there are no terms. Where it looks within epochs too, fewer tokens stand for their types, there are
terms at whole epochs only, and tokens are fed alone no more often than costs little beside training.
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
from regard.analysis.panel import panel
from regard.analysis.token_names import token_names
from regard.analysis.token_scores import lead, of_type
from regard.analysis.token_types import token_types
from regard.config import Config
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.models.flat import EMBEDDING, HEAD, QUERY, State, is_flat, tables
from regard.models.tasks import Classes
from regard.models.training_record import AxisNames, Frames, TrainingRecord

if TYPE_CHECKING:
    from regard.models.classifier import Classifier

PARTS = 25  # of an epoch, after each of which record = "step" looks
FED = 0.06  # tokens fed alone, within an epoch, as a share of the words that it trains on: learning costs three times as much
# tokens that stand for their type, at most (None: all; 0: those that are followed one by one): of a flat model, or of one
# that must be asked about each token
MOST: dict[tuple[bool, str], int | None] = {
    (True, "epoch"): None,
    (True, "step"): 500,
    (False, "epoch"): 1000,
    (False, "step"): 0,
}


class Seen(NamedTuple):
    """Of the panel's rows at one moment."""

    state: State  # embeddings of the rows alone; of a model that isn't flat, with V and W and nothing more
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
        self.panel = panel(types, texts, MOST[self.flat, config.training.record], pulls=self.flat)
        fed = 0 if self.flat else self.panel.few
        self.parts = min(PARTS, max(1, int(FED * int(texts.counts.sum()) / fed))) if fed else PARTS
        self.terms: list[str] | None = None  # known after the first look
        self.frames: list[Frames] = []
        self.part = 0  # of the epoch that is under way
        self.blas = ThreadpoolController().select(user_api="blas")

    @property
    def note(self) -> str:
        """What is looked at, in one sentence."""
        parts = [f"{len(self.panel.chosen)} tokens one by one"]
        counts = np.diff(self.panel.bounds).tolist()
        sizes = [f"{count:,} of {name!r}" for count, name in zip(counts, self.panel.names, strict=True)]
        parts += [f"types by {', '.join(sizes)}"] if sizes else []
        parts += [f"terms on {len(self.panel.texts.labels)} texts"] if self.flat and sizes else []
        return f"recording {'; '.join(parts)}"

    def within(self, epoch: int, done: int, of: int) -> None:
        """So much of an epoch (the first is 1) is over: look, where that is asked for and another part of it is."""
        part = done * self.parts // of
        if self.often and part > self.part:
            self.look(epoch - 1 + done / of, whole=done == of)
            self.part = part

    def look(self, moment: float, whole: bool = True) -> None:
        """Keep what is there now, terms too where the moment is a whole epoch; but not the same moment twice."""
        self.part = 0
        is_kept = bool(self.frames) and float(self.frames[-1]["moments"]) >= moment
        if is_kept and self.terms is not None:
            return
        # BLAS's other threads wait for more by spinning, and would take the cores from PyTorch's in the next steps
        threads = None if isinstance(self.weights, Mapping) else 1
        # and weights that are not finite are told by who trains
        with self.blas.limit(limits=threads), np.errstate(all="ignore"):
            frame = {"moments": np.asarray(moment, dtype=np.float64), **self.frame(self.see(whole), whole)}
        if not is_kept:
            self.frames.append(frame)

    def see(self, whole: bool) -> Seen:
        weights = self.weights
        rows = self.panel.rows if whole else self.panel.rows[: self.panel.few]
        if not isinstance(weights, Mapping):
            return see_flat(taken(weights, rows), self.scale) if self.flat else see_alone(weights, rows)
        return see_flat({**weights, EMBEDDING: weights[EMBEDDING].take(rows, 0)}, self.scale)

    def frame(self, seen: Seen, whole: bool) -> dict[str, NDArray[Any]]:
        query, head = (seen.state[name].astype(np.float64) for name in (QUERY, HEAD))
        one = lead(seen.polarity.astype(np.float64))
        chosen, groups = self.panel.chosen, self.panel.slices
        spreads = [(spread(one[group]), spread(seen.attention[group])) for group in groups]  # (G, 2, 3)
        found = {
            "polarity": one[chosen],
            "attention": seen.attention[chosen],
            "by_type": np.array(spreads).reshape(len(groups), 2, 3),
            "dot_products": mean_products([seen.state[EMBEDDING][group] for group in groups]),
            "vtw": head @ query if self.dot else np.empty(0),  # V and W read different things where scores are additive
            "norm_v": np.linalg.norm(query),
            "norms_w": np.linalg.norm(head, axis=1),
            "terms": self.mean_terms(seen.state) if whole else np.full((len(self.terms or ()), len(groups)), np.nan),
        }
        return {name: np.asarray(value, dtype=np.float32) for name, value in found.items()}

    def mean_terms(self, state: State) -> NDArray[np.float64]:
        """(N, G). Of K classes, what a term does to the class of the type, and for neutral tokens the most of all."""
        pulled = self.panel.pulled
        if not self.flat or not pulled:
            self.terms = []
            return np.empty((0, len(pulled)))
        found = flow(state, self.scale, self.panel.texts, self.kind, np.concatenate(pulled))
        terms = {**found.polarity, **found.attention}
        self.terms = list(terms)
        means = np.empty((len(terms), len(pulled)))
        ends = np.cumsum([len(group) for group in pulled])[:-1]
        for place, values in enumerate(terms.values()):
            for group, (own, code) in enumerate(zip(np.split(values, ends), self.panel.codes, strict=True)):
                means[place, group] = (own if own.ndim == 1 else of_type(own, code)).mean()
        return means

    def arrays(self) -> Frames:
        """All moments, one behind the other: what a checkpoint keeps."""
        return (
            {name: np.stack([frame[name] for frame in self.frames]) for name in self.frames[0]} if self.frames else {}
        )

    def go_on(self, arrays: Frames) -> None:
        """After the moments of a run that was killed; a run that had none begins where it stands."""
        moments = len(arrays.get("moments", ()))
        self.frames = [{name: values[place] for name, values in arrays.items()} for place in range(moments)]

    def recorded(self) -> TrainingRecord:
        return TrainingRecord(
            AxisNames(self.tokens(), self.panel.types, self.panel.names, self.terms or [], self.note), self.arrays()
        )

    def tokens(self) -> list[str]:
        """The chosen ones by name. There may be a million pairs: those that were not chosen need none."""
        units = self.panel.rows[self.panel.chosen]  # in the order of their numbers
        first = len(self.tokenizer.vocabulary) + len(self.tokenizer.beginnings)
        few = replace(self.tokenizer, pairs=self.tokenizer.pairs[units[units >= first] - first])
        names = token_names(few)
        return [names[unit] for unit in units[units < first]] + names[first:]


def see_flat(state: State, scale: float) -> Seen:
    made = tables(state, scale)
    return Seen(state, made.scores, made.polarity)


def taken(model: Classifier, rows: NDArray[np.int64]) -> State:
    """A flat model's weights, but of the embeddings these rows alone."""
    import torch

    weights = {name: weight.detach() for name, weight in model.state_dict().items()}
    weights[EMBEDDING] = weights[EMBEDDING][torch.from_numpy(rows).to(weights[EMBEDDING].device)]
    return {name: weight.float().cpu().numpy() for name, weight in weights.items()}


def see_alone(model: Classifier, rows: NDArray[np.int64]) -> Seen:
    """Every row as a text of one word. The model is left in the mode it was in; no chance is drawn."""
    import torch

    from regard.values import Batch

    embedding, head = model.embedding.weight.detach(), model.head.weight.detach()
    ids = torch.from_numpy(rows).to(embedding.device).unsqueeze(1)  # (R, 1)
    attention, polarity = torch.zeros(0), torch.zeros(0, len(head))
    if len(rows):
        was = model.training
        model.eval()
        with torch.inference_mode():
            trace = model(Batch(ids, torch.ones_like(ids, dtype=torch.bool))).traces[0]
            attention, polarity = trace.pooled.scores[:, 0], trace.states[:, 0] @ head.T
        model.train(was)
    weights = {EMBEDDING: embedding[ids[:, 0]], HEAD: head, QUERY: model.state_dict()[QUERY]}
    state = {name: weight.float().cpu().numpy() for name, weight in weights.items()}
    return Seen(state, attention.float().cpu().numpy(), polarity.float().cpu().numpy())


def spread(values: NDArray[np.floating]) -> tuple[float, ...]:
    """Mean and quartiles, these as `numpy.quantile` has them but in less of its time."""
    places = [share * (len(values) - 1) for share in (0.25, 0.75)]
    ends = [(int(place), min(int(place) + 1, len(values) - 1)) for place in places]
    ordered = np.partition(values, sorted({end for both in ends for end in both}))
    marks = (
        float(ordered[low] + (ordered[high] - ordered[low]) * (place - low))
        for place, (low, high) in zip(places, ends, strict=True)
    )
    return (float(values.mean(dtype=np.float64)), *marks)
