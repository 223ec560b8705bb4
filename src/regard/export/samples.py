"""Made-up texts of any length, as ids, to compare an export with the model: a run does not keep the texts it was trained on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed, Tokenizer
from regard.data.vocabulary import SPECIALS, UNKNOWN
from regard.runtime.units import UnitReader

TEXTS = 200
LONGEST = 600  # words of a flat text
MOST_PARTS, MOST_SENTENCES, LONGEST_SENTENCE = 4, 12, 40
SEED = 20210
ZIPF = 0.7  # words are drawn with a probability of 1 / rank^ZIPF


def sample_texts(ids: int, levels: int, count: int = TEXTS) -> list[Indexed]:
    """An empty text, one unknown word, and random ids below `ids` for the rest; lengths are spread evenly in their logarithm."""
    rng = np.random.default_rng(SEED)
    return [one_text(rng, ids, levels, row) for row in range(count)]


def sample_units(tokenizer: Tokenizer, count: int) -> list[NDArray[np.int32]]:
    """Texts of known words, frequent ones more often, as the units of a flat model: words, beginnings and pairs."""
    rng, reader = np.random.default_rng(SEED), UnitReader(tokenizer)
    words, letters = tokenizer.vocabulary.words, tokenizer.letters
    if not words:
        return [np.full(1, UNKNOWN, dtype=np.int32)] * count
    beginnings = np.array([reader.beginnings.get(word[:letters], 0) if len(word) > letters else 0 for word in words])
    frequency = 1 / np.arange(1, len(words) + 1) ** ZIPF
    sizes = lengths(rng, LONGEST, count)
    drawn = rng.choice(len(words), int(sizes.sum()), p=frequency / frequency.sum())
    texts = np.split(drawn, np.cumsum(sizes)[:-1])
    return [reader.units_of(text + SPECIALS, beginnings[text]).ids.astype(np.int32) for text in texts]


def one_text(rng: np.random.Generator, ids: int, levels: int, row: int) -> Indexed:
    shape = tuple(shapes(rng, levels)) if row > 1 else (np.full(row, 1, dtype=np.int64),) * levels
    words = int(shape[0].sum())
    choices = max(ids - UNKNOWN, 1)
    # every other text repeats no word, where there are enough words
    repeats = bool(row % 2) or words > choices
    drawn = UNKNOWN + rng.choice(choices, words, replace=repeats) if row != 1 else np.full(words, UNKNOWN)
    return Indexed(drawn.astype(np.int32), shape[: levels - 1])


def shapes(rng: np.random.Generator, levels: int) -> Iterator[np.ndarray]:
    """Words per sentence, sentences per part, and parts: one array per level."""
    if levels == 1:
        yield lengths(rng, LONGEST, 1)
        return
    parts = lengths(rng, MOST_PARTS, 1) if levels == 3 else np.ones(1, dtype=np.int64)
    sentences = lengths(rng, MOST_SENTENCES, int(parts[0]))
    yield lengths(rng, LONGEST_SENTENCE, int(sentences.sum()))
    yield sentences
    if levels == 3:
        yield parts


def lengths(rng: np.random.Generator, longest: int, count: int) -> np.ndarray:
    return np.asarray(np.exp(rng.random(count) * np.log(longest + 1)).astype(np.int64).clip(1, longest))
