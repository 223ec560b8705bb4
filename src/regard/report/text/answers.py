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
    if isinstance(value, tuple):
        return several(explanation, value)
    if isinstance(value, str) or explanation.prediction.probabilities:
        share = explanation.prediction.probabilities.get(str(value))
        probability = "" if share is None else f"{share:.3f}"
        if label is None:
            return Answer(one_line(value), probability)
        return Answer(one_line(value), probability, one_line(label), str(label) == str(value))
    if label is None:
        return Answer(figures(value))
    if not isinstance(label, (int, float)):
        return Answer(figures(value), truth=one_line(label))
    return Answer(figures(value), truth=figures(label), error=figures(value - label, "+"))


def several(explanation: Explanation, labels: tuple[str, ...]) -> Answer:
    """Of a text that may have several labels: right if all of them are."""
    probabilities, label = explanation.prediction.probabilities, explanation.label
    shares = ", ".join(f"{probabilities[str(name)]:.3f}" for name in labels if str(name) in probabilities)
    if label is None:
        return Answer(listed(labels), shares)
    truth = label if isinstance(label, tuple) else (str(label),)
    return Answer(listed(labels), shares, listed(truth), set(map(str, truth)) == set(map(str, labels)))


def listed(labels: Sequence[object]) -> str:
    return ", ".join(one_line(name) for name in labels) or "(no label)"


def as_names(label: object) -> set[str]:
    """The labels of a text, of which there may be several."""
    return set(map(str, label)) if isinstance(label, tuple) else {str(label)}


def index_of(label: object, names: Sequence[str]) -> int | str:
    """The index of a class, "" if there is none; of several labels their indices, separated by spaces."""
    if isinstance(label, tuple):
        return " ".join(str(names.index(str(name))) for name in label if str(name) in names)
    return names.index(str(label)) if str(label) in names else ""


def class_probabilities(explanation: Explanation, limit: int = 6) -> tuple[list[ClassProbability], int]:
    """The most likely classes and the true one, and how many more there are."""
    probabilities = explanation.prediction.probabilities
    predicted, true = as_names(explanation.prediction.value), as_names(explanation.label)
    ranked = sorted(probabilities, key=lambda name: -probabilities[name])
    kept = [name for rank, name in enumerate(ranked) if rank < limit or name in predicted | true]
    listed = [ClassProbability(one_line(name), probabilities[name], name in predicted, name in true) for name in kept]
    return listed, len(ranked) - len(listed)


def tally(answers: Sequence[Answer]) -> tuple[int, list[int]]:
    """How many answers have a known truth, and the numbers (from 1) of the wrong ones."""
    judged = [(number, one.right) for number, one in enumerate(answers, start=1) if one.right is not None]
    return len(judged), [number for number, right in judged if not right]
