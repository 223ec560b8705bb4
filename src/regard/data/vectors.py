"""Word vectors that somebody trained before, from a file: text of GloVe, word2vec and fastText (also .gz), or .npz.

Text: a line a word, "word v1 v2 …", after an optional first line "count width". npz: `words`, an array of strings or
one string with a word a line, and `vectors` (n, width). Only the vectors that are asked for are made into numbers, and
so only these are checked to be finite numbers; the width is checked on every line.
"""

from __future__ import annotations

import gzip
import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from regard.errors import InputError

MISSING = "no such file; a file of word vectors (.txt, .vec, .gz or .npz) is expected"

Floats = npt.NDArray[np.float32]


def read_vectors(path: str | Path, words: Sequence[str]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The vectors of these words (len(words), width), zeros where the file has none, and which were found.

    A word that the file does not have as it stands is looked up in lower case.
    """
    path = Path(path)
    wanted = {*words, *(word.lower() for word in words)}
    width, rows = _read_npz(path, wanted) if path.suffix == ".npz" else _read_text(path, wanted)
    vectors = np.zeros((len(words), width), dtype=np.float32)
    found = np.zeros(len(words), dtype=np.bool_)
    for index, word in enumerate(words):
        row = rows.get(word, rows.get(word.lower()))
        if row is not None:
            vectors[index], found[index] = row, True
    if not found.any():
        raise InputError(
            f"{path}: it has a vector for none of the {len(words)} words; are they of another language or form?"
        )
    return vectors, found


def vector_words(path: str | Path) -> set[str]:
    """Every word that the file has a vector for: what a vocabulary should keep."""
    path = Path(path)
    if path.suffix == ".npz":
        return set(_load(path)[0])
    with _lines(path) as lines:
        return {word for _, word, _ in _entries(path, lines)}


def _read_text(path: Path, wanted: set[str]) -> tuple[int, dict[str, Floats]]:
    rows: dict[str, Floats] = {}
    width = 0
    with _lines(path) as lines:
        for number, word, values in _entries(path, lines):
            width = len(values)
            if word in wanted and word not in rows:
                rows[word] = _row(values, f"{path}, line {number}, word {word!r}")
    return width, rows


def _entries(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, str, list[str]]]:
    """(line number, word, values) of every line; the first one sets the width."""
    width = 0
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n ")
        if number == 1:
            fields = line.split(" ")
            header = len(fields) == 2 and all(field.isdecimal() for field in fields)
            width = int(fields[1]) if header else len(fields) - 1
            if width < 1:
                raise InputError(
                    f"{path}, line 1: {line[:60]!r} is no vector; a word and its numbers, or 'count width', is accepted"
                )
            if header:
                continue
        if not line:
            continue
        word, *values = line.rsplit(" ", width)
        # A few words of GloVe hold blanks; a number at the end of the word shows that the line is too long instead.
        if len(values) != width or (" " in word and _is_number(word.rsplit(" ", 1)[1])):
            raise InputError(
                f"{path}, line {number}: {line.count(' ')} numbers after the word where {width} are expected"
            )
        yield number, word, values
    if not width:
        raise InputError(f"{path}: the file is empty; lines of a word and its numbers are accepted")


def _row(values: list[str], place: str) -> Floats:
    try:
        with np.errstate(over="ignore"):  # told below, in words
            row = np.array(values, dtype=np.float32)
    except ValueError:
        wrong = next(value for value in values if not _is_number(value))
        raise InputError(f"{place}: {wrong[:40]!r} is found where a number is expected") from None
    return _finite(row, place)


def _finite(row: Floats, place: str) -> Floats:
    if not np.isfinite(row).all():
        wrong = row[~np.isfinite(row)][0]
        raise InputError(f"{place}: {wrong} is found where a finite number is expected")
    return row


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    # Only "\n" ends a line: some words of GloVe are other white space. Bytes that are no UTF-8 spoil only their word.
    form: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n"}
    try:
        with gzip.open(path, "rt", **form) if path.suffix == ".gz" else open(path, **form) as stream:
            yield stream
    except FileNotFoundError:
        raise InputError(f"{path}: {MISSING}") from None
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from None


def _read_npz(path: Path, wanted: set[str]) -> tuple[int, dict[str, Floats]]:
    words, vectors = _load(path)
    index: dict[str, int] = {}
    for number, word in enumerate(words):
        if word in wanted:
            index.setdefault(word, number)
    with np.errstate(over="ignore"):  # told below, in words
        chosen = vectors[list(index.values())].astype(np.float32)
    rows = {word: _finite(row, f"{path}, word {word!r}") for word, row in zip(index, chosen, strict=True)}
    return vectors.shape[1], rows


def _load(path: Path) -> tuple[list[str], npt.NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise InputError(f"{path}: {MISSING}") from None
    except (OSError, EOFError, ValueError, AttributeError, zipfile.BadZipFile, zlib.error) as problem:
        raise InputError(f"{path}: is no npz file of plain arrays ({problem})") from None
    missing = [name for name in ("words", "vectors") if name not in arrays]
    if missing:
        there = ", ".join(arrays) or "nothing"
        raise InputError(
            f"{path}: it has no array {' and no '.join(missing)}; words and vectors are expected, {there} is found"
        )
    return _checked(path, arrays["words"], arrays["vectors"])


def _checked(path: Path, words: npt.NDArray[Any], vectors: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[Any]]:
    if words.dtype.kind != "U" or words.ndim > 1:
        raise InputError(
            f"{path}: words is {words.dtype} of {words.ndim} axes; strings, one a word or a word a line, are expected"
        )
    if vectors.dtype.kind not in "fiu" or vectors.ndim != 2 or not vectors.shape[1]:
        raise InputError(
            f"{path}: vectors is {vectors.dtype} of shape {vectors.shape}; numbers of shape (words, width) are expected"
        )
    names = str(words).split("\n") if words.ndim == 0 else words.tolist()
    if names and words.ndim == 0 and not names[-1]:
        names.pop()
    if len(names) != len(vectors):
        raise InputError(
            f"{path}: {len(names)} words but {len(vectors)} vectors are found; as many of both are expected"
        )
    if not names:
        raise InputError(f"{path}: it holds no word; at least one is expected")
    return names, vectors
