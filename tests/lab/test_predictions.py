"""Predictions in rows: what is stored can be read again, and gives the measures of the row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError
from regard.models.tasks import Binary, Multiclass, Regression, Task
from regard.models.trained import Trained
from regard.recorder import Silent
from regard_lab.kinds import train
from regard_lab.predictions import answered, checksum, pack, predictions
from regard_lab.results import append, complete, match, read_rows
from regard_lab.rows import Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import Table, training_config


def row_of(task: Task, answers: np.ndarray, labels: np.ndarray) -> Row:
    row: Row = {"method": "m", "corpus": "c", "seed": 0, "predictions": pack(task, answers, labels, "abc")}
    result: Row = json.loads(json.dumps(row))
    return result


@pytest.mark.parametrize("count", [2, 7, 20, 300])
def test_classes_can_be_read_again(count: int) -> None:
    rng = np.random.default_rng(count)
    answers, labels = rng.random((500, count)), rng.integers(count, size=500).astype(np.float64)
    task = Binary(("0", "1")) if count == 2 else Multiclass(tuple(map(str, range(count))))
    row = row_of(task, answers, labels)
    assert predictions(row).tolist() == answers.argmax(1).tolist()
    result = answered(row)
    assert result is not None
    assert result.labels.tolist() == labels.tolist()


def test_numbers_are_rounded_to_a_fraction_of_their_spread() -> None:
    rng = np.random.default_rng(0)
    stars = rng.integers(1, 11, 4000).astype(np.float64)  # standard deviation 2.9
    predicted = stars + rng.normal(0, 1.3, 4000)
    row = row_of(Regression(5.5, 2.0), predicted[:, None], (stars - 5.5) / 2)
    assert row["predictions"]["step"] == 0.1
    result = answered(row)
    assert result is not None
    assert np.abs(result.labels - stars).max() < 1e-9  # multiples of the step: exact
    assert np.abs(result.predicted - predicted).max() <= 0.05 + 1e-9
    errors = [float(np.sqrt(((one - stars) ** 2).mean())) for one in (predicted, result.predicted)]
    assert errors[1] == pytest.approx(errors[0], rel=1e-3)


def test_a_prediction_far_outside_the_range_is_limited() -> None:
    row = row_of(Regression(0.0, 1.0), np.array([[1e300], [-1.0]]), np.array([1.0, 2.0]))
    assert predictions(row).tolist() == pytest.approx([(2**31 - 1) * 0.01, -1.0])


def test_twenty_five_thousand_texts_of_eight_classes_take_about_twenty_kilobytes() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(8, size=25_000)
    off = np.where(rng.random(25_000) < 0.45, 0, rng.choice([-1, 1], 25_000))
    answers = np.eye(8)[(labels + off) % 8]
    assert len(pack(Multiclass(tuple("abcdefgh")), answers, labels.astype(float), "abc")["codes"]) < 21_000


def test_a_row_of_a_run_has_the_predictions_behind_its_scores(toy: Table, corpora: Path) -> None:
    test = read(corpora / "films" / "test.jsonl", ReadOptions("text", "label")).examples
    for options in ({}, {"engine": "torch", "encoder": "cnn", "hidden": 4}):
        cell = next(toy.cells())
        changed = type(cell)(cell.kind, cell.method, cell.corpus, "", {**cell.options, **options})
        (row,) = train.run(changed, [0], Context("cpu", Silent()))
        result = answered(row)
        assert result is not None
        assert row["predictions"]["classes"] == ["0", "1"]
        assert result.labels.tolist() == [float(str(example.label)) for example in test]
        assert (result.labels == result.predicted).mean() == row["values"]["accuracy"]
        predictions(row, checksum(test))
        with pytest.raises(InputError, match="another order"):
            predictions(row, checksum(test[::-1]))


def test_seeds_trained_together_keep_the_predictions_of_each(toy: Table, corpora: Path) -> None:
    cell = next(toy.cells())
    options = {**cell.options, "engine": "torch", "encoder": "cnn", "hidden": 4}
    context = Context("cpu", Silent())
    prepared = context.corpora.prepare(cell.corpus, options)
    config = training_config(options, device="cpu")
    for result, _ in train.train_stacked(config, prepared.parts, [0, 1], context):
        assert isinstance(result, Trained)
        row = train.measured(result, prepared)
        answers = result.answers([example.text for example in prepared.parts.test or ()])
        assert predictions(row).tolist() == answers.argmax(1).tolist()


def test_a_regression_row_gives_its_rmse(toy: Table, corpora: Path) -> None:
    cell = next(toy.cells())
    options = {**cell.options, "task": "regression", "engine": "torch", "encoder": "cnn", "hidden": 4}
    (row,) = train.run(type(cell)(cell.kind, cell.method, cell.corpus, "", options), [0], Context("cpu", Silent()))
    result = answered(row)
    assert result is not None
    rmse = float(np.sqrt(((result.labels - result.predicted) ** 2).mean()))
    assert rmse == pytest.approx(row["values"]["rmse"], rel=1e-2)


def test_rows_without_predictions_still_count(toy: Table, tmp_path: Path) -> None:
    cell = next(toy.cells())
    result: Row = {"seed": 0, "values": {"accuracy": 0.5}}
    old = complete(cell, "toy/table", "cpu", result)
    new = complete(
        cell,
        "toy/table",
        "cpu",
        {**result, "seed": 1, "predictions": pack(Binary(("0", "1")), np.eye(2), np.zeros(2), "abc")},
    )
    assert old["fingerprint"] == new["fingerprint"]
    path = tmp_path / "rows.jsonl"
    for row in (old, new):
        append(path, row)
    rows, _ = read_rows(path)
    assert len(match(toy, rows).rows) == 2
    assert answered(rows[0]) is None
    assert predictions(rows[1]).tolist() == [0, 1]
    with pytest.raises(InputError, match="got one without"):
        predictions(rows[0])


def test_damaged_predictions_name_their_row() -> None:
    row = row_of(Binary(("0", "1")), np.eye(2), np.zeros(2))
    row["predictions"]["n"] = 3
    with pytest.raises(InputError, match="predictions of c/m, seed 0: expected"):
        predictions(row)
