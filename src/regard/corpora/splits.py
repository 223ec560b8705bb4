"""Random splits with a fixed seed, for originals that have no train, dev or test split."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Record = dict[str, Any]
Splits = Mapping[str, Iterable[Record]]  # rows per split; they can be iterated more than once
Item = TypeVar("Item")

# names of splits in files of others and on the hub -> ours
SPLIT_NAMES = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "val": "dev", "test": "test"}
SEED = 2024
FOLDS = 10
TENTHS = (8, 1, 1)  # of ten rows: train, dev, test


def divided(
    rows: Sequence[Record], group: Callable[[Record], Hashable], shares: tuple[float, float, float]
) -> dict[str, list[Record]]:
    """Train, dev and test, every group in these proportions (rounded), rows in their order."""
    groups: dict[Hashable, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(group(row), []).append(number)
    rng = np.random.default_rng(SEED)
    split_of = np.full(len(rows), "test", dtype=object)
    for members in groups.values():
        order = rng.permutation(members)
        dev = round(shares[1] * len(order))
        train = round(shares[0] * len(order)) if shares[2] else len(order) - dev
        split_of[order[:train]] = "train"
        split_of[order[train : train + dev]] = "dev"
    names = [name for name, share in zip(("train", "dev", "test"), shares, strict=True) if share]
    return {name: [row for row, split in zip(rows, split_of, strict=True) if split == name] for name in names}


def with_dev(train: Sequence[Record], count: int, whole: int) -> dict[str, list[Record]]:
    """`count` of `whole` random training texts as dev; if there are fewer texts, the same share."""
    return divided(train, lambda row: None, (1 - count / whole, count / whole, 0.0))


def in_folds(rows: Sequence[Record]) -> dict[str, list[Record]]:
    """Ten stratified folds: 0–7 are train, 8 dev and 9 test; joined, they serve for cross-validation."""
    rng = np.random.default_rng(SEED)
    labels = np.array([row["label"] for row in rows])
    fold_of = np.zeros(len(rows), dtype=int)
    for label in np.unique(labels):
        order = rng.permutation(np.flatnonzero(labels == label))
        fold_of[order] = np.arange(len(order)) % FOLDS
    folded = [{**row, "fold": int(fold)} for row, fold in zip(rows, fold_of, strict=True)]
    folds = {"train": range(8), "dev": (8,), "test": (9,)}
    return {name: [row for row in folded if row["fold"] in members] for name, members in folds.items()}


def sampled(rows: Iterable[Item], count: int) -> list[Item]:
    """A uniform sample of `count` rows in their order, by reservoir sampling: only the sample is in memory."""
    rng = random.Random(SEED)
    kept: list[tuple[int, Item]] = []
    for number, row in enumerate(rows):
        if number < count:
            kept.append((number, row))
        elif (slot := rng.randrange(number + 1)) < count:
            kept[slot] = (number, row)
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])]


def without_repeats(splits: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """A text that is repeated in a later split is removed from the earlier one."""
    later: set[str] = set()
    kept: dict[str, list[Record]] = {}
    for name in reversed(splits):
        kept[name] = [row for row in splits[name] if row["text"] not in later]
        later |= {row["text"] for row in splits[name]}
    return {name: kept[name] for name in splits}


class Dealt:
    """One split of a stream of rows that is read again at every iteration: of every ten rows eight, one or one."""

    def __init__(self, rows: Callable[[], Iterable[Record]], split: int) -> None:
        self.rows, self.split = rows, split

    def __iter__(self) -> Iterator[Record]:
        rng = random.Random(SEED)
        hand: list[int] = []
        for row in self.rows():
            if not hand:
                hand = [split for split, count in enumerate(TENTHS) for _ in range(count)]
                rng.shuffle(hand)
            if hand.pop() == self.split:
                yield row


def dealt(rows: Callable[[], Iterable[Record]]) -> dict[str, Dealt]:
    return {name: Dealt(rows, split) for split, name in enumerate(("train", "dev", "test"))}
