"""Asking a judge. A judge is anything that answers texts with the probability of every class; its inside is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Doubles

Judge = Callable[[Sequence[str]], Doubles]  # texts -> (texts, classes)

BATCH = 8192  # texts that a judge is asked at a time
ROUNDED = 1e-3  # beyond 0 and 1, of a judge that counts in half precision
CHARACTERS = 2**25  # of erased texts held at a time


class Questions:
    """Texts to be judged, each different one once, numbered as they come."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def add(self, text: str) -> int:
        return self.places.setdefault(text, len(self.places))

    def put(self, judge: Judge, batch: int = BATCH) -> Doubles:
        """(questions, classes). Texts of like length are asked together: a judge that pads them wastes little."""
        texts = list(self.places)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        parts = []
        for start in range(0, len(order), batch):
            asked = [texts[place] for place in order[start : start + batch]]
            parts.append(checked(judge(asked), len(asked)))
            if parts[-1].shape[1] != parts[0].shape[1]:
                raise InputError(
                    f"judge: {parts[0].shape[1]} classes at first, {parts[-1].shape[1]} later; one number of classes"
                    " is accepted"
                )
        answers = np.empty((len(texts), parts[0].shape[1])) if parts else np.empty((0, 2))
        if parts:
            answers[order] = np.concatenate(parts)
        return answers


def checked(answers: object, texts: int) -> Doubles:
    found = np.asarray(answers, dtype=np.float64)
    if found.ndim != 2 or len(found) != texts or found.shape[1] < 2:
        raise InputError(
            f"judge: answers of shape {found.shape} to {texts} texts; ({texts}, classes), with at least two classes,"
            " is accepted"
        )
    if not np.isfinite(found).all():
        raise InputError("judge: a probability is not finite; finite numbers are accepted")
    strange = found[(found < -ROUNDED) | (found > 1 + ROUNDED)]
    if len(strange):
        raise InputError(f"judge: a probability of {strange[0]:g}; numbers from 0 to 1 are accepted")
    return found


def blocks(texts: Sequence[str], copies: int) -> Iterator[range]:
    """Runs of texts of which so many copies each fit into memory together."""
    start = size = 0
    for place, text in enumerate(texts):
        own = (len(text) + 1) * copies
        if place > start and size + own > CHARACTERS:
            yield range(start, place)
            start, size = place, 0
        size += own
    if start < len(texts):
        yield range(start, len(texts))
