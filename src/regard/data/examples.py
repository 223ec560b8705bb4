"""Rows to examples: an unusable row raises an error with its position. Labels are only stripped of white space."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from regard.data import words
from regard.data.formats import Row, shown
from regard.data.label_sets import ONE_LABEL, LabelForm, LabelSet, read_indicators, read_set
from regard.errors import InputError, quoted
from regard.records import Example, Span

if TYPE_CHECKING:
    from regard.data.rationales import Rationales
    from regard.data.tokenizer import Indexed
    from regard.data.wordpieces import AnyTokenizer

LONGEST_WORD = 10_000  # characters; longer ones are pasted files, not words
_BLANK_LINES = re.compile(r"\n\s*\n\s*")


def make_example(
    row: Row,
    name: str,
    text_column: str,
    label_column: str | None,
    labelled: bool,
    rationales: Rationales | None = None,
    form: LabelForm = ONE_LABEL,
) -> Example:
    fields = row.fields
    text = fields.get(text_column)
    if type(text) is not str or not _is_ordinary(text):
        text = _text(row, name, text_column)
    label: str | LabelSet | None = None
    if label_column is not None:
        label, problem = _label_of(fields, label_column, form)
        if problem and labelled:
            raise InputError(f"{name}, {row.where()}, {problem}")
    if rationales is not None:
        return Example(text, label, row.number, rationales.spans(row, name, text))
    evidence = fields.get("evidence")
    return Example(text, label, row.number, () if evidence is None else _evidence(evidence, len(text)))


def _is_ordinary(text: str) -> bool:
    """Whether `_text` would accept it unchanged; fast for nearly all texts."""
    # A letter or digit at the start is not white space and not in a tag, so there is a word.
    return text[:1].isalnum() and len(text) <= LONGEST_WORD and "\0" not in text and _is_whole(text)


def _text(row: Row, name: str, column: str) -> str:
    if row.problem is not None:
        raise InputError(f"{name}, {row.where()}: {row.problem}")
    where = f"{name}, {row.where()}, column {column!r}"
    if column not in row.fields:
        raise InputError(f"{where}: the row has no such field; its fields are {quoted(list(row.fields))}")
    value = row.fields[column]
    text = _joined(value) if isinstance(value, list) and all(isinstance(part, str) for part in value) else value
    if not isinstance(text, str):
        raise InputError(f"{where}: expected a text or a list of texts, got {shown(value)}")
    if "\0" in text:
        raise InputError(f"{where}: expected text, got a NUL byte at character {text.index(chr(0))}")
    if not _is_whole(text):
        raise InputError(
            f"{where}: expected valid Unicode, got bytes that are not UTF-8 (--encoding reads others) or half a surrogate pair"
        )
    if not words.has_words(text):
        raise InputError(f"{where}: expected at least one word, got the text {text[:20]!r}")
    _refuse_long_words(text, where)
    return text


def _is_whole(text: str) -> bool:
    """Whether it has no lone surrogate, the only thing that UTF-8 cannot encode."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_long_words(text: str, where: str) -> None:
    # Words have no white space in them, so nearly all texts pass the first, cheap check.
    if len(text) <= LONGEST_WORD or max(map(len, text.split())) <= LONGEST_WORD:
        return
    longest = max(end - start for start, end in words.spans(text))
    if longest > LONGEST_WORD:
        raise InputError(
            f"{where}: expected words of up to {LONGEST_WORD} characters, got one of {longest} (pasted binary data?)"
        )


def _joined(parts: Iterable[str]) -> str:
    """Parts separated by blank lines, with none inside a part, so that `sentences.parts` can split them again."""
    stripped = (_BLANK_LINES.sub("\n", part.strip()) for part in parts)
    return "\n\n".join(part for part in stripped if part)


def _label_of(fields: Mapping[str, object], column: str, form: LabelForm) -> tuple[str | LabelSet | None, str | None]:
    """The label as the form reads it, or what is wrong with it and where."""
    if form.columns:
        return read_indicators(fields, form.columns)
    value = fields.get(column)
    if form.several:
        labels, problem = read_set(value, form, _label)
        expected = "a list of labels ([] for none)" if problem and value is None else "strings or finite numbers"
        return labels, problem and f"column {column!r}: {problem}; expected {expected}"
    label, problem = _label(value)
    also = " (--task multilabel reads lists of labels)" if isinstance(value, list) else ""
    if isinstance(value, str) and not value.strip():
        also = ", or --task multilabel, with which a text may have no label"
    return label, problem and f"column {column!r}: {problem}; expected a string or a finite number{also}"


def _label(value: object) -> tuple[str | None, str | None]:
    """(label, None), or (None, what is wrong with it).

    The numbers 1 and 1.0 and the string "1" give the same label, and so do "a" and "a ".
    """
    if isinstance(value, str) and (label := value.strip()).lower() not in ("", "nan") and _is_whole(label):
        return label, None
    if isinstance(value, bool):
        return str(value).lower(), None
    if isinstance(value, int):
        return str(value), None
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value), None
    missing = value is None or isinstance(value, str | float)
    return None, f"the label is {'missing or not usable' if missing else 'of the wrong type'} ({shown(value)})"


def read_weight(row: Row, name: str, column: str) -> float:
    value = row.fields.get(column)
    try:
        weight = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        got = repr(value)[:40] if isinstance(value, str | int | float) else shown(value)
        raise InputError(
            f"{name}, {row.where()}, column {column!r}: expected a weight, a number of at least 0, got {got}"
        )
    return weight


def _evidence(value: object, length: int) -> tuple[Span, ...]:
    """Spans of the text if the field has spans; anything else is an unrelated field of that name."""
    if not isinstance(value, list):
        return ()
    for span in value:
        if not (isinstance(span, list) and len(span) == 2 and all(type(edge) is int for edge in span)):
            return ()
        if not 0 <= span[0] < span[1] <= length:
            return ()
    return tuple((start, end) for start, end in value)


def encode_examples(tokenizer: AnyTokenizer, examples: Sequence[Example], where: str) -> list[Indexed]:
    """The ids of each text; an error names the row of the text that cannot be encoded."""
    try:
        return tokenizer.encode_each([example.text for example in examples])
    except InputError:
        for example in examples:
            try:
                tokenizer.encode(example.text)
            except InputError as error:
                raise InputError(f"{where}, row {example.row}: {error}") from None
        raise
