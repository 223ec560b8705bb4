"""fastText's format: one text per line, with its labels before it, as in `__label__spam Win a prize`."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from regard.data.decoding import Text, lines
from regard.data.formats import Row, Rows
from regard.records import FASTTEXT_PREFIX


def is_fasttext(text: Text, name: str) -> bool:
    """Whether the first line that is not blank begins with a label."""
    return next((line for line in lines(text(), name) if line.strip()), "").lstrip().startswith(FASTTEXT_PREFIX)


def fasttext_rows(text: Text, name: str) -> Rows:
    """Rows with the fields text and label, and the number of their line."""
    return partial(_labelled_lines, text, name)


def _labelled_lines(text: Text, name: str) -> Generator[Row, None, None]:
    for number, line in enumerate(lines(text(), name), 1):
        if stripped := line.strip():
            yield _row(number, stripped)


def _row(number: int, line: str) -> Row:
    place = f"line {number}"
    labels = [word for word in line.split() if word.startswith(FASTTEXT_PREFIX)] if FASTTEXT_PREFIX in line else []
    if not labels:
        return Row(number, place, {"text": line, "label": None})
    for label in labels:  # fastText accepts a label anywhere in the line
        before, _, after = line.partition(label)
        line = f"{before.strip()} {after.strip()}".strip()
    names = [label.removeprefix(FASTTEXT_PREFIX) for label in labels]
    return Row(number, place, {"text": line, "label": names if len(names) > 1 else names[0]})
