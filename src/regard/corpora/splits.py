"""Train, dev and test where the original has no such parts: by a fixed seed, so that everybody gets the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Record = dict[str, Any]
Splits = Mapping[str, Iterable[Record]]  # the rows of every part, which can be gone through more than once
Thing = TypeVar("Thing")

SEED = 2024
FOLDS = 10
TENTH = (8, 1, 1)  # of ten: train, dev, test


def divided(
    rows: Sequence[Record], group: Callable[[Record], Hashable], shares: tuple[float, float, float]
) -> dict[str, list[Record]]:
    """Train, dev and test, each group in these proportions (to the nearest whole), in the order given."""
    groups: dict[Hashable, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(group(row), []).append(number)
    chance = np.random.default_rng(SEED)
    part = np.full(len(rows), "test", dtype=object)
    for members in groups.values():
        order = chance.permutation(members)
        dev = round(shares[1] * len(order))
        train = round(shares[0] * len(order)) if shares[2] else len(order) - dev
        part[order[:train]] = "train"
        part[order[train : train + dev]] = "dev"
    names = [name for name, share in zip(("train", "dev", "test"), shares, strict=True) if share]
    return {name: [row for row, own in zip(rows, part, strict=True) if own == name] for name in names}


def with_dev(train: Sequence[Record], count: int, whole: int) -> dict[str, list[Record]]:
    """`count` of `whole` training texts at random for dev; of a smaller part as large a share."""
    return divided(train, lambda row: None, (1 - count / whole, count / whole, 0.0))


def in_folds(rows: Sequence[Record]) -> dict[str, list[Record]]:
    """Ten folds, each class in proportion: 0–7 are train, 8 dev and 9 test; joined, they serve for cross-validation."""
    chance = np.random.default_rng(SEED)
    labels = np.array([row["label"] for row in rows])
    fold = np.zeros(len(rows), dtype=int)
    for label in np.unique(labels):
        order = chance.permutation(np.flatnonzero(labels == label))
        fold[order] = np.arange(len(order)) % FOLDS
    folded = [{**row, "fold": int(own)} for row, own in zip(rows, fold, strict=True)]
    parts = {"train": range(8), "dev": (8,), "test": (9,)}
    return {name: [row for row in folded if row["fold"] in own] for name, own in parts.items()}


def sampled(rows: Iterable[Thing], count: int) -> list[Thing]:
    """`count` of any number of rows, in their order, each set as likely as another; only these are in memory."""
    chance = random.Random(SEED)
    kept: list[tuple[int, Thing]] = []
    for number, row in enumerate(rows):
        if number < count:
            kept.append((number, row))
        elif (place := chance.randrange(number + 1)) < count:
            kept[place] = (number, row)
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])]


def without_repeats(splits: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """A text that comes again in a later part is taken out of the earlier one."""
    later: set[str] = set()
    kept: dict[str, list[Record]] = {}
    for name in reversed(splits):
        kept[name] = [row for row in splits[name] if row["text"] not in later]
        later |= {row["text"] for row in splits[name]}
    return {name: kept[name] for name in splits}


class Dealt:
    """One part of rows of any number, which are read anew: of every ten in a row eight, one or one, by chance."""

    def __init__(self, rows: Callable[[], Iterable[Record]], part: int) -> None:
        self.rows, self.part = rows, part

    def __iter__(self) -> Iterator[Record]:
        chance = random.Random(SEED)
        hand: list[int] = []
        for row in self.rows():
            if not hand:
                hand = [part for part, count in enumerate(TENTH) for _ in range(count)]
                chance.shuffle(hand)
            if hand.pop() == self.part:
                yield row


def dealt(rows: Callable[[], Iterable[Record]]) -> dict[str, Dealt]:
    return {name: Dealt(rows, part) for part, name in enumerate(("train", "dev", "test"))}
