"""Several labels per text: in a list, in a string with a separator, or in several columns of yes and no."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.labels import natural_order
from regard.errors import quoted

YES, NO = frozenset(("1", "true", "yes")), frozenset(("", "0", "false", "no"))
SEPARATORS = (";", "|", ",", "+", "&")  # that labels are often joined with, the likeliest first

LabelSet = tuple[str, ...]  # sorted, without repetitions
One = Callable[[object], tuple[str | None, str | None]]  # (label, None), or (None, what is wrong with it)


class LabelForm(NamedTuple):
    """How the labels of a row are written."""

    columns: tuple[str, ...] = ()  # one column of yes and no per label; otherwise all labels are in one column
    separator: str | None = None  # between the labels of a string
    several: bool = False  # whether a single value is a set of one label


ONE_LABEL = LabelForm()


def label_set(labels: Iterable[str]) -> LabelSet:
    return tuple(sorted(set(labels), key=natural_order))


def read_set(value: object, form: LabelForm, one: One) -> tuple[LabelSet | None, str | None]:
    """(labels, None), or (None, what is wrong). `one` reads a single label. An empty list or string means no label."""
    if isinstance(value, str):
        parts: Sequence[object] = value.split(form.separator) if form.separator else [value]
        parts = [part for part in parts if not isinstance(part, str) or part.strip()]
    else:
        parts = list(value) if isinstance(value, (list, tuple)) else [value]
    labels = []
    for part in parts:
        label, problem = one(part)
        if label is None:
            return None, problem
        labels.append(label)
    return label_set(labels), None


def read_indicators(fields: Mapping[str, object], columns: Sequence[str]) -> tuple[LabelSet | None, str | None]:
    """The columns that say yes; (None, what is wrong) if one says neither yes nor no."""
    labels = []
    for column in columns:
        is_set = indicated(fields.get(column))
        if is_set is None:
            return (
                None,
                f"column {column!r} has the value {fields.get(column)!r}; expected 0, 1, true, false, yes, no or nothing",
            )
        if is_set:
            labels.append(column)
    return label_set(labels), None


def indicated(value: object) -> bool | None:
    """Whether a cell says yes; None if it is neither yes nor no."""
    if value is None or (isinstance(value, float) and value != value):
        return False
    if isinstance(value, (bool, int, float)):
        return bool(value) if value in (0, 1) else None
    word = str(value).strip().lower()
    word = word.removesuffix(".0")
    return True if word in YES else False if word in NO else None


def indicator_columns(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Columns in which every value says yes or no, and some say yes."""

    def answers(column: str) -> set[bool | None]:
        return {indicated(row.get(column)) for row in rows}

    return [column for column in columns if True in (values := answers(column)) and None not in values]


def has_lists(values: Sequence[object], share: float) -> bool:
    """Whether more than this share of the values are lists of labels."""
    return sum(isinstance(value, list) for value in values) > share * len(values)


def combined_by(names: Iterable[str]) -> tuple[str, str] | None:
    """(separator, an example) if many labels look like several joined by it: their parts occur again in other labels."""
    distinct = sorted(names, key=natural_order)
    for separator in SEPARATORS:
        combined = [name for name in distinct if separator in name]
        if len(combined) < 2:
            continue
        parts = [{part.strip() for part in name.split(separator)} - {""} for name in distinct]
        counts: dict[str, int] = {}
        for each in parts:
            for part in each:
                counts[part] = counts.get(part, 0) + 1
        repeated = [name for name in combined if all(counts[p.strip()] > 1 for p in name.split(separator) if p.strip())]
        if len(repeated) >= max(2, len(combined) / 2) and len(counts) < len(distinct):
            return separator, repeated[0]
    return None


def combined_hint(names: Iterable[str]) -> str:
    """The end of a note: that labels look combined, and the option that takes them apart; "" if they do not."""
    found = combined_by(names)
    if found is None:
        return ""
    separator, example = found
    return (
        f"; labels such as {quoted([example])} look like several labels joined by {separator!r}: "
        f"--label-separator '{separator}' reads each of them"
    )


def joiner(labels: Sequence[str], preferred: str | None) -> str:
    """What to write between the labels of a text: the separator they were read with, or one that is in none of them."""
    accepted = [one for one in (preferred, *SEPARATORS) if one and not any(one in label for label in labels)]
    return accepted[0] if accepted else SEPARATORS[0]


def rarest_label(labels: NDArray[np.floating]) -> NDArray[np.int32]:
    """(texts, labels) -> (texts,): a group per text for stratification: its rarest label, or a group of texts without any.

    Every label is then held out in proportion, because it is the rarest of some texts unless it only occurs beside rarer ones.
    """
    counts = labels.sum(0)
    order = np.argsort(np.argsort(counts, kind="stable"), kind="stable")  # rank of each label, the rarest first
    ranks = np.where(labels > 0, order, labels.shape[1])
    return np.unique(ranks.min(1, initial=labels.shape[1]), return_inverse=True)[1].astype(np.int32)
