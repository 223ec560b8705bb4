"""The words of an explained text: one record per word, or all of them as arrays that make the records when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

# How a model reads a word: as itself; by its first letters only; as the vector that all unknown words share; or not at all, so
# that it matters only by standing between its neighbours.
ReadAs = Literal["word", "beginning", "unknown", "nothing"]
WAYS: tuple[ReadAs, ...] = ("nothing", "beginning", "word", "unknown")  # by the codes of `Tokens`
BEGINNING, WORD = WAYS.index("beginning"), WAYS.index("word")


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A word of a text: how much the model looked at it, and whether it spoke for or against the answer.

    The weights of a text's words are not negative and sum to 1. A contribution is the drop of the target's log-odds without
    the word (of a regression: of the prediction), negative where the word speaks against it; contributions do not sum to
    anything.
    """

    text: str
    start: int
    end: int
    weight: float
    known: bool = True  # False if the model has no vector for this word
    contribution: float | None = None  # None if no signed method was used
    read_as: ReadAs = "word"


class TokenRow(TypedDict):
    """The JSON form of a word."""

    text: str
    start: int
    end: int
    weight: float
    known: bool
    contribution: NotRequired[float]
    read_as: NotRequired[ReadAs]


class Tokens(Sequence[TokenScore]):
    """The words of a text with contributions, equal to the tuple of their records.

    A file of texts has millions of words, and most are only written: an array has them in a tenth of the time.
    """

    __slots__ = ("codes", "contributions", "ends", "starts", "text", "weights")

    def __init__(
        self,
        text: str,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        weights: NDArray[np.float64],
        contributions: NDArray[np.float64],
        codes: NDArray[np.uint8],  # how words are read, as positions in WAYS
    ) -> None:
        self.text, self.starts, self.ends = text, starts, ends
        self.weights, self.contributions, self.codes = weights, contributions, codes

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> TokenScore: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TokenScore, ...]: ...
    def __getitem__(self, index: int | slice) -> TokenScore | tuple[TokenScore, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        start, end, code = int(self.starts[index]), int(self.ends[index]), int(self.codes[index])
        scores = float(self.weights[index]), code == WORD, float(self.contributions[index])
        return TokenScore(self.text[start:end], start, end, *scores, WAYS[code])

    def __iter__(self) -> Iterator[TokenScore]:
        text, columns = self.text, (self.starts, self.ends, self.weights, self.contributions, self.codes)
        for start, end, weight, contribution, code in zip(*(column.tolist() for column in columns), strict=True):
            yield TokenScore(text[start:end], start, end, weight, code == WORD, contribution, WAYS[code])

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (tuple, Tokens)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def are_mostly_known(self) -> bool:
        """Whether it is certain without a look at every word that at least half of the words have a vector.

        Among the first words, as many begin with a letter and have one, so that punctuation makes no difference.
        """
        has_vector = (self.codes == WORD) | (self.codes == BEGINNING)
        unknown = len(has_vector) - int(np.count_nonzero(has_vector))
        text, seen = self.text, 0
        for start in self.starts[has_vector][: 4 * unknown].tolist():
            if seen >= unknown:
                break
            seen += text[start].isalpha()
        return seen >= unknown and len(has_vector) > 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies of the arrays, which are parts of those of many texts."""
        columns = (self.starts, self.ends, self.weights, self.contributions, self.codes)
        return Tokens, (self.text, *(column.copy() for column in columns))


def token_rows(tokens: Sequence[TokenScore]) -> list[TokenRow]:
    return [token_row(token) for token in tokens]


def token_row(token: TokenScore) -> TokenRow:
    # spelled out because `dataclasses.asdict` takes five times as long, and there is one of these per word
    row: TokenRow = {
        "text": token.text,
        "start": token.start,
        "end": token.end,
        "weight": token.weight,
        "known": token.known,
    }
    if token.contribution is not None:
        row["contribution"], row["read_as"] = token.contribution, token.read_as
    return row
