"""What two towers say of each user and of each item: the mean of their answers over all whom they could meet.

Every user's vector meets every item's, whether or not there is such a rating: the items that a user happened to rate don't
come in, and what is left of a user is the user. No review is to be rated here, so all known ones are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.collate import collate, in_order
from regard.data.tokenizer import Indexed
from regard.models.trained import BATCH, to_device
from regard_lab.towers.collate_pairs import LEVELS, gather
from regard_lab.towers.fit_pairs import TrainedTowers


def effects_said(trained: TrainedTowers) -> tuple[dict[str, float], dict[str, float]]:
    """Of each user and of each item of the known reviews: the mean answer less the mean of all answers."""
    known, model = trained.known, trained.model.eval()

    def reading(places: Iterable[int]) -> Indexed:
        return gather([trained.reviews[place] for place in list(places)[: trained.most]])

    users = [reading(places if trained.side != "item" else ()) for places in known.by_user.values()]
    items = [reading(places if trained.side != "user" else ()) for places in known.by_item.values()]
    with torch.inference_mode():
        left, right = vectors(trained, users, user=True), vectors(trained, items, user=False)
        grid = trained.task.answers(model.meet(*spread(left, right)).squeeze(-1).double().cpu())  # (users, items)
    return (
        dict(zip(known.by_user, centred(grid.mean(1)), strict=True)),
        dict(zip(known.by_item, centred(grid.mean(0)), strict=True)),
    )


def vectors(trained: TrainedTowers, texts: Sequence[Indexed], user: bool) -> torch.Tensor:
    """(texts, D)"""
    model = trained.model
    device, read = model.embedding.weight.device, model.read_user if user else model.read_item
    places, found = in_order(texts, BATCH), []
    for rows in places:
        found.append(read(to_device(collate([texts[row] for row in rows], LEVELS), device))[-1].pooled.vector)
    order = torch.from_numpy(np.concatenate(places)).to(device)
    return torch.cat(found)[order.argsort()]


def spread(users: torch.Tensor, items: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(users, D), (items, D) -> both (users, items, D)"""
    shape = (len(users), len(items), users.size(1))
    return users.unsqueeze(1).expand(shape), items.unsqueeze(0).expand(shape)


def centred(values: NDArray[np.float64]) -> list[float]:
    found: list[float] = (values - values.mean()).tolist()
    return found
