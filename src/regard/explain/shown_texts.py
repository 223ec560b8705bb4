"""The texts that a report shows, mistakes first: explained by attention, and the first of them also by a second explainer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.word_scores import Attributed
from regard.facts.run import ShownText, TextView
from regard.models.tasks import Classes, labels_as_shown
from regard.models.trained import Trained
from regard.records import Example

MOST, MISTAKES, BESIDE = 200, 150, 50  # texts shown, mistakes among them, and texts with two explainers
WORDS = 100_000  # in all shown texts; more would make the page slow to open
SECOND = "gradient_times_input"

Floats = NDArray[np.float64]


def shown_texts(trained: Trained, examples: Sequence[Example], answers: Floats) -> tuple[ShownText, ...]:
    """`answers`: the predictions for all examples."""
    labels = labels_as_shown(trained.task, examples)
    mistakes = find_mistakes(trained, labels, answers)
    chosen = within_limit(trained, examples, order(trained, labels, mistakes, answers))
    texts = [examples[index].text for index in chosen]
    views: list[list[TextView]] = [[] for _ in chosen]
    attends = has_attention(trained)
    if attends:
        for view, explanation in zip(views, explain(trained, texts), strict=True):
            view.append(TextView(explanation))
    second = attribute(trained, texts[: BESIDE if attends else MOST], SECOND)
    for view, attributed in zip(views, second, strict=False):
        view.append(signed_view(attributed))
    return tuple(
        ShownText(f"row {examples[index].row}", mistakes[index], labels[index], tuple(view))
        for index, view in zip(chosen, views, strict=True)
    )


def has_attention(trained: Trained) -> bool:
    return any(level.attends for level in trained.capabilities)


def find_mistakes(trained: Trained, labels: Sequence[str | float | None], answers: Floats) -> list[bool | None]:
    task = trained.task
    if not isinstance(task, Classes):
        return [None] * len(labels)
    predicted = answers.argmax(1)
    return [None if label is None else task.classes[k] != label for label, k in zip(labels, predicted, strict=True)]


def order(
    trained: Trained, labels: Sequence[str | float | None], mistakes: Sequence[bool | None], answers: Floats
) -> list[int]:
    """Mistakes, the most confident first; then correct predictions, the least confident first; then texts without a label.
    For a regression, the largest errors first."""
    if not isinstance(trained.task, Classes):
        errors = [-1.0 if y is None else abs(answers[k, 0] - float(y)) for k, y in enumerate(labels)]
        return sorted(range(len(labels)), key=lambda k: (-errors[k], k))[:MOST]
    confidence = answers.max(1)
    wrong = sorted((k for k, one in enumerate(mistakes) if one), key=lambda k: (-confidence[k], k))
    right = sorted((k for k, one in enumerate(mistakes) if one is False), key=lambda k: (confidence[k], k))
    unknown = [k for k, one in enumerate(mistakes) if one is None]
    others = len(right) + len(unknown)
    return [*wrong[: max(MISTAKES, MOST - others)], *right, *unknown][:MOST]


def within_limit(trained: Trained, examples: Sequence[Example], indices: Sequence[int]) -> list[int]:
    """The first texts that have at most `WORDS` words together, but at least one."""
    kept: list[int] = []
    words = 0
    for index in indices:
        words += len(trained.tokenizer.outline(examples[index].text).words)
        if kept and words > WORDS:
            break
        kept.append(index)
    return kept


def signed_view(attributed: Attributed) -> TextView:
    """Absolute scores as weights that sum to 1, and the offsets of the words and sentences against the prediction."""
    scored = zip(attributed.spans, attributed.scores.tolist(), strict=True)
    against = tuple(start for (start, _), score in scored if score < 0)
    sentences = tuple(sentence.start for sentence in attributed.sentences if sentence.weight < 0)
    return TextView(attributed.explanation(side="both"), against, sentences)
