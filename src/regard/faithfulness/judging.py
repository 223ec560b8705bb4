"""Asking a judge: any function from texts to the probability of every class, used as a black box."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Doubles

Judge = Callable[[Sequence[str]], Doubles]  # texts -> (texts, classes)

BATCH = 8192  # texts per call of a judge
ROUNDING = 1e-3  # tolerance beyond 0 and 1, for judges in half precision
CHARACTERS = 2**25  # characters of erased texts held in memory at a time
LONGEST = 2000  # words of a text that is read once without each of them


class Questions:
    """Distinct texts to be judged, numbered in order of appearance."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def put(self, judge: Judge, batch: int = BATCH) -> Doubles:
        """(questions, classes). Texts of similar length are asked together, so that a judge that pads them wastes little."""
        texts = list(self.numbers)
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        parts = []
        for start in range(0, len(order), batch):
            part = [texts[number] for number in order[start : start + batch]]
            parts.append(checked(judge(part), len(part)))
            if parts[-1].shape[1] != parts[0].shape[1]:
                raise InputError(
                    f"judge: expected {parts[0].shape[1]} classes as in the first batch, got {parts[-1].shape[1]}"
                )
        answers = np.empty((len(texts), parts[0].shape[1])) if parts else np.empty((0, 2))
        if parts:
            answers[order] = np.concatenate(parts)
        return answers


def checked(answers: object, texts: int) -> Doubles:
    probabilities = np.asarray(answers, dtype=np.float64)
    if probabilities.ndim != 2 or len(probabilities) != texts or probabilities.shape[1] < 2:
        raise InputError(
            f"judge: expected probabilities of shape ({texts}, classes) with at least two classes, got {probabilities.shape}"
        )
    if not np.isfinite(probabilities).all():
        raise InputError("judge: expected finite probabilities, got NaN or infinity")
    invalid = probabilities[(probabilities < -ROUNDING) | (probabilities > 1 + ROUNDING)]
    if len(invalid):
        raise InputError(f"judge: expected probabilities from 0 to 1, got {invalid[0]:g}")
    return probabilities


def blocks(texts: Sequence[str], copies: int) -> Iterator[range]:
    """Ranges of texts such that `copies` copies of each fit into memory together."""
    return blocks_of([(len(text) + 1) * copies for text in texts])


def blocks_of(sizes: Sequence[int]) -> Iterator[range]:
    """Ranges of texts that fit into memory together. `sizes`: the characters needed for each."""
    start = size = 0
    for index, needed in enumerate(sizes):
        if index > start and size + needed > CHARACTERS:
            yield range(start, index)
            start, size = index, 0
        size += needed
    if start < len(sizes):
        yield range(start, len(sizes))
