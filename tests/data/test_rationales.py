"""Words that people marked, read from a column: characters or tokens, and one sentence for what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command import write_csv
from regard.data.rationales import Rationales
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError

TEXT = "one two three"


def lines(path: Path, *values: Any) -> Path:
    rows = [json.dumps({"text": TEXT, "label": "a", "marks": value}) for value in values]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def marked(path: Path, unit: Any, **other: Any) -> list[list[str]]:
    corpus = read(path, ReadOptions(labelled=False, rationales=Rationales("marks", unit), **other))
    return [[example.text[start:end] for start, end in example.evidence] for example in corpus]


def test_spans_of_characters(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [[0, 3], [8, 13]], [], [[4, 4]])
    assert marked(path, "characters") == [["one", "three"], [], []]


def test_spans_of_tokens_or_a_number_for_each(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [[0, 2]], [0, 0, 1], [], [[1, 1]], [[2, 3]])
    assert marked(path, "tokens") == [["one two"], ["three"], [], [], ["three"]]


def test_a_table_has_them_as_json(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [(TEXT, "[[4, 7]]"), (TEXT, "[]")], ("text", "marks"))
    assert marked(path, "characters") == [["two"], []]


@pytest.mark.parametrize(
    ("value", "unit", "sentence"),
    [
        ([[0, 14]], "characters", r"expected spans within 13 characters, got \[0, 14\)"),
        ([[-1, 2]], "characters", r"expected spans within 13 characters, got \[-1, 2\)"),
        ([[3, 1]], "characters", r"expected spans within 13 characters, got \[3, 1\)"),
        ([[0, 4]], "tokens", r"expected spans within 3 tokens, got \[0, 4\)"),
        ([0, 1], "tokens", "expected one number per token, got 2 for 3 tokens"),
        ([0, 1, 1], "characters", r"expected a JSON list of \[start, end\] in characters, got a list \(\[0, 1, 1\]\)"),
        ([[0.0, 3.0]], "characters", "expected a JSON list .*, got "),
        (["ab"], "characters", "expected a JSON list .*, got "),
        ([[0, 1, 2]], "tokens", "or of a 0 or 1 for each token"),
        ("[[0, 3", "characters", ", got a string"),
        ("", "characters", ", got a string"),
        (None, "characters", ", got null"),
        ({"a": 1}, "tokens", ", got an object"),
    ],
)
def test_what_marks_nothing_that_can_be_used_is_refused(value: Any, unit: Any, sentence: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [], value)
    with pytest.raises(InputError, match=rf"a\.jsonl, row 2.*, column 'marks': .*{sentence}"):
        marked(path, unit)
    assert marked(path, unit, skip_bad_rows=True) == [[]]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [(TEXT, "a")], ("text", "label"))
    with pytest.raises(InputError, match=r"a\.csv, row 1.*, column 'marks': the row has no such field; its fields are"):
        marked(path, "characters")
