"""Predictions on the test split, stored in a row next to its measures, small enough to be committed.

A row is complete in itself: it holds labels as well as predictions, so that texts can be compared and resampled without the
corpus. Classes are stored as label × number of classes + prediction; the labels and predictions of a regression are rounded to
a power of ten below a twentieth of the labels' standard deviation, which changes an RMSE by less than a thousandth. The bytes
of equal significance are stored together, compressed with zlib and written in base 85.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.models.tasks import Classes, Task
from regard.records import Example
from regard.training.preparation import digest
from regard_lab.rows import PackedPredictions, Row

STEPS = 20  # at least so many steps of rounding per standard deviation of the labels
LARGEST = 2**31 - 1
CHECKSUM = 16  # hexadecimal digits, as of data files


class Answered(NamedTuple):
    """Labels and predictions of the test texts, in their order: numbers of classes, or ratings."""

    labels: NDArray[np.float64]
    predicted: NDArray[np.float64]


def checksum(examples: Iterable[Example]) -> str:
    """Of texts and labels in their order."""
    return digest(examples)[:CHECKSUM]


def pack(task: Task, answers: NDArray[np.float64], labels: NDArray[np.float64], texts: str) -> PackedPredictions:
    """`answers` as the task gives them, `labels` as it encodes them, `texts` their checksum."""
    if isinstance(task, Classes):
        codes = labels.astype(np.int64) * len(task.classes) + answers.argmax(1)
        return {"n": len(labels), "texts": texts, "classes": list(task.classes), "codes": compress(codes)}
    about = task.as_dict()
    labels = labels * about["scale"] + about["mean"]
    step = rounding_step(labels)
    values = np.concatenate((labels, answers[:, 0])) / step
    codes = np.rint(np.where(np.isnan(values), LARGEST, values.clip(-LARGEST, LARGEST))).astype(np.int64)
    return {"n": len(labels), "texts": texts, "step": step, "codes": compress(codes)}


def rounding_step(labels: NDArray[np.float64]) -> float:
    deviation = float(labels.std()) or 1.0  # of a single text
    return float(f"1e{math.floor(math.log10(deviation / STEPS))}")


def compress(codes: NDArray[np.int64]) -> str:
    planes = codes.astype("<i4").view(np.uint8).reshape(-1, 4).T
    return base64.b85encode(zlib.compress(planes.tobytes(), 9)).decode("ascii")


def expand(codes: str, count: int) -> NDArray[np.int64]:
    planes = np.frombuffer(zlib.decompress(base64.b85decode(codes)), dtype=np.uint8)
    return np.ascontiguousarray(planes.reshape(4, count).T).view("<i4")[:, 0].astype(np.int64)


def answered(row: Row) -> Answered | None:
    """Labels and predictions of a row; None if it has none."""
    packed = row.get("predictions")
    if packed is None:
        return None
    try:
        count = packed["n"]
        if "classes" in packed:
            labels, predicted = np.divmod(expand(packed["codes"], count), len(packed["classes"]))
            return Answered(labels.astype(np.float64), predicted.astype(np.float64))
        return Answered(*(expand(packed["codes"], 2 * count).reshape(2, count) * packed["step"]))
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        where = f"{row['corpus']}/{row['method']}, seed {row['seed']}"
        raise InputError(
            f"predictions of {where}: expected what `regard reproduce` wrote, got damaged contents ({error}); run the cell again"
        ) from None


def predictions(row: Row, texts: str | None = None) -> NDArray[np.float64]:
    """Predictions in the order of the test texts; `texts`: the checksum that these texts must have."""
    result = answered(row)
    if result is None:
        raise InputError("expected a row with predictions, got one without, as earlier versions wrote")
    if texts is not None and row["predictions"]["texts"] != texts:
        raise InputError(
            f"expected predictions on the texts with checksum {texts}, got {row['predictions']['texts']}: "
            "other texts, labels or another order"
        )
    return result.predicted
