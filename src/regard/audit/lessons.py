"""What models are trained again on, to be held against a run: a part of its training texts, for a bounded time.

**Choices**: at most TEXTS of the training texts, seeded; at most EPOCHS epochs; the run's own options otherwise. All models
that are compared learn from the same texts, and none of them is the run itself. They are judged on the texts audited where
these have labels, and else on a fifth of the training texts that none has learned from. None learns from a text that is
audited: on what it has seen, any model is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.errors import InputError
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.records import Example
from regard.training.fit import Parts, fit

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
TEXTS, EPOCHS = 5000, 10
EVEN = 1e9  # λ with which attention weights are even, whatever the scores


class Lesson(NamedTuple):
    config: Config
    examples: list[Example]
    texts: Sequence[str]  # that models are judged on
    labels: Ints  # of these
    classes: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        return {"learned_from": len(self.examples), "judged_on": len(self.texts), "epochs": self.config.training.epochs}

    def fit(self, recorder: Recorder, what: str, **options: object) -> Trained:
        recorder.note(f"training again on {len(self.examples)} texts: {what}")
        return fit(self.config.override(options), Parts(self.examples))

    def right(self, trained: Trained) -> Doubles:
        """(texts,) 1 where its answer is the label."""
        assert tuple(trained.task.as_dict()["classes"]) == self.classes
        return np.asarray(trained.answers(self.texts).argmax(1) == self.labels, dtype=np.float64)


def make_lesson(
    trained: Trained,
    texts: Sequence[str],
    labels: Ints | None,
    seed: int,
    examples: Sequence[Example],
    most_texts: int = TEXTS,
    most_epochs: int = EPOCHS,
) -> Lesson:
    """Of `examples`, the run's training texts. InputError where there is nothing to learn from."""
    audited = set(texts)
    examples = [example for example in examples if example.text not in audited]
    if not examples:
        raise InputError("every text that the run learned from is audited, and none is left to learn from")
    chance = np.random.default_rng((seed, 2))
    chosen = [examples[place] for place in np.sort(chance.permutation(len(examples))[:most_texts]).tolist()]
    classes = tuple(trained.task.as_dict()["classes"])
    if labels is None:
        held = set(chance.permutation(len(chosen))[: len(chosen) // 5].tolist())
        judged = [chosen[place] for place in sorted(held)]
        chosen = [example for place, example in enumerate(chosen) if place not in held]
        texts = [example.text for example in judged]
        labels = np.array([trained.task.encode(example.label, "training texts") for example in judged], dtype=np.int64)
    if {str(example.label) for example in chosen} != set(classes):
        raise InputError("a part of the training texts has not all of the run's classes")
    own = {
        "epochs": min(trained.config.training.epochs, most_epochs),
        "device": trained.device,
        "record": "no",
        "train": None,
        "dev": None,
        "test": None,
    }
    return Lesson(trained.config.override(own), chosen, texts, labels, classes)
