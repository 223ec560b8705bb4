"""The texts that a report shows, mistakes first, each with its words for and against the prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.explain.explain import explain
from regard.explain.targets import Target
from regard.facts.run import ShownText, TextView
from regard.models.model import Model
from regard.models.tasks import Classes, MultiLabel, Named, labels_as_shown
from regard.records import Example, Label

MOST, MISTAKES = 200, 150  # texts shown, and mistakes among them
WORDS = 100_000  # in all shown texts; more would make the page slow to open

Floats = NDArray[np.float64]


def shown_texts(
    trained: Model, examples: Sequence[Example], answers: Floats, method: str | None = None, target: Target = None
) -> tuple[ShownText, ...]:
    """`answers`: the predictions for all examples. `method` and `target` are those of `explain`."""
    labels = labels_as_shown(trained.task, examples)
    mistakes = find_mistakes(trained, labels, answers)
    chosen = within_limit(trained, examples, order(trained, labels, mistakes, answers))
    explanations = explain(trained, [examples[index].text for index in chosen], method=method, target=target)
    return tuple(
        ShownText(f"row {examples[index].row}", mistakes[index], labels[index], (TextView(explanation),))
        for index, explanation in zip(chosen, explanations, strict=True)
    )


def find_mistakes(trained: Model, labels: Sequence[Label | None], answers: Floats) -> list[bool | None]:
    task = trained.task
    if isinstance(task, MultiLabel):
        values = [one.value for one in task.predictions(answers)]
        return [None if label is None else label != one for label, one in zip(labels, values, strict=True)]
    if not isinstance(task, Classes):
        return [None] * len(labels)
    predicted = task.chosen(answers)
    return [None if label is None else task.classes[k] != label for label, k in zip(labels, predicted, strict=True)]


def order(
    trained: Model, labels: Sequence[Label | None], mistakes: Sequence[bool | None], answers: Floats
) -> list[int]:
    """Mistakes, the most confident first; then correct predictions, the least confident first; then texts without a label.
    For a regression, the largest errors first."""
    if not isinstance(trained.task, Named):
        errors = [abs(answers[k, 0] - y) if isinstance(y, (int, float)) else -1.0 for k, y in enumerate(labels)]
        return sorted(range(len(labels)), key=lambda k: (-errors[k], k))[:MOST]
    # of several labels, a text is as sure as its least certain label
    confidence = answers.max(1) if isinstance(trained.task, Classes) else np.abs(answers - 0.5).min(1)
    wrong = sorted((k for k, one in enumerate(mistakes) if one), key=lambda k: (-confidence[k], k))
    right = sorted((k for k, one in enumerate(mistakes) if one is False), key=lambda k: (confidence[k], k))
    unknown = [k for k, one in enumerate(mistakes) if one is None]
    others = len(right) + len(unknown)
    return [*wrong[: max(MISTAKES, MOST - others)], *right, *unknown][:MOST]


def within_limit(trained: Model, examples: Sequence[Example], indices: Sequence[int]) -> list[int]:
    """The first texts that have at most `WORDS` words together, but at least one."""
    kept: list[int] = []
    words = 0
    for index in indices:
        words += len(trained.tokenizer.outline(examples[index].text).words)
        if kept and words > WORDS:
            break
        kept.append(index)
    return kept
