"""A prediction in words: what was said, how surely, and whether it was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.records import Explanation
from regard.report.text.characters import one_line


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything is text, to be escaped; `right` is None where the truth is unknown or a number was asked for."""

    said: str
    probability: str = ""
    truth: str = ""
    right: bool | None = None
    error: str = ""  # of a number: how far it is off, with its sign


@dataclass(frozen=True, slots=True)
class Chance:
    """A class and its probability."""

    name: str
    probability: float
    said: bool
    true: bool


def answer(explanation: Explanation) -> Answer:
    value, label = explanation.prediction.value, explanation.label
    if isinstance(value, str) or explanation.prediction.probabilities:
        chance = explanation.prediction.probabilities.get(str(value))
        probability = "" if chance is None else f"{chance:.3f}"
        if label is None:
            return Answer(one_line(value), probability)
        return Answer(one_line(value), probability, one_line(label), str(label) == str(value))
    if label is None:
        return Answer(number(value))
    if isinstance(label, str):
        return Answer(number(value), truth=one_line(label))
    return Answer(number(value), truth=number(label), error=number(value - label, "+"))


def chances(explanation: Explanation, limit: int = 6) -> tuple[list[Chance], int]:
    """The likeliest classes and the true one, and how many more there are."""
    probabilities = explanation.prediction.probabilities
    said, true = str(explanation.prediction.value), str(explanation.label)
    ranked = sorted(probabilities, key=lambda name: -probabilities[name])
    kept = [name for place, name in enumerate(ranked) if place < limit or name in (said, true)]
    found = [Chance(one_line(name), probabilities[name], name == said, name == true) for name in kept]
    return found, len(ranked) - len(found)


def tally(answers: Sequence[Answer]) -> tuple[int, list[int]]:
    """How many answers could be judged, and the places (from 1) of the wrong ones."""
    judged = [(place, given.right) for place, given in enumerate(answers, start=1) if given.right is not None]
    return len(judged), [place for place, right in judged if not right]


def number(value: float, sign: str = "") -> str:
    """Four figures, and no exponent where people would write none."""
    told = f"{value:{sign}z,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:{sign}z.4g}"
    return told.replace("-", "−")
