"""A random sample of a stream of unknown length, in the order of the stream (Vitter's algorithm R, 1985)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

import numpy as np

Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """Each item that was offered is kept with the same probability."""

    def __init__(self, most: int, seed: int) -> None:
        self.most, self.seen = most, 0
        self._rng = np.random.default_rng((seed, 15485863))
        self._kept: list[tuple[int, Item]] = []

    def offer(self, item: Item) -> None:
        if len(self._kept) < self.most:
            self._kept.append((self.seen, item))
        elif self.most:
            slot = int(self._rng.integers(self.seen + 1))
            if slot < self.most:
                self._kept[slot] = (self.seen, item)
        self.seen += 1

    @property
    def kept(self) -> list[Item]:
        return [item for _, item in sorted(self._kept, key=lambda one: one[0])]


def sample(items: Iterable[Item], most: int, seed: int) -> list[Item]:
    reservoir: Reservoir[Item] = Reservoir(most, seed)
    for item in items:
        reservoir.offer(item)
    return reservoir.kept
