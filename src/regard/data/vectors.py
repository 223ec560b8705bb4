"""Pretrained word vectors from a file: the text format of GloVe, word2vec and fastText (also .gz), or .npz; or from a folder
of static vectors (`data/static_folders`).

Text: one word per line, "word v1 v2 …", after an optional first line "count width". npz: `words`, an array of strings or
one string with one word per line, and `vectors` (n, width). Only the requested vectors are parsed, so only these are
checked to be finite; the width is checked on every line.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from regard.data.static_folders import StaticFolder
from regard.errors import InputError

MISSING = "no such file; expected a file of word vectors (.txt, .vec, .gz or .npz) or a folder of static vectors"
WIDEST = 1 << 16  # numbers per word
LONGEST = 1 << 22  # characters of a line; of a small compressed file, one line could fill the memory

Floats = npt.NDArray[np.float32]


def read_vectors(path: str | Path, words: Sequence[str]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The vectors of these words (len(words), width), zeros for missing ones, and a mask of those found.

    A word that is not in the file is looked up in lower case.
    """
    path = Path(path)
    if path.is_dir():
        return _of_any(path, *StaticFolder(path).vectors(words))
    wanted = {*words, *(word.lower() for word in words)}
    width, rows = _read_npz(path, wanted) if path.suffix == ".npz" else _read_text(path, wanted)
    vectors = np.zeros((len(words), width), dtype=np.float32)
    found = np.zeros(len(words), dtype=np.bool_)
    for index, word in enumerate(words):
        row = rows.get(word, rows.get(word.lower()))
        if row is not None:
            vectors[index], found[index] = row, True
    return _of_any(path, vectors, found)


def _of_any(path: Path, vectors: Floats, found: npt.NDArray[np.bool_]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    if not found.any():
        raise InputError(
            f"{path}: no vector for any of the {len(found)} words; are they of another language or tokenisation?"
        )
    return vectors, found


def vector_words(path: str | Path) -> list[str]:
    """Every word with a vector of its own, in the order of the file, which is usually by frequency."""
    path = Path(path)
    if path.is_dir():
        return StaticFolder(path).words()
    if path.suffix == ".npz":
        return list(dict.fromkeys(_load(path)[0]))
    with _lines(path) as lines:
        return list(dict.fromkeys(word for _, word, _ in _entries(path, lines)))


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
            header = len(fields) == 2 and all(field.isdecimal() and len(field) < 20 for field in fields)
            width = int(fields[1]) if header else len(fields) - 1
            if not 1 <= width <= WIDEST:
                raise InputError(
                    f"{path}, line 1: expected a word and its numbers, or 'count width', got {line[:60]!r}"
                    + f"; there may be {WIDEST:,} numbers per word" * (width > WIDEST)
                )
            if header:
                continue
        if not line:
            continue
        word, *values = line.rsplit(" ", width)
        # A few words of GloVe contain spaces; a number at the end of the word shows that the line is too long instead.
        if len(values) != width or (" " in word and _is_number(word.rsplit(" ", 1)[1])):
            raise InputError(f"{path}, line {number}: expected {width} numbers after the word, got {line.count(' ')}")
        yield number, word, values
    if not width:
        raise InputError(f"{path}: the file is empty; expected lines with a word and its numbers")


def _row(values: list[str], where: str) -> Floats:
    try:
        with np.errstate(over="ignore"):  # reported by _finite
            row = np.array(values, dtype=np.float32)
    except ValueError:
        wrong = next(value for value in values if not _is_number(value))
        raise InputError(f"{where}: expected a number, got {wrong[:40]!r}") from None
    return _finite(row, where)


def _finite(row: Floats, where: str) -> Floats:
    if not np.isfinite(row).all():
        wrong = row[~np.isfinite(row)][0]
        raise InputError(f"{where}: expected a finite number, got {wrong}")
    return row


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    # Only "\n" ends a line: some words of GloVe are other white space. Bytes that are not UTF-8 spoil only their word.
    form: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n"}
    try:
        with gzip.open(path, "rt", **form) if path.suffix == ".gz" else open(path, **form) as stream:
            yield _short_lines(stream, path)
    except FileNotFoundError:
        raise InputError(f"{path}: {MISSING}") from None
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from None


def _short_lines(stream: TextIO, path: Path) -> Iterator[str]:
    for number, line in enumerate(iter(partial(stream.readline, LONGEST + 1), ""), 1):
        if len(line) > LONGEST:
            raise InputError(f"{path}, line {number}: expected a line of up to {LONGEST:,} characters, got more")
        yield line


def _read_npz(path: Path, wanted: set[str]) -> tuple[int, dict[str, Floats]]:
    words, vectors = _load(path)
    index: dict[str, int] = {}
    for number, word in enumerate(words):
        if word in wanted:
            index.setdefault(word, number)
    with np.errstate(over="ignore"):  # reported by _finite
        chosen = vectors[list(index.values())].astype(np.float32)
    if not np.isfinite(chosen).all():
        for word, row in zip(index, chosen, strict=True):
            _finite(row, f"{path}, word {word!r}")
    return vectors.shape[1], dict(zip(index, chosen, strict=True))


def _load(path: Path) -> tuple[list[str], npt.NDArray[Any]]:
    try:
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise InputError(f"{path}: expected the arrays words and vectors, got one array without a name")
            contents = {name: loaded[name] for name in loaded.files}
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: {MISSING}") from None
    except Exception as problem:  # nothing narrower: what zipfile, its compressions and NumPy raise has no common class
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise InputError(f"{path}: is not an npz file of plain arrays ({reason})") from None
    arrays = {name: value for name, value in contents.items() if isinstance(value, np.ndarray)}
    missing = [name for name in ("words", "vectors") if name not in arrays]
    if missing:
        raise InputError(f"{path}: expected the arrays words and vectors, got {', '.join(arrays) or 'none'}")
    return _checked(path, arrays["words"], arrays["vectors"])


def _checked(path: Path, words: npt.NDArray[Any], vectors: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[Any]]:
    if words.dtype.kind != "U" or words.ndim > 1:
        raise InputError(
            f"{path}: words: expected strings, or one string with one word per line, got {words.dtype} of {words.ndim} axes"
        )
    if vectors.dtype.kind not in "fiu" or vectors.ndim != 2 or not vectors.shape[1]:
        raise InputError(
            f"{path}: vectors: expected numbers of shape (words, width), got {vectors.dtype} of shape {vectors.shape}"
        )
    names = str(words).split("\n") if words.ndim == 0 else words.tolist()
    if names and words.ndim == 0 and not names[-1]:
        names.pop()
    if len(names) != len(vectors):
        raise InputError(
            f"{path}: expected as many words as vectors, got {len(names)} words and {len(vectors)} vectors"
        )
    if not names:
        raise InputError(f"{path}: expected at least one word, got none")
    return names, vectors
