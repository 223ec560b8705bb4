"""One label of a multi-label run as a classifier of its own: texts with the label against texts without it.

Its logit is one output of the run, so that predictions, weights and contributions for the label are those of the run. Audits and
analyses of words, which ask about one class per text, take such a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from regard.data.labels import natural_order
from regard.errors import InputError, quoted
from regard.models.flat import output_layer
from regard.models.tasks import Binary, MultiLabel
from regard.models.trained import Trained
from regard.records import Example


def absence(label: str) -> str:
    """The name of the class of texts without the label."""
    return f"not {label}"


def one_label(trained: Trained, label: str) -> Trained:
    """The run as a classifier of two classes: with the label, and without it."""
    task = trained.task
    if not isinstance(task, MultiLabel):
        raise InputError(f"--target {label}: expected a run with several labels per text, got task = {task.kind}")
    if label not in task.classes:
        raise InputError(f"--target: expected one of {quoted(task.classes, most=20)}, got {label!r}")
    classes = sorted((label, absence(label)), key=natural_order)
    row, sign = task.classes.index(label), 1 if classes[1] == label else -1
    threshold = task.thresholds[row]
    weights = dict(trained.weights)
    for name in output_layer(weights):
        weights[name] = np.ascontiguousarray(sign * weights[name][row : row + 1])
    return Trained(
        trained.config.override({"task": "binary", "label_separator": None}),
        trained.tokenizer,
        Binary((classes[0], classes[1]), thresholds=(threshold if sign > 0 else 1 - threshold,)),
        trained.metrics,
        weights=weights,
        device=trained.device,
        encoder_config=trained.encoder_config,
        digests=trained.digests,
    )


def with_one_label(examples: Iterable[Example], label: str) -> list[Example]:
    """The texts with the label that `one_label` gives them, if they have any."""

    def named(example: Example) -> str | None:
        if example.label is None:
            return None
        labels = example.label if isinstance(example.label, tuple) else (str(example.label),)
        return label if label in labels else absence(label)

    return [replace(example, label=named(example)) for example in examples]
