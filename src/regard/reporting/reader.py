"""The texts that a report shows, mistakes first, with what one explainer says of each, and of the first ones two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.word_scores import Attributed
from regard.models.tasks import Classes, labels_as_shown
from regard.models.trained import Trained
from regard.records import Example

MOST, MISTAKES, BESIDE = 200, 150, 50  # texts shown, of them at most so many mistakes; with two explainers
WORDS = 100_000  # of all shown texts: more would make the page slow to open
SECOND = "gradient_times_input"

Floats = NDArray[np.float64]
Shown = dict[str, Any]


def shown_texts(trained: Trained, examples: Sequence[Example], answers: Floats) -> list[Shown]:
    """Each with its row, whether it is a mistake (None: nobody knows, or a number), and its views, attention first."""
    labels = labels_as_shown(trained.task, examples)
    mistakes = mistaken(trained, labels, answers)
    places = in_reach(trained, examples, order(trained, labels, mistakes, answers))
    texts = [examples[place].text for place in places]
    views: list[list[dict[str, Any]]] = [[] for _ in places]
    attends = has_attention(trained)
    if attends:
        for own, found in zip(views, explain(trained, texts), strict=True):
            own.append(found.as_dict())
    given = attribute(trained, texts[: BESIDE if attends else MOST], SECOND)
    for own, attributed in zip(views, given, strict=False):
        own.append(signed(attributed))
    return [
        {"row": examples[place].row, "mistake": mistakes[place], "label": labels[place], "views": own}
        for place, own in zip(places, views, strict=True)
    ]


def has_attention(trained: Trained) -> bool:
    return any(level.attends for level in trained.capabilities)


def mistaken(trained: Trained, labels: Sequence[str | float | None], answers: Floats) -> list[bool | None]:
    task = trained.task
    if not isinstance(task, Classes):
        return [None] * len(labels)
    said = answers.argmax(1)
    return [None if label is None else task.classes[k] != label for label, k in zip(labels, said, strict=True)]


def order(
    trained: Trained, labels: Sequence[str | float | None], mistakes: Sequence[bool | None], answers: Floats
) -> list[int]:
    """Mistakes, the surest first; then right answers, the least sure first; then texts without a label. Of numbers: how
    far they are off."""
    if not isinstance(trained.task, Classes):
        off = [-1.0 if y is None else abs(answers[k, 0] - float(y)) for k, y in enumerate(labels)]
        return sorted(range(len(labels)), key=lambda k: (-off[k], k))[:MOST]
    sure = answers.max(1)
    wrong = sorted((k for k, one in enumerate(mistakes) if one), key=lambda k: (-sure[k], k))
    right = sorted((k for k, one in enumerate(mistakes) if one is False), key=lambda k: (sure[k], k))
    unknown = [k for k, one in enumerate(mistakes) if one is None]
    others = len(right) + len(unknown)
    return [*wrong[: max(MISTAKES, MOST - others)], *right, *unknown][:MOST]


def in_reach(trained: Trained, examples: Sequence[Example], places: Sequence[int]) -> list[int]:
    """As many of them as have `WORDS` words together; the first in any case."""
    kept: list[int] = []
    words = 0
    for place in places:
        words += len(trained.tokenizer.outline(examples[place].text).words)
        if kept and words > WORDS:
            break
        kept.append(place)
    return kept


def signed(found: Attributed) -> dict[str, Any]:
    """Sizes as weights that sum to 1, and where the words and sentences begin that speak against the answer."""
    against = [a for (a, _), score in zip(found.spans, found.scores.tolist(), strict=True) if score < 0]
    sentences = [sentence.start for sentence in found.sentences if sentence.weight < 0]
    return {**found.explanation(side="both").as_dict(), "against": against, "sentences_against": sentences}
