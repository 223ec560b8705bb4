"""fastText's lines: a label before each text, in .txt files and on standard input."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from command import TINY, Regard
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError

UNLABELLED = ReadOptions(labelled=False)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_and_texts_are_taken_apart(tmp_path: Path) -> None:
    lines = "\n__label__spam Win a prize\n__label__not_spam\tHi  Ann , see you\nlate __label__spam words\n"
    path = write(tmp_path / "a.txt", lines)
    found = [(one.text, one.label, one.row) for one in read(path).examples]
    assert found == [
        ("Win a prize", "spam", 2),
        ("Hi  Ann , see you", "not_spam", 3),
        ("late words", "spam", 4),
    ]
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read(tmp_path / "a.txt.gz").examples == read(path).examples


def test_lines_without_labels_are_texts(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "a text with __label__ in it\nanother\n")
    assert [one.text for one in read(path, UNLABELLED).examples] == ["a text with __label__ in it", "another"]
    with pytest.raises(InputError, match=r"lines of text have no labels; .* or lines that begin with __label__"):
        read(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no label here", "line 3, column 'label': the label is missing"),
        ("__label__ no name", "line 3, column 'label': the label is missing"),
        ("__label__a", "line 3, column 'text': expected at least one word"),
    ],
)
def test_lines_that_cannot_be_used_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.txt", f"__label__a good film\n__label__b bad film\n{line}\n")
    with pytest.raises(InputError, match=message):
        read(path)
    assert len(read(path, ReadOptions(skip_bad_rows=True)).examples) == 2


def test_a_model_is_trained_and_scored_on_such_lines(regard: Regard, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "__label__pos good film\n__label__neg bad film\n" * 20)
    assert regard("train", path, *TINY, "--out", tmp_path / "run").code == 0
    assert '"accuracy": ' in regard("evaluate", tmp_path / "run", path, "--json").out
    assert "good film" in regard("predict", tmp_path / "run", path, "--format", "csv").out.splitlines()[1]
