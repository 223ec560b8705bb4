"""A prediction in words: the answer, its probability, and whether it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.records import Explanation
from regard.report.text.characters import one_line
from regard.report.text.numbers import figures


@dataclass(frozen=True, slots=True)
class Answer:
    """Text to be escaped; `right` is None if the truth is unknown or the task is regression."""

    said: str
    probability: str = ""
    truth: str = ""
    right: bool | None = None
    error: str = ""  # of a number: prediction minus truth


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
        return Answer(figures(value))
    if isinstance(label, str):
        return Answer(figures(value), truth=one_line(label))
    return Answer(figures(value), truth=figures(label), error=figures(value - label, "+"))


def chances(explanation: Explanation, limit: int = 6) -> tuple[list[Chance], int]:
    """The most likely classes and the true one, and how many more there are."""
    probabilities = explanation.prediction.probabilities
    said, true = str(explanation.prediction.value), str(explanation.label)
    ranked = sorted(probabilities, key=lambda name: -probabilities[name])
    kept = [name for place, name in enumerate(ranked) if place < limit or name in (said, true)]
    found = [Chance(one_line(name), probabilities[name], name == said, name == true) for name in kept]
    return found, len(ranked) - len(found)


def tally(answers: Sequence[Answer]) -> tuple[int, list[int]]:
    """How many answers could be judged, and the numbers (from 1) of the wrong ones."""
    judged = [(place, given.right) for place, given in enumerate(answers, start=1) if given.right is not None]
    return len(judged), [place for place, right in judged if not right]
