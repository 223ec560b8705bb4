"""Texts that are the same, or nearly, but have different labels; in linear time.

MinHash (Broder, 1997): the smallest values of several hash functions over the sets of word triples of two texts agree with a
probability equal to the Jaccard similarity of the sets. Texts that agree in a whole band of them are compared exactly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

SHINGLE = 3  # words
BANDS, WIDTH = 20, 4  # at a similarity of 0.8, a pair is missed with probability (1 − 0.8⁴)²⁰ ≈ 3 in 100,000
SIMILAR = 0.8
CHUNK = 1 << 20  # shingles hashed at a time
MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number, so that multiplying loses nothing
_WORDS = re.compile(r"\w+")
Hashes = NDArray[np.uint64]
Differ = Callable[[int, int], bool]  # whether the labels of two texts contradict each other


class Pair(NamedTuple):
    first: int
    second: int
    similarity: float  # 1: equal but for case, spaces and punctuation


def contradictions(texts: Sequence[str], differ: Differ) -> list[Pair]:
    """Pairs of similar texts with different labels: every text that has such a partner is in at least one of them."""
    sets = [shingles(normalised(text)) for text in texts]
    found: dict[tuple[int, int], float] = {}
    for bucket in buckets(sets):
        for pair in partners(bucket, differ):
            if pair not in found and (alike := jaccard(sets[pair[0]], sets[pair[1]])) >= SIMILAR:
                found[pair] = alike
    pairs = [Pair(*pair, alike) for pair, alike in found.items()]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def normalised(text: str) -> list[str]:
    """The words of a text without case, punctuation and differences in how characters are encoded."""
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())


def shingles(words: Sequence[str]) -> Hashes:
    """Hashes of the sequences of three words, sorted; of a shorter text, of the whole. Empty for a text without words."""
    if not words:
        return np.empty(0, dtype=np.uint64)
    size = min(SHINGLE, len(words))
    runs = {" ".join(words[start : start + size]).encode("utf-8", "replace") for start in range(len(words) - size + 1)}
    return np.unique(np.array([crc32(run) | crc32(run, 1) << 32 for run in runs], dtype=np.uint64))


def jaccard(one: Hashes, other: Hashes) -> float:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)


def buckets(sets: Sequence[Hashes]) -> Iterator[list[int]]:
    """Sets that agree in a band of their MinHashes, two or more at a time, in ascending order."""
    rows = [row for row, one in enumerate(sets) if len(one)]
    if len(rows) < 2:
        return
    signatures = minhashes([sets[row] for row in rows])
    for band in range(BANDS):
        key = np.zeros(len(rows), dtype=np.uint64)
        for column in signatures[:, band * WIDTH : (band + 1) * WIDTH].T:
            key = (key ^ column) * MIX
        order = np.argsort(key, kind="stable")
        ends = np.flatnonzero(np.diff(key[order])) + 1
        for start, end in pairwise([0, *ends.tolist(), len(order)]):
            if end - start > 1:
                yield [rows[member] for member in order[start:end].tolist()]


def minhashes(sets: Sequence[Hashes]) -> Hashes:
    """(sets, hash functions) none of the sets is empty"""
    rng = np.random.default_rng(8191)
    factors = rng.integers(1, 1 << 63, BANDS * WIDTH, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    result = np.empty((len(sets), BANDS * WIDTH), dtype=np.uint64)
    start = 0
    while start < len(sets):
        end, size = start, 0
        while end < len(sets) and (end == start or size + len(sets[end]) <= CHUNK):
            size, end = size + len(sets[end]), end + 1
        values = np.concatenate(sets[start:end])
        bounds = np.cumsum([0, *(len(one) for one in sets[start : end - 1])])
        for number, factor in enumerate(factors):
            mixed = values * factor  # modulo 2⁶⁴, on purpose
            mixed ^= mixed >> np.uint64(32)
            result[start:end, number] = np.minimum.reduceat(mixed * factor, bounds)
        start = end
    return result


def partners(bucket: Sequence[int], differ: Differ) -> Iterator[tuple[int, int]]:
    """Each text with one that has another label: the first of the bucket, or else the first that differs from this one."""
    first = bucket[0]
    other = next((row for row in bucket if differ(first, row)), None)
    if other is None:
        return
    for row in bucket[1:]:
        if differ(first, row):
            yield first, row
        elif row != other and differ(row, other):
            yield min(row, other), max(row, other)
