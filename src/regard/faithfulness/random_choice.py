"""Baselines to compare attributions with: random words, the first words, and a reversed ranking."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Ints, Scored

RANDOM = "random"
DRAWS = 5


def random_rankings(text: str, words: int, draws: int = DRAWS, seed: int = 0) -> Ints:
    """(draws, words). They depend on the text and the seed, not on the other texts."""
    if draws < 0:
        raise InputError(f"draws: expected at least 0 (0: no random words), got {draws}")
    checksum = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    indices = np.broadcast_to(np.arange(words, dtype=np.int64), (draws, words))
    return np.random.default_rng((seed, checksum)).permuted(indices, axis=1)


def leading(scored: Sequence[Scored]) -> list[Scored]:
    """Equal scores for all words, so that the first words of the text are taken."""
    return [one._replace(scores=np.zeros(len(one.spans))) for one in scored]


def backwards(scored: Sequence[Scored]) -> list[Scored]:
    """Scores with the opposite sign: the reverse of a useful attribution should do worse than random words."""
    return [one._replace(scores=-np.asarray(one.scores, dtype=np.float64)) for one in scored]
