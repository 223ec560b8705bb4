"""Word vectors from files: every format, and every kind of invalid file."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.data.vectors import LONGEST, read_vectors, vector_words
from regard.errors import InputError

LINES = "the 1 2\nCat 3 4.5\n. . 5 6\nthe 9 9\n"


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


@pytest.fixture(params=["text", "header", "gz", "npz of a string", "npz of an array"])
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "v.txt"
    numbers = np.array([[1, 2], [3, 4.5], [5, 6]], dtype=np.float16)
    match request.param:
        case "text":
            path.write_text(LINES, encoding="utf-8")
        case "header":
            path.write_text("4 2\n" + LINES.replace("\n", " \n"), encoding="utf-8")
        case "gz":
            path = tmp_path / "v.txt.gz"
            path.write_bytes(gzip.compress(LINES.encode()))
        case "npz of a string":
            path = npz(tmp_path / "v.npz", words=np.array("the\nCat\n. ."), vectors=numbers)
        case _:
            path = npz(tmp_path / "v.npz", words=np.array(["the", "Cat", ". ."]), vectors=numbers)
    return path


def test_every_form_gives_the_same_vectors(vectors: Path) -> None:
    vectors_read, has_vector = read_vectors(vectors, ["Cat", "dog", "The", ". ."])
    assert vectors_read.dtype == np.float32
    assert vectors_read.tolist() == [[3, 4.5], [0, 0], [1, 2], [5, 6]]
    assert has_vector.tolist() == [True, False, True, True]
    assert vector_words(vectors) == ["the", "Cat", ". ."]


def test_the_word_as_written_takes_precedence_over_lower_case(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("us 1\nUS 2\n")
    assert read_vectors(path, ["US", "us", "Us"])[0].tolist() == [[2], [1], [1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("5 99999999999999999999999\nthe 1 2\n", "line 2: expected 1 numbers after the word, got 2"),
        (f"5 {'9' * 5000}\nthe 1 2\n", "line 2: expected 1 numbers after the word, got 2"),
        (
            "5 9999999999\nthe 1 2\n",
            "line 1: expected a word and its numbers, or 'count width', got '5 9999999999'; there may be 65,536",
        ),
        ("the\n", "line 1: expected a word and its numbers, or 'count width', got 'the'"),
        ("the 1 2\ncat 3\n", "line 2: expected 2 numbers after the word, got 1"),
        ("the 1 2\ncat 3 4 5\n", "line 2: expected 2 numbers after the word, got 3"),
        ("the 1 x\n", "line 1, word 'the': expected a number, got 'x'"),
        ("the 1 nan\n", "line 1, word 'the': expected a finite number, got nan"),
        ("the 1 inf\n", "line 1, word 'the': expected a finite number, got inf"),
        ("cat 1 2\n", "no vector for any of the 1 words"),
    ],
)
def test_a_bad_text_file_is_refused_by_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read_vectors(path, ["the"])
    assert str(path) in str(caught.value)


NUMBERS = np.ones((2, 3))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": np.array(["the", "cat"])}, "expected the arrays words and vectors, got words"),
        ({"a": NUMBERS}, "expected the arrays words and vectors, got a$"),
        ({"words": np.array(["the"]), "vectors": NUMBERS}, "got 1 words and 2 vectors"),
        ({"words": np.array(["the", "cat"]), "vectors": NUMBERS[0]}, r"shape \(3,\)"),
        ({"words": NUMBERS, "vectors": NUMBERS}, "words: .*, got float64 of 2 axes"),
        (
            {"words": np.array(["the", "cat"]), "vectors": NUMBERS * np.nan},
            "word 'the': expected a finite number, got nan",
        ),
        ({"words": np.array(["the", None]), "vectors": NUMBERS}, "not an npz file of plain arrays"),
        ({"words": np.array(""), "vectors": NUMBERS[:0]}, "expected at least one word, got none"),
    ],
)
def test_a_bad_npz_is_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_vectors(npz(tmp_path / "v.npz", **arrays), ["the"])


@pytest.mark.parametrize("name", ["v.npz", "v.txt", "v.txt.gz"])
def test_missing_and_damaged_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(InputError, match="no such file"):
        read_vectors(path, ["the"])
    path.write_bytes(b"\x1f\x8b\x00damaged")
    with pytest.raises(InputError, match=name):
        read_vectors(path, ["the"])


def test_a_small_file_that_unpacks_to_one_long_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(b"the 1 2\n" + b"a" * (LONGEST + 1)))
    with pytest.raises(InputError, match=r"line 2: expected a line of up to 4,194,304 characters, got more"):
        read_vectors(path, ["the"])


def header(shape: str) -> bytes:
    """Of an array in the format npy, without its numbers."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content", [b"", b"no array", header("(4, 1000000000000000)"), header("(True, False)"), header("(" * 300)]
)
def test_an_npz_with_damaged_arrays_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("words.npy", content)
        archive.writestr("vectors.npy", content)
    with pytest.raises(InputError, match=r"v\.npz: (is not an npz file of plain arrays|expected the arrays words and)"):
        read_vectors(path, ["the"])


@pytest.mark.parametrize("place", ["encrypted", "unknown compression", "unknown version"])
def test_an_npz_that_zipfile_does_not_read_is_refused(tmp_path: Path, place: str) -> None:
    path = npz(tmp_path / "v.npz", words=np.array(["the"]), vectors=np.ones((1, 2)))
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")
    offset, value = {"encrypted": (8, 1), "unknown compression": (10, 99), "unknown version": (6, 199)}[place]
    content[entry + offset] = value
    if place == "encrypted":
        content[6] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"v\.npz: is not an npz file of plain arrays"):
        read_vectors(path, ["the"])


def test_an_array_without_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    with open(path, "wb") as file:
        np.save(file, np.ones((3, 2)))
    with pytest.raises(InputError, match=r"expected the arrays words and vectors, got one array without a name"):
        read_vectors(path, ["the"])
