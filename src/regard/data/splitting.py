"""Holding out a part of the training texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.records import Example, Label

FEWEST = 10  # with fewer texts nothing is held out: too few would be left to train on, and too few to measure
MOST = 100_000  # texts that are held out: enough for an accuracy within 0.3 points, and they are kept in memory


def hold_out(
    examples: Sequence[Example], fraction: float, seed: int, by_label: bool
) -> tuple[list[Example], list[Example]]:
    """(kept, held out), both in the given order; stratified by label if `by_label`, and never all texts of a label."""
    codes: dict[Label | None, int] = {}
    groups = [codes.setdefault(example.label if by_label else None, len(codes)) for example in examples]
    return hold_out_groups(examples, np.array(groups, dtype=np.int32), fraction, seed)


def hold_out_groups(
    examples: Sequence[Example], groups: NDArray[np.int32], fraction: float, seed: int
) -> tuple[list[Example], list[Example]]:
    """The same, stratified by the group of each text."""
    is_held = held_rows(groups, fraction, seed)
    pairs = list(zip(examples, is_held, strict=True))
    return [example for example, held in pairs if not held], [example for example, held in pairs if held]


def fold_rows(groups: NDArray[np.integer], folds: int, seed: int, stream: int = 104729) -> NDArray[np.int64]:
    """The fold of each row, from 0: every group is spread over the folds as evenly as possible, and folds are of equal size.

    −1 for a row that is the only one of its group: it belongs to no fold, because no text would be left to learn from.
    Another `stream` of random numbers gives other folds for the same seed.
    """
    rng = np.random.default_rng((seed, stream))
    order = np.argsort(groups, kind="stable")
    fold = np.full(len(groups), -1)
    next_fold = 0  # groups continue where the last one ended, so that small ones do not all fill the first folds
    for rows in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        if len(rows) > 1:
            fold[rng.permutation(rows)] = (next_fold + np.arange(len(rows))) % folds
            next_fold = (next_fold + len(rows)) % folds
    return fold


def disjoint_rows(
    groups: NDArray[np.int32], fraction: float, count: int, seed: int, allowed: NDArray[np.bool_] | None = None
) -> list[NDArray[np.bool_]]:
    """What each of `count` models holds out: a part of each group, no text twice as long as there are enough of them.

    The part is `fraction`, or less of very many texts. `allowed`: the rows that may be held out.
    """
    if allowed is not None and not allowed.all():
        folds = np.zeros((count, len(groups)), dtype=bool)
        numbered = np.unique(groups[allowed], return_inverse=True)[1].astype(np.int32)
        folds[:, allowed] = disjoint_rows(numbered, fraction, count, seed)
        return list(folds)
    folds = np.zeros((count, len(groups)), dtype=bool)
    if fraction == 0 or len(groups) < FEWEST:
        return list(folds)
    fraction = min(fraction, MOST / len(groups))
    rng = np.random.default_rng((seed, 7919))
    order = np.argsort(groups, kind="stable")
    owed = 0.0  # what small groups could not give is taken from the next ones, to reach the fraction overall
    for rows in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        owed += fraction * len(rows)
        size = min(round(owed), len(rows) - 1)
        owed -= size
        shuffled = rng.permutation(rows)
        for fold in range(count):
            folds[fold, np.roll(shuffled, -fold * size)[:size]] = True
    return list(folds)


def held_rows(groups: NDArray[np.int32], fraction: float, seed: int) -> NDArray[np.bool_]:
    """Which rows are held out: a part of each group, never all of it. Groups are numbered by first occurrence."""
    return disjoint_rows(groups, fraction, 1, seed)[0]
