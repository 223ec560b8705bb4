"""Several labels per text as scikit-learn has them: a matrix of 0 and 1 with a column per label, or a list of lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError

MATRIX, LISTS = "matrix", "lists"


class LabelSets(NamedTuple):
    labels: list[list[Any]]  # of each text
    classes: NDArray[Any]
    form: str  # MATRIX or LISTS


def label_sets(y: Any) -> LabelSets | None:
    """The labels of each text if a text may have several; None if every text has one label."""
    if is_lists(y):
        return from_lists([list(one) for one in y])
    dense = getattr(y, "toarray", None)  # of a sparse matrix
    y = y if dense is None else dense()
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    if values.dtype.kind not in "bifu" or not np.isin(values, (0, 1)).all():
        raise InputError(
            f"labels: expected a matrix of 0 and 1 with a column per label, got {values.shape[1]} columns with other values"
        )
    names = getattr(y, "columns", None)  # of a data frame
    classes = np.arange(values.shape[1]) if names is None else np.asarray([str(name) for name in names])
    return LabelSets([classes[row > 0].tolist() for row in values], classes, MATRIX)


def is_lists(y: Any) -> bool:
    """Whether every item is a collection of labels of any length; a list of lists of 0 and 1 is a matrix."""
    if not isinstance(y, (list, tuple)) and str(getattr(y, "dtype", "")) != "object":
        return False
    items = list(y)
    if not items or not all(isinstance(one, (list, tuple, set, frozenset, np.ndarray)) for one in items):
        return False
    lengths, inside = {len(one) for one in items}, {value for one in items for value in one}
    return not (len(lengths) == 1 and lengths != {1} and inside <= {0, 1})


def from_lists(lists: list[list[Any]]) -> LabelSets:
    for row, labels in enumerate(lists):
        for label in labels:
            if is_missing(label):
                raise InputError(f"labels of text {row}: expected labels, got {label!r}; an empty list means none")
    try:
        classes = np.unique([label for labels in lists for label in labels])
    except TypeError:
        kinds = sorted({type(label).__name__ for labels in lists for label in labels})
        raise InputError(f"expected labels of one type, got {', '.join(kinds)}") from None
    return LabelSets(lists, classes, LISTS)


def in_form(chosen: NDArray[np.bool_], classes: NDArray[Any], form: str | None) -> Any:
    """Predictions in the form of the labels passed to `fit`; a matrix for a run of the command line."""
    return [classes[row].tolist() for row in chosen] if form == LISTS else chosen.astype(np.int64)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or their counterpart in pandas, none of which equals itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
