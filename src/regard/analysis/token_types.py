"""Types of tokens, one per class and neutral, by their frequency in the texts of each class (Sun & Lu §5, equation 28).

    γ = (f⁺ − f⁻) / (f⁺ + f⁻)       f: the count of a token in the texts of each class

    positive   γ > 0.5 and f⁺ > 5        negative   γ < −0.5 and f⁻ > 5        neutral   |γ| < 0.1 and |f⁺ − f⁻| < 5

The paper writes (0.5, 1), an open interval; with γ = 1 included, tokens of one class only, its reported counts are
reproduced (412, 265 and 1,384 on SST). For K classes it compares the largest share f_k / Σf with a threshold that it doesn't
give. **Choice**: γ > 0.5 for two classes is a share above 3/4, halfway from 1/2 to 1, and (K + 1) / 2K is halfway from 1/K to
1; |γ| < 0.1 means that the largest minus the smallest share is below 1/10, also for K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import SPECIALS
from regard.kernels.class_counts import class_counts

SEEN = 5  # a token of a class must occur more often than this in it
EVEN, NEAR = 0.1, 5  # a neutral token: largest differences of shares and counts between classes
NEUTRAL = "neutral"
NONE = -1


class TokenTypes(NamedTuple):
    """The type of every token: the index of a class, the number of classes for neutral, or −1 for neither."""

    names: tuple[str, ...]  # the classes, then "neutral" ("of no class" if a class is called that)
    codes: NDArray[np.int32]  # (U,)
    counts: NDArray[np.int64]  # (U, K) occurrences in the texts of each class
    gamma: NDArray[np.float64]  # (U,) γ for two classes; for more, the largest share minus the mean of the others

    def of(self, name: str) -> NDArray[np.int64]:
        """The tokens of a type."""
        return np.flatnonzero(self.codes == self.names.index(name))

    @property
    def tied(self) -> NDArray[np.int64]:
        """Tokens that belong to some class: polarity tokens."""
        return np.flatnonzero((self.codes >= 0) & (self.codes < len(self.names) - 1))

    @property
    def neutral(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.codes == len(self.names) - 1)


def token_types(texts: UnitTexts, units: int, classes: Sequence[str]) -> TokenTypes:
    """Types of the ids 0 … units − 1. Padding and the unknown word have no type."""
    arrays = (texts.ids, texts.counts, texts.offsets, texts.labels.astype(np.int64))
    return types_of(class_counts(*arrays, units, len(classes)), classes)


def types_of(counts: NDArray[np.int64], classes: Sequence[str]) -> TokenTypes:
    total = counts.sum(1)
    shares = counts / np.maximum(total, 1)[:, None]  # (U, K)
    strongest = counts.argmax(1)
    largest, smallest = shares.max(1), shares.min(1)
    codes = np.full(len(counts), NONE, dtype=np.int32)
    even = (total > 0) & (largest - smallest < EVEN) & (counts.max(1) - counts.min(1) < NEAR)
    codes[even] = len(classes)
    tied = (largest > (len(classes) + 1) / (2 * len(classes))) & (counts.max(1) > SEEN)
    codes[tied] = strongest[tied]
    codes[:SPECIALS] = NONE
    names = (*classes, "of no class" if NEUTRAL in classes else NEUTRAL)
    if len(classes) == 2:
        return TokenTypes(names, codes, counts, shares[:, 1] - shares[:, 0])
    others = (1 - largest) / (len(classes) - 1)
    return TokenTypes(names, codes, counts, np.where(total > 0, largest - others, 0.0))
