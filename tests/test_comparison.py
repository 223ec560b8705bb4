"""Comparing models: the numbers against scikit-learn and a bootstrap written out, the command, its page and its errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, log_loss

from command import TINY, Regard, write_csv
from regard.comparison import compare
from regard.data.readers import read
from regard.models.wrapped import WrappedModel

CLASSES = ("bad", "good", "mixed")
TEXTS = 60


def labels_of(seed: int) -> list[str]:
    return [CLASSES[k] for k in np.random.default_rng(seed).integers(3, size=TEXTS)]


def probabilities(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet((1, 1, 1), size=TEXTS)


def answering(given: np.ndarray) -> Callable[[list[str]], np.ndarray]:
    """A model that answers text N with row N."""
    return lambda texts: given[[int(text.split()[1]) for text in texts]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "texts.csv", [(f"text {n} <b>", label) for n, label in enumerate(labels_of(0))])


def test_scores_and_kappa_are_those_of_scikit_learn(file: Path) -> None:
    first, other = probabilities(1), probabilities(2)
    models = {
        "one": WrappedModel(answering(first), CLASSES),
        "two": WrappedModel(answering(other[:, [2, 0, 1]]), ("mixed", "bad", "good")),  # the same in another order
    }
    facts = compare(models, read(file))
    truth = labels_of(0)
    for run, given in zip(facts.runs, (first, other), strict=True):
        answers = [CLASSES[k] for k in given.argmax(1)]
        assert run.scores["accuracy"] == pytest.approx(accuracy_score(truth, answers))
        assert run.scores["macro_f"] == pytest.approx(f1_score(truth, answers, average="macro"))
        assert run.scores["log_loss"] == pytest.approx(log_loss(truth, given, labels=list(CLASSES)))
    expected = cohen_kappa_score(first.argmax(1), other.argmax(1))
    assert facts.agreement[0].kappa == pytest.approx(expected)
    per_class = f1_score(truth, [CLASSES[k] for k in other.argmax(1)], average=None, labels=list(CLASSES))
    assert [one.f[1] for one in facts.classes] == pytest.approx(list(per_class))
    assert sum(one.texts for one in facts.classes) == TEXTS


def test_the_interval_is_a_bootstrap_over_pairs(file: Path) -> None:
    first, other = probabilities(1), probabilities(2)
    models = {name: WrappedModel(answering(given), CLASSES) for name, given in (("one", first), ("two", other))}
    found = compare(models, read(file)).differences[0].scores
    truth = np.array([CLASSES.index(label) for label in labels_of(0)])
    rng = np.random.default_rng(0)
    gaps = []
    for rows in rng.integers(TEXTS, size=(1000, TEXTS)):
        scores = [f1_score(truth[rows], given[rows].argmax(1), average="macro") for given in (first, other)]
        gaps.append(scores[1] - scores[0])
    assert (found["macro_f"].low, found["macro_f"].high) == pytest.approx(tuple(np.quantile(gaps, (0.025, 0.975))))


def test_mcnemar_counts_the_texts_that_only_one_gets_right(file: Path) -> None:
    truth = np.array([CLASSES.index(label) for label in labels_of(0)])
    right, wrong = np.eye(3)[truth] * 0.8 + 0.2 / 3, np.eye(3)[(truth + 1) % 3] * 0.8 + 0.2 / 3
    half = np.where(np.arange(TEXTS)[:, None] < 7, wrong, right)
    models = {
        name: WrappedModel(answering(given), CLASSES) for name, given in (("a", right), ("b", half), ("c", right))
    }
    facts = compare(models, read(file), limit=3)
    worse, same = (one.mcnemar for one in facts.differences)
    assert worse is not None
    assert same is not None
    assert (worse.won, worse.lost) == (0, 7)
    assert worse.p == pytest.approx(2 / 2**7)
    assert worse.corrected == pytest.approx(4 / 2**7)  # Holm: the smaller of two p counts twice
    assert (same.won, same.lost, same.p, same.corrected) == (0, 0, 1, 1)
    assert facts.disagreements == 7
    assert [one.row for one in facts.disputed] == [1, 2, 3]


def test_disagreements_come_most_confident_first(file: Path) -> None:
    first, other = probabilities(1), probabilities(2)
    models = {name: WrappedModel(answering(given), CLASSES) for name, given in (("one", first), ("two", other))}
    facts = compare(models, read(file), limit=1000)
    apart = first.argmax(1) != other.argmax(1)
    assert len(facts.disputed) == facts.disagreements == apart.sum()
    sure = [max(answer.probability or 0 for answer in one.answers) for one in facts.disputed]
    assert sure == sorted(sure, reverse=True)
    assert all(len({answer.value for answer in one.answers}) > 1 for one in facts.disputed)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Two runs on the same file with hostile texts, and that file."""
    from regard.cli import main

    folder = tmp_path_factory.mktemp("compared")
    rows = [(f"<script>alert({n})</script> {word} day", word) for n in range(20) for word in ("good", "bad", "odd")]
    table = write_csv(folder / "train.csv", rows)
    shuffled = write_csv(
        folder / "other.csv", [(text, rows[place * 2 % 60][1]) for place, (text, _) in enumerate(rows)]
    )
    for name, source in (("one", table), ("two", shuffled)):
        assert main(["train", str(source), "--out", str(folder / name)]) == 0
    return folder / "one", folder / "two", table


def test_the_command_prints_tables_and_json_and_writes_a_page(
    regard: Regard, runs: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    one, two, table = runs
    page = tmp_path / "page.html"
    shown = regard("compare", one, two, "--data", table, "--out", page)
    assert shown.code == 0
    assert "McNemar" in shown.out
    assert "B is worse than A" in shown.out
    text = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(" in text
    assert "<script>alert(" not in text
    printed = regard("compare", one, two, "--data", table, "--json", "--limit", 2)
    facts = json.loads(printed.out)
    assert facts["runs"][0]["scores"]["accuracy"] == 1
    assert len(facts["disputed"]) == 2
    assert set(facts["disputed"][0]["answers"][0]) == {"value", "probability"}


def test_numbers_are_compared_by_rmse(regard: Regard, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(f"{'good ' * n}day", n + rng.normal() / 10) for n in range(6) for _ in range(8)]
    table = write_csv(tmp_path / "numbers.csv", rows)
    for name, epochs in (("long", 20), ("short", 1)):
        assert regard("train", table, "--epochs", epochs, "--out", tmp_path / name).code == 0
    result = regard(
        "compare", tmp_path / "long", tmp_path / "short", "--data", table, "--json", "--out", tmp_path / "p.html"
    )
    facts = json.loads(result.out)
    for run in facts["runs"]:
        measured = json.loads(regard("evaluate", run["name"], table, "--json").out)
        assert run["scores"] == pytest.approx({key: measured[key] for key in ("rmse", "mae")})
    assert "mcnemar" not in facts["differences"][0]
    assert -1 <= facts["agreement"][0]["correlation"] <= 1
    assert "actual" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_what_cannot_be_compared_is_one_sentence(
    regard: Regard, runs: tuple[Path, Path, Path], tmp_path: Path, run: Path
) -> None:
    one, two, table = runs
    assert "two or more runs" in regard("compare", one, "--data", table).error
    assert "twice" in regard("compare", one, one, "--data", table).error
    assert "only one of the two has" in regard("compare", one, run, "--data", table).error
    numbers = write_csv(tmp_path / "numbers.csv", [(f"day {n}", n + 0.5) for n in range(20)])
    assert regard("train", numbers, *TINY, "--out", tmp_path / "numbers").code == 0
    page = tmp_path / "page.html"
    result = regard("compare", one, tmp_path / "numbers", "--data", table, "--out", page)
    assert result.code == 2
    assert "expected classes" in result.error
    assert not page.exists()
    assert "expected the name of a page" in regard("compare", one, two, "--data", table, "--out", tmp_path).error
