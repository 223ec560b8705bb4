"""Which columns hold text and label: those that were asked for, or guesses, which the user is told of."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.data.guess import guess_columns, listed
from regard.errors import InputError


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
) -> Columns:
    """The columns `text` and `label`, or guesses where they are None; without `labelled` there may be no label."""
    for option, column in (("--text", text), ("--label", label)):
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
    return Columns(
        text, label, _told(name, {kind: column for kind, own, column in kinds if own is None and column is not None})
    )


def _told(name: str, guesses: Mapping[str, str]) -> list[str]:
    if not guesses:
        return []
    found = " and ".join(f"{kind} column {column!r}" for kind, column in guesses.items())
    options = " and ".join(f"--{kind}" for kind in guesses)
    return [f"{name}: {found} guessed; {options} {'override' if len(guesses) > 1 else 'overrides'}"]


def _there(column: str, columns: Sequence[str]) -> str:
    near = difflib.get_close_matches(column.lower(), [other.lower() for other in columns], n=1)
    meant = next((other for other in columns if near and other.lower() == near[0]), None)
    there = f"the columns are {listed(columns)} (the first row must name them)"
    return there if meant is None else f"did you mean {meant!r}? {there}"
