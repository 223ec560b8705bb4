"""What a user did not say, guessed from the data: the columns of text and label, and the kind of task."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from regard.errors import InputError

Task = Literal["binary", "multiclass", "regression"]

# Likelier names first: of a table with both, "label" is the class and "rating" often what it was made from.
# fmt: off
TEXT_NAMES = (
    "text", "review", "comment", "body", "content", "sentence", "message", "document", "tweet", "description",
    "post", "utterance", "ticket", "question", "article", "headline", "abstract", "summary", "title", "subject",
    "texte", "texto", "testo", "kommentar", "nachricht", "beschreibung", "commentaire", "comentario", "mensaje",
)
LABEL_NAMES = (
    "label", "class", "category", "target", "sentiment", "stars", "rating", "score", "topic", "polarity", "y",
    "intent", "labels", "tag", "emotion", "star", "overall", "genre", "output",
    "kategorie", "klasse", "catégorie", "categorie", "categoría", "categoria", "classe", "clase", "bewertung",
)
# fmt: on
MOST_CLASSES = 20  # more distinct numbers than this are taken for a scale


def guess_columns(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, object]],
    *,
    text: str | None = None,
    by_name_only: bool = False,
) -> tuple[str, str | None]:
    """(text column, label column or None), by well-known names, then by content; `by_name_only` holds for the label."""
    if text is None:
        prose = [column for column in columns if any(_is_prose(row.get(column)) for row in rows)]
        text = _named(prose, TEXT_NAMES) or max(prose, key=lambda column: _mean_length(column, rows), default=None)
    if text is None:
        raise InputError(f"no column holds text (columns: {listed(columns)}); one whose values are strings is needed")
    plain = [column for column in columns if any(isinstance(row.get(column), str | int | float) for row in rows)]
    others = [column for column in plain if column != text]
    label = _named(others, LABEL_NAMES)
    if label is None and not by_name_only:
        label = next(iter(repeated(others, rows)), None)
    return text, label


def guess_task(names: Iterable[str], count: int) -> tuple[Task, str]:
    """The task of `count` labels with these different names, and the reason for it, a sentence for the user."""
    distinct = sorted(names, key=natural_order)
    shown = listed(distinct, most=6)
    if len(distinct) < 2:
        raise InputError(f"every label is {shown}; at least two different labels are needed to learn from")
    numeric = all(is_number(label) for label in distinct)
    if numeric and not all(float(label).is_integer() for label in distinct):
        return (
            "regression",
            "the labels are numbers with fractions, so they are taken for a scale (--task multiclass overrides)",
        )
    if numeric and len(distinct) > MOST_CLASSES:
        return (
            "regression",
            f"the labels are {len(distinct)} different numbers, taken for a scale (--task multiclass overrides)",
        )
    if len(distinct) == 2:
        return "binary", f"the labels have two values, {shown} (--task overrides){_nearly_numbers(distinct)}"
    if len(distinct) > MOST_CLASSES and len(distinct) >= count / 2:
        raise InputError(
            f"{len(distinct)} different values in {count} rows ({shown}) do not look like a label column; "
            f"name the column with --label, or the task with --task{_nearly_numbers(distinct)}"
        )
    other = "--task regression" if numeric else "--task"
    return (
        "multiclass",
        f"the labels have {len(distinct)} values, {shown} ({other} overrides){_nearly_numbers(distinct)}",
    )


def _nearly_numbers(labels: Sequence[str]) -> str:
    """What keeps them from being numbers, where it is little: decimal commas, or a few words among many numbers."""
    words = [label for label in labels if not is_number(label)]
    if words and all(is_number(label.replace(",", ".", 1)) for label in words):
        return f"; {words[0]!r} counts as a name, for numbers are written with a decimal point here"
    if 0 < len(words) < len(labels) / 2:
        return f"; all but {listed(words, most=3)} are numbers"
    return ""


def is_number(text: str) -> bool:
    """Whether it is written like a finite number; Python's own 1_000 is not."""
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def natural_order(label: str) -> tuple[bool, float, str]:
    """To sort labels by: numbers by their size, then all others by the alphabet."""
    return (False, float(label), label) if is_number(label) else (True, 0.0, label)


def written_twice(names: Iterable[str]) -> list[str]:
    """Those that some other has, too, but for capitals, or as the same number in other digits: 1 and 1.0."""
    distinct = {name: float(name) if is_number(name) else name.casefold() for name in sorted(names, key=natural_order)}
    count = Counter(distinct.values())
    return [name for name, meant in distinct.items() if count[meant] > 1]


def listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The column called by the likeliest of the names; failing that, one with it in its name, as review_body."""
    whole = [[column.strip().lower()] for column in columns]
    pieces = [re.split(r"[\W_]+", column.lower()) for column in columns]
    for readings in (whole, pieces):
        for name in names:
            for column, reading in zip(columns, readings, strict=True):
                if name in reading:
                    return column
    return None


def _is_prose(value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, str) for item in value)
    return isinstance(value, str) and bool(value.strip()) and not is_number(value)


def _mean_length(column: str, rows: Sequence[Mapping[str, object]]) -> float:
    return sum(len(str(row.get(column, ""))) for row in rows) / max(1, len(rows))


def is_named(column: str) -> bool:
    """Whether it is called as labels often are."""
    return _named([column], LABEL_NAMES) is not None


def repeated(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Columns with at least two values that come again, those with the fewest different ones first."""
    counts: dict[str, int] = {}
    for column in columns:
        values = [row.get(column) for row in rows]
        plain = [value for value in values if isinstance(value, str | int | float) and value != ""]
        distinct = len(set(plain))
        if len(plain) == len(values) and 2 <= distinct <= len(values) / 2:
            counts[column] = distinct
    return sorted(counts, key=lambda column: counts[column])
