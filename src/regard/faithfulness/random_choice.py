"""What knows nothing, to stand beside every attribution: words by chance, the first words, and a ranking turned round."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Numbers, Scored

RANDOM = "random"
DRAWS = 5


def random_rankings(text: str, words: int, draws: int = DRAWS, seed: int = 0) -> Numbers:
    """(draws, words). A text has its own draws, whatever texts stand around it."""
    if draws < 0:
        raise InputError(f"draws = {draws}; 0 (no selection by chance) or more are accepted")
    own = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    places = np.broadcast_to(np.arange(words, dtype=np.int64), (draws, words))
    return np.random.default_rng((seed, own)).permuted(places, axis=1)


def leading(scored: Sequence[Scored]) -> list[Scored]:
    """All words alike, so that the first ones of the text are taken."""
    return [one._replace(scores=np.zeros(len(one.spans))) for one in scored]


def backwards(scored: Sequence[Scored]) -> list[Scored]:
    """The same numbers with the other sign: an attribution that says something should do worse than chance this way."""
    return [one._replace(scores=-np.asarray(one.scores, dtype=np.float64)) for one in scored]
