"""Several labels per text: lists, separators, columns of yes and no, hints, and groups for stratification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command import write_csv
from regard.data.guessed_task import guess_task
from regard.data.label_sets import combined_by, indicated, joiner, rarest_label
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError


def labels(path: Path, **options: object) -> list[object]:
    return [example.label for example in read(path, ReadOptions(**options))]  # type: ignore[arg-type]


def test_lists_are_label_sets_and_an_empty_one_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "one", "tags": ["b", "a", "b"]}\n{"text": "two", "tags": []}\n{"text": "three", "tags": [2, 10]}\n'
    )
    assert labels(path) == [("a", "b"), (), ("2", "10")]


def test_a_stray_list_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one", "label": "a"}\n{"text": "two", "label": "b"}\n{"text": "three", "label": ["a"]}\n')
    with pytest.raises(InputError, match=r"row 3 \(line 3\), column 'label': .*wrong type.*--task multilabel"):
        read(path)
    assert labels(path, several=True) == [("a",), ("b",), ("a",)]


def test_a_blank_label_names_the_task_in_which_texts_may_have_none(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("one", "bug"), ("two", "billing;bug"), ("three", "")])
    with pytest.raises(InputError, match=r"row 3, column 'label': .*or --task multilabel, with which"):
        read(path)
    assert labels(path, several=True, label_separator=";") == [("bug",), ("billing", "bug"), ()]


def test_a_missing_list_is_not_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "one", "label": ["a"]}\n{"text": "two", "label": ["b"]}\n{"text": "three", "label": null}\n'
    )
    with pytest.raises(InputError, match=r"row 3 .*expected a list of labels \(\[\] for none\)"):
        read(path)


def test_a_separator_takes_labels_apart(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("one", "b; a"), ("two", ""), ("three", "a;;a")])
    assert labels(path, label_separator=";") == [("a", "b"), (), ("a",)]


def test_columns_of_yes_and_no(tmp_path: Path) -> None:
    rows = [("x", "one", "1", "no", "True"), ("y", "two", "", "0", "false"), ("z", "three", "yes", "1.0", "")]
    path = write_csv(tmp_path / "a.csv", rows, ("id", "comment", "toxic", "rude", "threat"))
    expected = [("threat", "toxic"), (), ("rude", "toxic")]
    assert labels(path, label="toxic,rude, threat") == expected
    corpus = read(path, ReadOptions(several=True))
    assert [example.label for example in corpus] == expected
    assert corpus.label_column == "toxic,rude,threat"
    assert corpus.guessed == [
        f"{path}: text column 'comment' and label columns 'toxic', 'rude', 'threat' guessed; --text and --label override this"
    ]
    assert labels(path, known=(None, "toxic,rude")) == [("toxic",), (), ("rude", "toxic")]


def test_a_cell_that_is_neither_yes_nor_no_is_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("one", "1", "0"), ("two", "maybe", "1")], ("text", "a", "b"))
    with pytest.raises(InputError, match=r"row 2, column 'a' has the value 'maybe'; expected 0, 1, true"):
        labels(path, label="a,b")
    with pytest.raises(InputError, match=r"no column 'c' \(--label\)"):
        labels(path, label="a,c")


def test_a_comma_in_a_name_is_part_of_it(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("one", "x"), ("two", "y")], ("text", "a,b"))
    assert labels(path, label="a,b") == ["x", "y"]


def test_fasttext_lines_may_have_several_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("__label__a __label__b two labels\n__label__a one\n")
    corpus = read(path)
    assert [(one.text, one.label) for one in corpus] == [("two labels", ("a", "b")), ("one", ("a",))]


@pytest.mark.parametrize(
    ("cell", "said"), [(True, True), (0.0, False), (" YES ", True), (None, False), (2, None), ("x", None)]
)
def test_what_a_cell_says(cell: object, said: bool | None) -> None:
    assert indicated(cell) is said


def test_labels_that_look_combined_are_hinted_at() -> None:
    names = ["food", "room", "food;room", "food;staff", "staff"]
    assert combined_by(names) == (";", "food;room")
    task, reason = guess_task(names, 50)
    assert task == "multiclass"
    assert reason.endswith(
        "'food;room' look like several labels joined by ';': --label-separator ';' reads each of them"
    )


@pytest.mark.parametrize(
    "names", [["a", "b", "c"], ["Smith, J.", "Doe, A.", "Roe, B."], ["red;", "blue", "x;y"], ["R&D", "Q&A", "sales"]]
)
def test_single_labels_are_not_combined(names: list[str]) -> None:
    assert combined_by(names) is None


def test_what_joins_labels_is_in_none_of_them() -> None:
    assert joiner(["a", "b"], None) == ";"
    assert joiner(["a", "b"], "/") == "/"
    assert joiner(["a;b", "c"], ";") == "|"


def test_the_group_of_a_text_is_its_rarest_label() -> None:
    matrix = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 0], [1, 0, 1]])
    groups = rarest_label(matrix)
    # counts 4, 1, 2: the second label is the rarest, then the third
    assert groups.tolist() == [0, 2, 1, 3, 1]
