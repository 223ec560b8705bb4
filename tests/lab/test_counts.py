"""The kind "counts": texts, words and tokens of a corpus, without training."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from regard.corpora.lookup import available, resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.kinds import counts
from regard_lab.reading.table_file import read_table
from regard_lab.tables.context import Context
from regard_lab.tables.table import Table

TOML = """
kind = "counts"
measures = ["number"]
[options]
text = "text"
label = "label"
[methods.train]
counted = "train"
[methods.train-2]
counted = "train"
of_class = 2
[methods.test]
counted = "test"
[methods.length]
counted = "length"
[methods.vocabulary]
counted = "vocabulary"
[methods.tokens-1]
counted = "tokens"
of_class = 1
[methods.tokens-2]
counted = "tokens"
of_class = 2
[methods.neutral]
counted = "tokens"
[corpora.made]
train = "TRAIN"
test = "TEST"
labels = ["a", "b"]
"""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Six texts of each of two classes, and one of a third that is not requested."""
    rows = [{"text": "Good day so so", "label": "b"}] * 6 + [{"text": "bad DAY", "label": "a"}] * 6
    rows += [{"text": "what else is there", "label": "c"}]
    files = {"TRAIN": rows, "TEST": [rows[0], rows[6], {"text": "new", "label": "a"}]}
    toml = TOML
    for name, content in files.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        toml = toml.replace(name, str(path))
    (tmp_path / "counts.toml").write_text(toml, encoding="utf-8")
    return read_table(tmp_path / "counts.toml", "paper/counts")


def test_every_number_of_a_small_corpus(table: Table) -> None:
    """Words: 6·4 + 6·2 in train, 4 + 2 + 1 in test, of 15 texts. `day` occurs 6 times in each class, `so` 12 times in one."""
    result: dict[str, Any] = {}
    for cell in table.cells():
        counts.check(cell)
        rows = list(counts.run(cell, [0], Context("cpu", Silent())))
        result[cell.method] = rows[0]["values"]["number"]
        assert {"seed", "seconds", "data", "environment"} <= set(rows[0])
    expected = {"train": 12, "train-2": 6, "test": 3, "vocabulary": 5, "tokens-1": 1, "tokens-2": 2, "neutral": 1}
    assert result == {**expected, "length": pytest.approx(43 / 15)}


def test_invalid_counts_are_rejected_before_reading(table: Table, tmp_path: Path) -> None:
    text = table.path.read_text(encoding="utf-8")
    for old, new, sentence in (
        (
            'counted = "length"',
            'counted = "length"\nof_class = 1',
            "of_class: expected 1 or more, with a split or tokens, got 1",
        ),
        (
            'counted = "length"',
            "of_class = 1",
            "counted: expected one of train, dev, test, length, vocabulary, tokens, got nothing",
        ),
    ):
        (tmp_path / "wrong.toml").write_text(text.replace(old, new), encoding="utf-8")
        cells = read_table(tmp_path / "wrong.toml", "paper/wrong").cells()
        length = next(cell for cell in cells if cell.method == "length")
        with pytest.raises(InputError, match=sentence):
            counts.check(length)


def test_a_missing_class_is_an_error(table: Table, tmp_path: Path) -> None:
    text = table.path.read_text(encoding="utf-8").replace("of_class = 2", "of_class = 3")
    (tmp_path / "third.toml").write_text(text, encoding="utf-8")
    cell = list(read_table(tmp_path / "third.toml", "paper/third").cells())[1]
    with pytest.raises(
        InputError, match="of_class: expected 1 to 2, the number of classes of the training texts, got 3"
    ):
        list(counts.run(cell, [0], Context("cpu", Silent())))


@pytest.mark.data
def test_the_token_types_of_sst_are_as_many_as_the_paper_has() -> None:
    if not any(dataset.name == "sst2_uaftc" for dataset in available()):
        pytest.skip(f"sst2_uaftc is not below {os.environ.get('REGARD_DATA', 'REGARD_DATA, which is not set')}")
    train = read(resolve("sst2_uaftc", "train"), ReadOptions(text="text", label="label")).examples
    assert [counts.tokens(train, number, "sst2_uaftc") for number in (2, 1, 0)] == [412, 265, 1384]
