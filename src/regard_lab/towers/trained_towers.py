"""Trained towers with the reviews that they may read: predictions, and the effects of users and items that they predict.

The effect of a user is the mean prediction over all items, so that it does not depend on which items the user happened to rate;
likewise for items. No rating is predicted there, so all reviews of the index are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray

from regard.config import Config
from regard.data.collate import collate, in_order
from regard.data.tokenizer import Indexed, Tokenizer
from regard.models.tasks import Regression
from regard.models.trained import BATCH, to_device
from regard.run_metrics import EpochRecord, Scores, SpreadRecord
from regard.training.divergence import checked_answers
from regard.training.evaluation import AttentionStatistics
from regard.values import Pair
from regard_lab.towers.ids import UNKNOWN, Ids
from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex, Side
from regard_lab.towers.two_towers import (
    LEVELS,
    PairOutput,
    Readings,
    TwoTowers,
    collate_pairs,
    gather,
    joined,
    readings,
    with_ids,
)


class TowerMetrics(TypedDict, total=False):
    ratings: int  # in training
    epochs: int
    best_epoch: int
    seconds: float
    history: list[EpochRecord]
    dev: Scores
    test: Scores
    environment: dict[str, str]  # versions and devices


@dataclass(frozen=True)
class TrainedTowers:
    """A model with the reviews that it may read: the training reviews, at most `most` per user or item."""

    model: TwoTowers
    task: Regression
    tokenizer: Tokenizer
    known: ReviewIndex
    reviews: Sequence[Indexed]  # those of the index, in its order
    most: int | None
    side: Side
    config: Config
    ids: Ids = field(default_factory=Ids)  # none unless the model has vectors of ids
    metrics: TowerMetrics = field(default_factory=TowerMetrics)

    def with_reviews(self, ratings: Sequence[Rating], same_names: bool = False) -> TrainedTowers:
        """The same model with these reviews to read, instead of those that it was trained on.

        They are of other users and items, who have no vectors of ids, unless they have the `same_names`.
        """
        reviews = self.tokenizer.encode_each([rating.text for rating in ratings])
        return replace(self, known=ReviewIndex(ratings), reviews=reviews, ids=self.ids if same_names else Ids())

    def contexts(self, ratings: Sequence[Rating]) -> list[ReviewContext]:
        return [self.known.context(rating, self.most, self.side) for rating in ratings]

    def answers(self, ratings: Sequence[Rating]) -> NDArray[np.float64]:
        """Predictions in the unit of the ratings; the texts of these ratings are never read."""
        return self.predict(self.contexts(ratings))

    def predict(self, contexts: Sequence[ReviewContext]) -> NDArray[np.float64]:
        return answers(self.model, self.task, self.readings(contexts))[0]

    def readings(self, contexts: Sequence[ReviewContext]) -> list[Readings]:
        return readings(contexts, self.reviews, self.ids)


def answers(
    model: TwoTowers, task: Regression, rows: Sequence[Readings]
) -> tuple[NDArray[np.float64], dict[str, SpreadRecord]]:
    """Predicted ratings in the original unit, and the norms p: "user_words" and so on."""
    predictions, statistics = np.empty(len(rows)), (AttentionStatistics(), AttentionStatistics())
    for indices, output in outputs(model, rows):
        predictions[indices] = checked_answers(task.answers(output.logits.double().cpu()))[:, 0]
        for statistic, side in zip(statistics, output.sides, strict=True):
            statistic.add(side)
    norms = {
        f"{name}_{level}": spread
        for name, statistic in zip(("user", "item"), statistics, strict=True)
        for level, spread in statistic.as_dict()["norms"].items()
    }
    return predictions, norms


def outputs(model: TwoTowers, rows: Sequence[Readings]) -> Iterator[tuple[NDArray[np.int64], PairOutput]]:
    """Every pair once, in batches of similar length, without gradients."""
    device = model.embedding.weight.device
    model.eval()
    for indices in in_order([joined(both) for both in rows], BATCH):
        with torch.inference_mode():
            yield indices, model(pair_to_device(collate_pairs([rows[index] for index in indices]), device))


def pair_to_device(pair: Pair, device: torch.device) -> Pair:
    labels, ids = (None if one is None else one.to(device) for one in (pair.labels, pair.ids))
    return Pair(to_device(pair.user, device), to_device(pair.item, device), labels, ids)


def predicted_effects(trained: TrainedTowers) -> tuple[dict[str, float], dict[str, float]]:
    """For each user and item of the index: its mean prediction minus the mean of all predictions."""
    known, model = trained.known, trained.model.eval()

    def reading(indices: Iterable[int]) -> Indexed:
        return gather([trained.reviews[index] for index in list(indices)[: trained.most]])

    users = [reading(indices if trained.side != "item" else ()) for indices in known.by_user.values()]
    items = [reading(indices if trained.side != "user" else ()) for indices in known.by_item.values()]
    user_rows = [trained.ids.rows((name, None))[0] if trained.side != "item" else UNKNOWN for name in known.by_user]
    item_rows = [trained.ids.rows((None, name))[1] if trained.side != "user" else UNKNOWN for name in known.by_item]
    with torch.inference_mode():
        device = model.embedding.weight.device
        left = with_ids(vectors(trained, users, True), model.user_ids, torch.tensor(user_rows, device=device))
        right = with_ids(vectors(trained, items, False), model.item_ids, torch.tensor(item_rows, device=device))
        grid = trained.task.answers(model.rate(*spread(left, right)).squeeze(-1).double().cpu())  # (users, items)
    return (
        dict(zip(known.by_user, centred(grid.mean(1)), strict=True)),
        dict(zip(known.by_item, centred(grid.mean(0)), strict=True)),
    )


def vectors(trained: TrainedTowers, texts: Sequence[Indexed], user: bool) -> torch.Tensor:
    """(texts, D)"""
    model = trained.model
    device, read = model.embedding.weight.device, model.read_user if user else model.read_item
    batches, pooled = in_order(texts, BATCH), []
    for rows in batches:
        pooled.append(read(to_device(collate([texts[row] for row in rows], LEVELS), device))[-1].pooled.vector)
    order = torch.from_numpy(np.concatenate(batches)).to(device)
    return torch.cat(pooled)[order.argsort()]


def spread(users: torch.Tensor, items: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(users, D), (items, D) -> both (users, items, D)"""
    shape = (len(users), len(items), users.size(1))
    return users.unsqueeze(1).expand(shape), items.unsqueeze(0).expand(shape)


def centred(values: NDArray[np.float64]) -> list[float]:
    differences: list[float] = (values - values.mean()).tolist()
    return differences
