"""Which columns hold text and label: those that were asked for, or guesses, which the user is told of."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.data.guess import guess_columns, is_named, listed, repeated
from regard.errors import InputError

Known = tuple[str | None, str | None]  # columns of text and label, such as those that a run learned from


class Columns(NamedTuple):
    text: str
    label: str | None  # None where there are no labels
    guessed: list[str]  # sentences for the user


def find_columns(
    name: str,
    columns: Sequence[str],
    sample: Sequence[Mapping[str, object]],
    text: str | None,
    label: str | None,
    labelled: bool,
    known: Known = (None, None),
    keep: Sequence[str] = (),
) -> Columns:
    """The columns `text` and `label`; where they are None those that are `known` from elsewhere, if they are there, else
    guesses. Without `labelled` there may be no label."""
    known_text, known_label = (column if column in columns else None for column in known)
    if text is None and known_text != label:
        text = known_text
    if label is None and known_label != text:
        label = known_label
    for option, column in (("--text", text), ("--label", label), *(("--keep", column) for column in keep)):
        if column is not None and column not in columns:
            raise InputError(f"{name}: there is no column {column!r} ({option}); {_there(column, columns)}")
    asked = (text, label)
    if text is None or label is None:
        try:
            others = [column for column in columns if column != label]
            text, guess = guess_columns(others, sample, text=text, by_name_only=not labelled)
        except InputError as problem:
            raise InputError(f"{name}: {problem}; --text names it") from None
        label = guess if label is None else label
    if label is None and labelled:
        raise InputError(f"{name}: no column looks like labels (columns: {listed(columns)}); --label names it")
    if text == label:
        raise InputError(f"{name}: column {text!r} is given for both text and label; two columns are needed")
    kinds = zip(("text", "label"), asked, (text, label), strict=True)
    guesses = {kind: column for kind, own, column in kinds if own is None and column is not None}
    rivals = []
    if "label" in guesses and not is_named(guesses["label"]):
        rivals = [column for column in repeated(columns, sample) if column not in (text, label)]
    return Columns(text, label, [*_told(name, guesses, rivals), *_headless(name, guesses.get("label"), sample)])


def _told(name: str, guesses: Mapping[str, str], rivals: Sequence[str]) -> list[str]:
    if not guesses:
        return []
    found = " and ".join(f"{kind} column {listed([column])}" for kind, column in guesses.items())
    options = " and ".join(f"--{kind}" for kind in guesses)
    also = f" (labels may also be {listed(rivals, most=3)})" if rivals else ""
    return [f"{name}: {found} guessed{also}; {options} {'override' if len(guesses) > 1 else 'overrides'}"]


def _headless(name: str, label: str | None, sample: Sequence[Mapping[str, object]]) -> list[str]:
    """A file without names of columns gives itself away by a label that stands where a name should."""
    if label is None or all(str(row.get(label)).strip() != label for row in sample):
        return []
    return [
        f"{name}: the label column is called {listed([label])}, as one of its labels is; where the first row is data, "
        "a row of names is missing above it"
    ]


def _there(column: str, columns: Sequence[str]) -> str:
    near = difflib.get_close_matches(column.lower(), [other.lower() for other in columns], n=1)
    meant = next((other for other in columns if near and other.lower() == near[0]), None)
    there = f"the columns are {listed(columns)} (the first row must name them)"
    return there if meant is None else f"did you mean {meant!r}? {there}"
