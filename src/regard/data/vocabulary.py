"""The words that a model knows, each with its id; 0 is padding and 1 is the unknown word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

UNKNOWN = 1
SPECIALS = 2  # ids that are not words: padding (0) and unknown (1)
MOST_COUNTED = 1 << 22  # distinct words; beyond that, the rarest so far are forgotten, as the fast engine does
LONGEST = 100  # characters; longer strings, such as web addresses, hardly ever recur


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids, the first of which is 2."""

    words: tuple[str, ...]
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers = {word: number for number, word in enumerate(self.words, SPECIALS)}
        if len(numbers) < len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"words: expected distinct words, got {twice!r} twice")
        object.__setattr__(self, "_numbers", numbers)

    @classmethod
    def build(
        cls,
        texts: Iterable[Sequence[str]],
        min_count: int = 2,
        max_size: int | None = None,
        keep: Container[str] = (),
    ) -> Vocabulary:
        """The `max_size` most frequent words of those seen `min_count` times, or seen at all and in `keep`."""
        if min_count < 1:
            raise ValueError(f"min_count: expected 1 or more, got {min_count}")
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size: expected 0 or more, or None for no limit, got {max_size}")
        counts: Counter[str] = Counter()
        for forms in texts:
            counts.update(forms)
            if len(counts) > MOST_COUNTED:
                counts = without_rarest(counts, MOST_COUNTED * 3 // 4, keep)
        known = [
            word for word, count in counts.items() if (count >= min_count or word in keep) and len(word) <= LONGEST
        ]
        known.sort(key=lambda word: (-counts[word], word))
        return cls(tuple(known[:max_size]))

    def ids(self, forms: Sequence[str]) -> npt.NDArray[np.int32]:
        number = self._numbers.get
        return np.fromiter((number(form, UNKNOWN) for form in forms), dtype=np.int32, count=len(forms))

    def known(self, forms: Iterable[str]) -> list[bool]:
        return list(map(self._numbers.__contains__, forms))

    def __len__(self) -> int:
        return SPECIALS + len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._numbers


def without_rarest(counts: Counter[str], most: int, keep: Container[str]) -> Counter[str]:
    """About `most` words: those seen more often than the rarest ones, and all in `keep`."""
    values = np.sort(np.fromiter(counts.values(), dtype=np.int64, count=len(counts)))
    least = int(values[-most])
    return Counter({word: count for word, count in counts.items() if count > least or word in keep})
