"""The task that is guessed from the distinct labels, how often they repeat, and the name of their column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from regard.data.label_sets import combined_hint
from regard.data.labels import Task, comma_number, is_number, natural_order, separates_thousands
from regard.errors import InputError, quoted

MOST_CLASSES = 20  # up to this many different whole numbers are classes, whatever their column is called
FEW, MANY = 2, 10  # texts per value, on average: the least for classes, and what speaks for classes by itself
LARGEST_GAP = 0.1  # share of the numbers between the smallest and the largest that a random sample may lack

# The last word of a column's name that is in one of these sets decides: a price_category is a category.
# fmt: off
SCALE_NAMES = frozenset((
    "rating", "ratings", "score", "scores", "price", "prices", "cost", "stars", "star", "grade", "points", "mark", "marks",
    "value", "amount", "age", "year", "count", "counts", "number", "votes", "upvotes", "likes", "views", "shares", "rank",
    "length", "salary", "income", "percent", "percentage", "percentile", "probability", "similarity", "difficulty", "level",
    "sentiment", "polarity", "valence", "arousal", "intensity", "toxicity", "readability", "overall", "helpfulness", "days",
    "months", "years", "hours", "minutes", "seconds", "duration", "distance", "weight", "height", "temperature",
    "bewertung", "note", "preis", "punkte", "prix", "precio", "prezzo", "puntuación", "puntuacion", "anzahl",
))
CLASS_NAMES = frozenset((
    "class", "classes", "category", "categories", "id", "ids", "code", "codes", "topic", "topics", "intent", "intents",
    "tag", "cluster", "genre", "type", "kind", "group", "department", "section", "emotion", "folder", "index", "idx",
    "author", "user", "language", "lang", "product", "brand", "team", "queue",
    "kategorie", "klasse", "thema", "catégorie", "categorie", "categoría", "categoria", "classe", "clase",
))
LABEL_NAMES = frozenset(("label", "labels", "target", "targets", "y", "output", "annotation", "gold"))  # either is possible
# fmt: on


def guess_task(names: Iterable[str], count: int, column: str | None = None) -> tuple[Task, str]:
    """The task for `count` labels with these distinct names, and the reason, a sentence for the user."""
    distinct = sorted(names, key=natural_order)
    shown = quoted(distinct, most=6)
    if len(distinct) < 2:
        raise InputError(f"every label is {shown}; expected at least two different labels")
    numbers = _numbers(distinct)
    if numbers and not all(number.is_integer() for number in numbers):
        comma = next((name for name in distinct if "," in name), None)
        read = "" if comma is None else f", such as {comma!r}, which is read with a decimal comma"
        return "regression", f"task: regression, because the labels are numbers with fractions{read} ({_instead(True)})"
    if numbers and len(distinct) > MOST_CLASSES:
        return _many_whole_numbers(numbers, count, column)
    nearly = "" if numbers else _nearly_numbers(distinct)
    if len(distinct) == 2:
        return "binary", f"task: binary, because the labels have two values, {shown} (--task overrides this){nearly}"
    if len(distinct) > MOST_CLASSES and len(distinct) >= count / 2:
        raise InputError(
            f"{len(distinct)} different values in {count} rows ({shown}) do not look like a label column; "
            f"name the column with --label, or the task with --task{nearly}{combined_hint(distinct)}"
        )
    other = _instead(False) if numbers else "--task overrides this"
    return (
        "multiclass",
        f"task: multiclass, because the labels have {len(distinct)} values, {shown} ({other}){nearly}{combined_hint(distinct)}",
    )


def _many_whole_numbers(numbers: Sequence[float], count: int, column: str | None) -> tuple[Task, str]:
    """Classes or a scale: the name of the column, whether the numbers are consecutive, and how often each occurs."""
    per_value = count / len(numbers)
    low, high = min(numbers), max(numbers)
    consecutive = len(numbers) >= (1 - LARGEST_GAP) * (high - low + 1)
    often = per_value >= MANY
    says = _kind_of_name(column)
    if says == "class":
        is_class = per_value >= FEW
    elif says == "label":
        is_class = (consecutive and per_value >= FEW) or (often and low >= 0)
    else:
        is_class = says is None and consecutive and often and low in (0, 1)
    if is_class:
        kind: Task = "multiclass"
        named = f"column {column!r} has " if says else "the labels have "
        order = "consecutive" if consecutive else "different"
        reason = (
            f"{named}{len(numbers)} {order} whole numbers from {low:g} to {high:g}, with {per_value:.0f} texts each"
        )
    else:
        kind = "regression"
        named = (
            f"column {column!r} names a scale" if says == "scale" else "they do not look like the numbers of classes"
        )
        reason = f"the labels are {len(numbers)} different whole numbers from {low:g} to {high:g}, and {named}"
    return kind, f"task: {kind}, because {reason} ({_instead(not is_class)})"


def _kind_of_name(column: str | None) -> str | None:
    """What the name of the column says: "scale", "class", "label" (either, but rather classes), or nothing."""
    spaced = re.sub(
        r"(?<=[^\W\d_])(?=\d)|(?<=[a-z])(?=[A-Z])", " ", column or ""
    )  # label3 and categoryId are two words
    for word in reversed(re.split(r"[\W_]+", spaced.lower())):
        for kind, names in (("scale", SCALE_NAMES), ("class", CLASS_NAMES), ("label", LABEL_NAMES)):
            if word in names:
                return kind
    return None


def _numbers(names: Sequence[str]) -> list[float]:
    """The values if every name is a number, also with decimal commas; otherwise nothing."""
    if all(is_number(name) for name in names):
        return [float(name) for name in names]
    values = [comma_number(name) for name in names]
    return [] if None in values or separates_thousands(names) else [value for value in values if value is not None]


def _instead(regression: bool) -> str:
    return f"--task {'multiclass' if regression else 'regression'} overrides this"


def _nearly_numbers(labels: Sequence[str]) -> str:
    """Why they are not numbers, if they nearly are: commas that may separate thousands, or a few words among many numbers."""
    words = [label for label in labels if not is_number(label)]
    if words and all(comma_number(label) is not None for label in words):
        return f"; {words[0]!r} is taken as a name, because its comma may separate thousands or decimals"
    if 0 < len(words) < len(labels) / 2:
        return f"; all but {quoted(words, most=3)} are numbers"
    return ""
