"""Novelty: the formula, by hand, and that unknown words and indecision raise it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from command import Regard
from regard.cli import main
from regard.models.folder import load
from regard.novelty import entropy_share, known_share, novelty


@pytest.fixture(scope="module")
def flat_run(table: Path) -> Path:
    folder = table.parent / "flat_for_novelty"
    assert main(["train", str(table), "--epochs", "2", "--out", str(folder)]) == 0
    return folder


TEXT = "The room was good and zzyzx."


def test_entropy_is_a_share_of_the_largest_possible() -> None:
    rows = np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]])
    by_hand = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert entropy_share(rows) == pytest.approx([1, 0, by_hand])


@pytest.mark.parametrize("name", ["flat_run", "run"])
def test_novelty_falls_with_known_words_and_a_decided_answer(name: str, request: pytest.FixtureRequest) -> None:
    trained = load(request.getfixturevalue(name))
    words = ["the", "room", "was", "good", "and", "zzyzx", "."]
    share = np.mean(trained.tokenizer.vocabulary.known(words))  # type: ignore[union-attr]
    assert known_share(trained, [TEXT]) == pytest.approx([share])
    sure, unsure = np.array([[1.0, 0, 0, 0, 0]]), np.full((1, 5), 0.2)
    assert novelty(trained, [TEXT], sure) == pytest.approx([1 - share**2])
    assert novelty(trained, [TEXT], unsure) == pytest.approx([1.0])
    assert novelty(trained, ["zzyzx qwux"], sure) == pytest.approx([1.0])
    assert len(novelty(trained, [])) == 0


def test_predict_adds_a_column(regard: Regard, flat_run: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text('text,novelty\nThe room was good.,1\n"",2\nzzyzx qwux,3\n', encoding="utf-8")
    result = regard("predict", flat_run, texts, "--novelty", "--format", "csv")
    head, *rows = [line.split(",") for line in result.out.splitlines()]
    assert result.code == 0
    assert head[-2:] == ["novelty", "error"]
    assert rows[1][head.index("novelty")] == ""
    values = [float(rows[place][head.index("novelty")]) for place in (0, 2)]
    assert 0 <= values[0] < values[1] <= 1
    json_lines = regard("predict", flat_run, texts, "--novelty", "--format", "jsonl").out.splitlines()
    assert '"novelty": ' in json_lines[0]
    assert "novelty" not in json_lines[1]
    assert "novelty" in regard("predict", flat_run, texts, "--novelty", "--format", "terminal").out
    assert "novelty" not in regard("predict", flat_run, texts, "--format", "jsonl").out


def test_a_kept_column_may_not_have_its_name(regard: Regard, flat_run: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text("text,novelty\nThe room was good.,1\n", encoding="utf-8")
    assert regard("predict", flat_run, texts, "--keep", "novelty", "--format", "csv").code == 0
    result = regard("predict", flat_run, texts, "--novelty", "--keep", "novelty")
    assert result.code == 2
    assert result.error.startswith("--keep novelty: predictions have a column of that name")
