"""Users and items by name: the row of each in a table of vectors, which are learned like those of words.

As in the public code of the three-tier paper, where the vector of an id is concatenated to that of its reviews. What happens
to an id that was not in training is our choice: every unknown one gets the mean of the vectors of all known ids. For a fixed
item the rating is linear in the user's vector (before a ReLU), so an unknown user gets the mean of the ratings that all known
users would get with the same reviews; likewise for items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from regard_lab.towers.ratings import Names, Rating

UNKNOWN = -1
RANGE = 0.05  # ids start from U(−0.05, 0.05), as Keras's embeddings do


@dataclass(frozen=True)
class Ids:
    """The users and items of the training ratings, in the order in which they occur."""

    users: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    @classmethod
    def of(cls, ratings: Sequence[Rating]) -> Ids:
        return cls(distinct(rating.user for rating in ratings), distinct(rating.item for rating in ratings))

    def rows(self, names: Names) -> tuple[int, int]:
        """The rows of a user and of an item; UNKNOWN for a name that was not in training, and for None."""
        user, item = names
        users, items = self._numbers
        return (
            UNKNOWN if user is None else users.get(user, UNKNOWN),
            UNKNOWN if item is None else items.get(item, UNKNOWN),
        )

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        users, items = ({name: row for row, name in enumerate(names)} for names in (self.users, self.items))
        return users, items


def distinct(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))


class IdVectors(nn.Module):
    """One vector per id; an unknown id gets their mean, or zeros if there are none."""

    def __init__(self, count: int, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, width).uniform_(-RANGE, RANGE))

    def forward(self, rows: Tensor) -> Tensor:
        """(B,) rows or UNKNOWN -> (B, width)"""
        if not len(self.weight):
            return self.weight.new_zeros(len(rows), self.weight.size(1))
        known = (rows != UNKNOWN).unsqueeze(-1)  # (B, 1)
        return torch.where(known, self.weight[rows.clamp(min=0)], self.weight.mean(0))
