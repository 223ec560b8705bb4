"""A prediction as text: its value, its probability, and whether it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.records import Explanation
from regard.report.text.characters import one_line
from regard.report.text.numbers import figures


@dataclass(frozen=True, slots=True)
class Answer:
    """Unescaped text; `right` is None if the truth is unknown or the task is regression."""

    prediction: str
    probability: str = ""
    truth: str = ""
    right: bool | None = None
    error: str = ""  # of a number: prediction minus truth


@dataclass(frozen=True, slots=True)
class ClassProbability:
    """A class and its probability."""

    name: str
    probability: float
    predicted: bool
    true: bool


def answer(explanation: Explanation) -> Answer:
    value, label = explanation.prediction.value, explanation.label
    if isinstance(value, str) or explanation.prediction.probabilities:
        share = explanation.prediction.probabilities.get(str(value))
        probability = "" if share is None else f"{share:.3f}"
        if label is None:
            return Answer(one_line(value), probability)
        return Answer(one_line(value), probability, one_line(label), str(label) == str(value))
    if label is None:
        return Answer(figures(value))
    if isinstance(label, str):
        return Answer(figures(value), truth=one_line(label))
    return Answer(figures(value), truth=figures(label), error=figures(value - label, "+"))


def class_probabilities(explanation: Explanation, limit: int = 6) -> tuple[list[ClassProbability], int]:
    """The most likely classes and the true one, and how many more there are."""
    probabilities = explanation.prediction.probabilities
    predicted, true = str(explanation.prediction.value), str(explanation.label)
    ranked = sorted(probabilities, key=lambda name: -probabilities[name])
    kept = [name for rank, name in enumerate(ranked) if rank < limit or name in (predicted, true)]
    listed = [ClassProbability(one_line(name), probabilities[name], name == predicted, name == true) for name in kept]
    return listed, len(ranked) - len(listed)


def tally(answers: Sequence[Answer]) -> tuple[int, list[int]]:
    """How many answers have a known truth, and the numbers (from 1) of the wrong ones."""
    judged = [(number, one.right) for number, one in enumerate(answers, start=1) if one.right is not None]
    return len(judged), [number for number, right in judged if not right]
