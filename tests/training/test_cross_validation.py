"""Cross-validation: stratified folds that never change, scores of models that have not seen their fold, resuming."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from command import TINY, Regard, write_csv
from regard.config import Config
from regard.data.splitting import fold_rows
from regard.records import Example
from regard.run_metrics import Metrics, Scores
from regard.training import cross_validation
from regard.training.cross_validation import cross_validate, mean_interval, read_finished
from regard.training.fit import Parts, fit

ROWS = [(f"a {word} film number {row}", label) for row in range(20) for word, label in (("good", "yes"), ("bad", "no"))]


@given(st.lists(st.integers(2, 30), min_size=1, max_size=6), st.integers(2, 10), st.integers(0, 99))
def test_folds_are_stratified_and_of_equal_size(sizes: list[int], folds: int, seed: int) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    chosen = fold_rows(groups, folds, seed)
    for rows in (chosen, *(chosen[groups == group] for group in range(len(sizes)))):
        counts = np.bincount(rows, minlength=folds)
        assert counts.max() - counts.min() <= 1
    assert (chosen == fold_rows(groups, folds, seed)).all()


def test_another_seed_gives_other_folds() -> None:
    groups = np.zeros(50, dtype=np.int32)
    assert (fold_rows(groups, 5, 0) != fold_rows(groups, 5, 1)).any()


def test_the_only_text_of_a_class_is_in_no_fold() -> None:
    assert fold_rows(np.array([0, 0, 1, 0], dtype=np.int32), 3, 0)[2] == -1


def test_the_interval_allows_for_shared_training_texts() -> None:
    values = [0.7, 0.8, 0.75, 0.85, 0.9]
    mean, half = mean_interval(values)
    assert mean == pytest.approx(0.8)
    variance = sum((value - 0.8) ** 2 for value in values) / 4
    assert half == pytest.approx(t.ppf(0.975, 4) * math.sqrt((1 / 5 + 1 / 4) * variance))


@pytest.mark.parametrize("engine", ["sparse", "torch"])
def test_each_fold_is_scored_by_a_model_that_has_not_seen_it(engine: str) -> None:
    config = Config().override({"engine": engine, "epochs": 2, "embedding": 8, "device": "cpu"})
    examples = [Example(text, label, row) for row, (text, label) in enumerate(ROWS, 1)]
    found = cross_validate(config, Parts(examples), 4, cross_validation.Silent())
    assert found["texts"] == [10] * 4
    groups = np.array([label == "no" for _, label in ROWS], dtype=np.int32)
    chosen = fold_rows(groups, 4, 0)
    for fold, scores in enumerate(found["scores"]):
        pairs = list(zip(examples, chosen, strict=True))
        kept, held = [one for one, each in pairs if each != fold], [one for one, each in pairs if each == fold]
        measured = fit(config, Parts(kept, None, held)).metrics["test"]
        assert scores["accuracy"] == measured["accuracy"]
        assert scores["log_loss"] == pytest.approx(measured["log_loss"])
    assert found["mean"]["accuracy"] == pytest.approx(np.mean([one["accuracy"] for one in found["scores"]]))


def test_the_command_saves_the_folds_and_trains_the_same_model(regard: Regard, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "films.csv", ROWS)
    plain = regard("train", table, "--out", tmp_path / "plain")
    result = regard("train", table, "--cv", 5, "--out", tmp_path / "cv")
    assert (plain.code, result.code) == (0, 0)
    assert "cross-validation" in result.out
    assert "fold 5 of 5" in result.err
    metrics = json.loads((tmp_path / "cv" / "metrics.json").read_text())
    assert metrics["cv"]["folds"] == len(metrics["cv"]["scores"]) == 5
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("plain", "cv")]
    assert weights[0] == weights[1]
    assert not (tmp_path / "cv" / "cv.json").exists()


def test_finished_folds_of_a_killed_run_are_not_repeated(
    regard: Regard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_csv(tmp_path / "films.csv", ROWS)
    assert regard("train", table, "--cv", 4, "--out", tmp_path / "whole").code == 0
    prepare, fitted = cross_validation.prepare, []

    class Stopping:
        def __init__(self, prepared: object) -> None:
            self.prepared = prepared
            self.identity = prepared.identity  # type: ignore[attr-defined]

        def fit(self, run: object) -> object:
            fitted.append(self.identity)
            if len(fitted) == 3:
                raise KeyboardInterrupt
            return self.prepared.fit(run)  # type: ignore[attr-defined]

    monkeypatch.setattr(cross_validation, "prepare", lambda *given: Stopping(prepare(*given)))
    out = tmp_path / "run"
    stopped = regard("train", table, "--cv", 4, "--out", out)
    assert stopped.code == 130
    assert "--resume continues after the last finished fold" in stopped.err
    assert regard("train", table, "--cv", 4, "--out", out, "--resume").code == 0
    assert len(fitted) == 5  # two, the one that was stopped, and the last two
    assert fitted[2] == fitted[3]
    found = [json.loads((folder / "metrics.json").read_text())["cv"] for folder in (tmp_path / "whole", out)]
    assert found[0] == found[1]


def test_an_overwritten_run_that_was_stopped_within_its_folds_is_trained_again(
    regard: Regard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder still has the files of the old run, which must not count as the result."""
    table, out = write_csv(tmp_path / "films.csv", ROWS), tmp_path / "run"
    assert regard("train", table, "--out", out).code == 0
    scores = cross_validation.scalar_metrics
    with monkeypatch.context() as patch:
        calls = iter(range(9))

        def stop_at_second(metrics: Metrics) -> Scores:
            if next(calls) == 1:
                raise KeyboardInterrupt
            return scores(metrics)

        patch.setattr(cross_validation, "scalar_metrics", stop_at_second)
        assert regard("train", table, "--cv", 3, "--out", out, "--overwrite").code == 130
    assert regard("train", table, "--cv", 3, "--out", out, "--resume").code == 0
    assert json.loads((out / "metrics.json").read_text())["cv"]["folds"] == 3
    again = regard("train", table, "--cv", 4, "--out", out, "--resume")
    assert "was trained without --cv 4" in again.err


def test_what_cannot_be_cross_validated_is_one_sentence(regard: Regard, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "films.csv", ROWS)
    assert "expected no --dev" in regard("train", table, "--cv", 5, "--dev", table).error
    assert "from 2 to 100" in regard("train", table, "--cv", 1).error
    assert "at least 60 texts" in regard("train", table, "--cv", 30, "--out", tmp_path / "run").error
    assert not (tmp_path / "run").exists()


def test_numbers_are_cross_validated(regard: Regard, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "numbers.csv", [(f"{'good ' * n}day", n + 0.5) for n in range(6) for _ in range(5)])
    assert regard("train", table, *TINY, "--encoder", "cnn", "--cv", 3, "--out", tmp_path / "run").code == 0
    assert set(json.loads((tmp_path / "run" / "metrics.json").read_text())["cv"]["mean"]) == {"rmse", "mae", "r2"}


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000, '{"a": {"accuracy": 1' + "0" * 400 + "}}", "1" * 5000])
def test_damaged_scores_of_finished_folds_count_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "cv.json").write_text(content)
    assert read_finished(tmp_path / "cv.json") == {}
