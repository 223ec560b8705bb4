"""How much each training text counts: the weights of its row and of its class, multiplied, 1 on average.

A weight of 2 counts like the text twice. Weights apply to the loss of training texts only: dev and test texts are scored without,
so that scores of different weights are comparable, and temperature and threshold suit texts as frequent as they are.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.config.files import check_whole_numbers
from regard.data.labels import Labels
from regard.errors import InputError, quoted
from regard.models.tasks import Classes, Task, encoded
from regard.recorder import Recorder

BALANCED = "balanced"
SHOWN = 8  # classes whose weights are listed in a note
Weights = NDArray[np.float32]


def text_weights(
    task: Task, labels: Labels, by_row: NDArray[np.float64] | None, class_weight: str | None, recorder: Recorder
) -> Weights | None:
    """The weight of each text; None if all count the same. `by_row` has those of the rows."""
    weights = np.ones(len(labels)) if by_row is None else by_row.astype(np.float64)
    if class_weight is not None:
        if not isinstance(task, Classes):
            raise InputError(
                f"class_weight = {class_weight!r}: expected classes, of which a text has one, got task = {task.kind!r}; "
                "--weight COLUMN weights single texts"
            )
        codes = encoded(task, labels, "class_weight").astype(np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            counts = np.bincount(codes, weights, len(task.classes)).astype(np.float64)
            by_class = class_weights(task, class_weight, counts)
            weights = weights * by_class[codes]
        recorder.note(described(task, by_class))
    with np.errstate(over="ignore"):
        mean = weights.mean()
    if not 0 < mean < np.inf:
        raise InputError(f"weights of texts: expected numbers whose mean is above 0 and finite, got {mean:g}")
    weights = weights / mean
    return None if (weights == weights[0]).all() else weights.astype(np.float32)


def class_weights(task: Classes, given: str, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """One weight per class. `counts`: the sum of the weights of its texts, which for rows without weights is their number.

    Balanced is scikit-learn's formula: texts / (classes × texts of the class). A class that a file does not name has weight 1.
    """
    if given == BALANCED:
        return np.asarray(counts.sum() / (len(counts) * counts))
    where, values = read_class_weights(given)
    unknown = [name for name in values if name not in task.classes]
    if unknown:
        raise InputError(f"{where}: expected classes among {quoted(task.classes)}, got {unknown[0]!r}")
    return np.array([values.get(name, 1.0) for name in task.classes])


def names_file(given: str) -> bool:
    """Whether the option names a file; otherwise it is a rule, or the weights themselves."""
    return given != BALANCED and not given.lstrip().startswith("{")


def read_class_weights(given: str) -> tuple[str, dict[str, float]]:
    """Where they are from, and the weights by class: from a TOML or JSON file, or from JSON itself."""
    if not names_file(given):
        where, content = "class_weight", given
    else:
        where = given
        try:
            content = Path(given).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{given}: expected a TOML or JSON file in UTF-8, got other bytes") from None
        except (OSError, ValueError) as error:  # a name with a NUL character is a ValueError
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                f"class_weight: expected 'balanced' or a TOML or JSON file, got {given!r} ({reason})"
            ) from None
    try:
        is_json = content.lstrip().startswith("{")
        values = json.loads(content) if is_json else tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # also whole numbers of thousands of digits
        raise InputError(f'{where}: expected TOML (class = 2.5) or JSON ({{"class": 2.5}}), got {error}') from None
    if not isinstance(values, Mapping) or not values:
        raise InputError(f"{where}: expected a weight for at least one class, got none")
    check_whole_numbers(values, where)
    for name, value in values.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 < value < math.inf):
            raise InputError(f"{where}: expected a number above 0 for the class {name!r}, got {value!r}")
    return where, {str(name): float(value) for name, value in values.items()}


def described(task: Classes, weights: NDArray[np.float64]) -> str:
    """For the user: the weights of the classes with the largest ones."""
    order = np.argsort(-weights, kind="stable")[:SHOWN]
    shown = ", ".join(f"{task.classes[k]} {weights[k]:.3g}" for k in order)
    return f"weights of classes: {shown}{', …' if len(weights) > SHOWN else ''}"
