"""Training models again to compare them with a run: on a part of its training texts, for a bounded time.

**Choices**: at most TEXTS of the training texts, drawn with a seed; at most EPOCHS epochs; otherwise the run's own options.
All compared models are trained on the same texts, and none of them is the run itself. They are evaluated on the audited texts
if these have labels, and otherwise on a held-out fifth of the training texts. No audited text is trained on: any model is
right on what it has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.audit.training_texts import training_texts
from regard.config import Config
from regard.errors import InputError
from regard.facts.audit import Retrained
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.records import Example
from regard.training.data_files import check_named
from regard.training.fit import Parts, fit

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
TEXTS, EPOCHS = 5000, 10
EVEN = 1e9  # a λ so large that attention weights are uniform, whatever the scores


class Retraining(NamedTuple):
    """How the compared models are trained and evaluated."""

    config: Config
    examples: list[Example]  # to train on
    texts: Sequence[str]  # to evaluate on
    labels: Ints  # of these texts
    classes: tuple[str, ...]

    def facts(self) -> Retrained:
        return Retrained(len(self.examples), len(self.texts), self.config.training.epochs)

    def fit(self, recorder: Recorder, what: str, parts: Parts | None = None, **options: object) -> Trained:
        """On the examples, or on `parts` made from them."""
        recorder.note(f"retraining on {len(self.examples)} texts: {what}")
        return fit(self.config.override(options), parts or Parts(self.examples))

    def right(self, trained: Trained) -> Doubles:
        """(texts,) 1 where the model predicts the label."""
        task = trained.task
        assert isinstance(task, Classes)
        assert task.classes == self.classes
        return np.asarray(task.chosen(trained.answers(self.texts)) == self.labels, dtype=np.float64)


class Audited(NamedTuple):
    """The run and the texts of an audit."""

    trained: Trained
    texts: Sequence[str]
    labels: Ints | None
    seed: int
    recorder: Recorder


class LazyRetraining:
    """Reads training texts and trains the first model only when a diagnostic asks for them."""

    def __init__(self, audited: Audited, learned_from: Sequence[Example] | None) -> None:
        self.audited = audited
        self.learned_from = learned_from  # None until the run's training texts are read

    @cached_property
    def setup(self) -> Retraining:
        if self.learned_from is None:
            self.learned_from = list(training_texts(self.audited.trained))
        check_named(self.audited.trained)
        trained, texts, labels, seed, _ = self.audited
        return make_retraining(trained, texts, labels, seed, self.learned_from)

    @cached_property
    def first(self) -> Trained:
        return self.setup.fit(self.audited.recorder, "the model as it is")


def make_retraining(
    trained: Trained,
    texts: Sequence[str],
    labels: Ints | None,
    seed: int,
    examples: Sequence[Example],
    most_texts: int = TEXTS,
    most_epochs: int = EPOCHS,
) -> Retraining:
    """With some of `examples`, the run's training texts. InputError if none can be used."""
    audited = set(texts)
    examples = [example for example in examples if example.text not in audited]
    if not examples:
        raise InputError("every training text of the run is audited, so none is left to train on")
    rng = np.random.default_rng((seed, 2))
    chosen = [examples[row] for row in np.sort(rng.permutation(len(examples))[:most_texts]).tolist()]
    classes = tuple(trained.task.as_dict()["classes"])
    if labels is None:
        held_out = set(rng.permutation(len(chosen))[: len(chosen) // 5].tolist())
        evaluated = [chosen[row] for row in sorted(held_out)]
        chosen = [example for row, example in enumerate(chosen) if row not in held_out]
        texts = [example.text for example in evaluated]
        labels = np.array(
            [trained.task.encode(example.label, "training texts") for example in evaluated], dtype=np.int64
        )
    if {str(example.label) for example in chosen} != set(classes):
        raise InputError("the sample of the training texts lacks some of the run's classes")
    options = {
        "epochs": min(trained.config.training.epochs, most_epochs),
        "device": trained.device,
        "record": "no",
        "train": None,
        "dev": None,
        "test": None,
    }
    return Retraining(trained.config.override(options), chosen, texts, labels, classes)
