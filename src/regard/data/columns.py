"""Find the columns of text and label: those named by the user, or guesses, which are reported."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.data.label_sets import ONE_LABEL, LabelForm, indicator_columns
from regard.data.labels import is_number
from regard.data.read_options import ReadOptions
from regard.errors import InputError, quoted

# Likelier names first: of a table with both, "label" is the class and "rating" often what it was derived from.
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
SEVERAL_NAMES = ("labels", "tags", "categories", "topics", "classes", "genres", "emotions")  # of columns with lists

Sample = Sequence[Mapping[str, object]]  # the fields of some rows


class Columns(NamedTuple):
    text: str
    label: str | None  # None if there are no labels; several columns are joined by commas
    guessed: list[str]  # sentences for the user
    form: LabelForm = ONE_LABEL


def find_columns(name: str, columns: Sequence[str], sample: Sample, options: ReadOptions) -> Columns:
    """The columns `text` and `label` of the options; if None, the `known` ones that are there; otherwise guesses.

    Unless `labelled`, there may be no label.
    """
    text, label = options.text, options.label
    known_text, known_label = (column if has_columns(column, columns) else None for column in options.known)
    if text is None and known_text != label:
        text = known_text
    if label is None and known_label != text:
        label = known_label
    indicators = indicators_of(label, columns)
    labels = [("--label", column) for column in indicators or (label,)]
    kept = (("--keep", column) for column in options.keep)
    existing = set(columns)  # a set, because there may be very many columns
    for option, column in (("--text", text), *labels, ("--weight", options.weight), *kept):
        if column is not None and column not in existing:
            raise InputError(f"{name}: no column {column!r} ({option}); {_alternatives(column, columns)}")
    requested = (text, label)
    if text is None or label is None:
        try:
            taken = {label, options.weight, *indicators}
            others = [column for column in columns if column not in taken]
            text, guess = guess_columns(others, sample, text=text, by_name_only=not options.labelled)
            if options.several and label is None:
                guess = guess_several([column for column in others if column != text], sample, guess)
        except InputError as problem:
            raise InputError(f"{name}: {problem}; name it with --text") from None
        label = guess if label is None else label
    if label is None and options.labelled:
        hint = "" if requested[0] else f"; column {text!r} was taken for the texts, and --text overrides this"
        raise InputError(
            f"{name}: no column looks like labels (columns: {quoted(columns)}); name it with --label{hint}"
        )
    indicators = indicators_of(label, columns)
    if options.weight in (text, label, *indicators) and options.weight is not None:
        raise InputError(
            f"{name}: expected a column of numbers for --weight, got {options.weight!r}, which has texts or labels"
        )
    if text == label or text in indicators:
        raise InputError(f"{name}: expected two columns for text and label, got {text!r} for both")
    kinds = zip(("text", "label"), requested, (text, label), strict=True)
    guesses = {kind: column for kind, wanted, column in kinds if wanted is None and column is not None}
    rivals = []
    if "label" in guesses and not indicators and _named([guesses["label"]], LABEL_NAMES) is None:
        rivals = [column for column in _repeated(columns, sample) if column not in (text, label)]
    notes = [*_guess_note(name, guesses, rivals), *_missing_header_note(name, guesses.get("label"), sample)]
    return Columns(text, label, notes, form_of(options, indicators))


def form_of(options: ReadOptions, indicators: Sequence[str] = ()) -> LabelForm:
    several = options.several or options.label_separator is not None or bool(indicators)
    return LabelForm(tuple(indicators), options.label_separator, several)


def indicators_of(label: str | None, columns: Sequence[str]) -> list[str]:
    """The columns in "a,b,c", each for one label; nothing if it is the name of one column."""
    if label is None or label in columns or "," not in label:
        return []
    return [name.strip() for name in label.split(",") if name.strip()]


def has_columns(label: str | None, columns: Sequence[str]) -> bool:
    """Whether there is such a column, or all of several."""
    return label in columns or (bool(parts := indicators_of(label, columns)) and set(parts) <= set(columns))


def guess_several(columns: Sequence[str], rows: Sample, guess: str | None) -> str | None:
    """All columns of yes and no if there are at least two and no other column is named like labels."""
    indicators = [column for column in indicator_columns(columns, rows) if "," not in column]
    named = _named(columns, (*LABEL_NAMES, *SEVERAL_NAMES))
    if len(indicators) > 1 and (named is None or named in indicators):
        return ",".join(indicators)
    return named or guess


def guess_columns(
    columns: Sequence[str], rows: Sample, *, text: str | None = None, by_name_only: bool = False
) -> tuple[str, str | None]:
    """(text column, label column or None), by well-known names, then by content; `by_name_only` applies to the label."""
    if text is None:
        prose = [column for column in columns if any(_is_prose(row.get(column)) for row in rows)]
        text = _named(prose, TEXT_NAMES) or max(prose, key=lambda column: _mean_length(column, rows), default=None)
    if text is None:
        raise InputError(f"no column contains text (columns: {quoted(columns)}); expected one whose values are strings")
    plain = [column for column in columns if any(isinstance(row.get(column), str | int | float) for row in rows)]
    others = [column for column in plain if column != text]
    label = _named(others, LABEL_NAMES) or _list_of_labels([column for column in columns if column != text], rows)
    if label is None and not by_name_only:
        label = next(iter(_repeated(others, rows)), None)
    return text, label


def _named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The column with the likeliest of the names; failing that, one whose name contains it, as in review_body."""
    whole = [[column.strip().lower()] for column in columns]
    pieces = [re.split(r"[\W_]+", column.lower()) for column in columns]
    for readings in (whole, pieces):
        for name in names:
            for column, reading in zip(columns, readings, strict=True):
                if name in reading:
                    return column
    return None


def _list_of_labels(columns: Sequence[str], rows: Sample) -> str | None:
    """A column of lists of strings that is called labels, or tags; not one that only contains such a word."""
    names = (*SEVERAL_NAMES, *LABEL_NAMES)
    for column in columns:
        values = [row.get(column) for row in rows]
        strings = any(isinstance(part, str) for value in values if isinstance(value, list) for part in value)
        if strings and column.strip().lower() in names:
            return column
    return None


def _is_prose(value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, str) for item in value)
    return isinstance(value, str) and bool(value.strip()) and not is_number(value)


def _mean_length(column: str, rows: Sample) -> float:
    return sum(len(str(row.get(column, ""))) for row in rows) / max(1, len(rows))


def _repeated(columns: Sequence[str], rows: Sample) -> list[str]:
    """Columns with at least two values of which many are repeated, those with the fewest distinct values first."""
    counts: dict[str, int] = {}
    for column in columns:
        values = [row.get(column) for row in rows]
        plain = [value for value in values if isinstance(value, str | int | float) and value != ""]
        distinct = len(set(plain))
        if len(plain) == len(values) and 2 <= distinct <= len(values) / 2:
            counts[column] = distinct
    return sorted(counts, key=lambda column: counts[column])


def _guess_note(name: str, guesses: Mapping[str, str], rivals: Sequence[str]) -> list[str]:
    if not guesses:
        return []
    named = " and ".join(f"{kind} {_one_or_several(column)}" for kind, column in guesses.items())
    options = " and ".join(f"--{kind}" for kind in guesses)
    also = f" (labels may also be {quoted(rivals, most=3)})" if rivals else ""
    return [f"{name}: {named} guessed{also}; {options} {'override' if len(guesses) > 1 else 'overrides'} this"]


def _one_or_several(column: str) -> str:
    parts = column.split(",")
    return f"columns {quoted(parts, most=6)}" if len(parts) > 1 else f"column {quoted([column])}"


def _missing_header_note(name: str, label: str | None, sample: Sample) -> list[str]:
    """In a file without column names, a label is where the name of the label column should be."""
    if label is None or all(str(row.get(label)).strip() != label for row in sample):
        return []
    return [
        f"{name}: the label column has the same name as one of its labels, {quoted([label])}; if the first row is data, "
        "add a header row above it"
    ]


def _alternatives(column: str, columns: Sequence[str]) -> str:
    near = difflib.get_close_matches(column.lower(), [other.lower() for other in columns], n=1)
    meant = next((other for other in columns if near and other.lower() == near[0]), None)
    names = f"the columns are {quoted(columns)} (the first row must name them)"
    return names if meant is None else f"did you mean {meant!r}? {names}"
