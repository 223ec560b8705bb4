"""The kind "raw_labels": the same training on normalised and raw labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Silent
from regard.training.fit import fit
from regard_lab.kinds import raw_labels
from regard_lab.reading.table_file import read_table
from regard_lab.tables.context import Context
from regard_lab.tables.corpora import Corpora
from regard_lab.tables.table import Table

TOML = """
kind = "raw_labels"
measures = ["rmse"]
[options]
label = "rating"
task = "regression"
encoder = "cnn"
embedding = 4
hidden = 4
query = 4
epochs = 2
[methods.one]
[corpora.rated]
train = "rated"
dev = "rated/dev"
test = "rated/test"
[settings.normalised]
normalised = true
[settings.raw]
normalised = false
"""


@pytest.fixture
def rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    for split, count in (("train", 40), ("dev", 10), ("test", 10)):
        path = tmp_path / "data" / "rated" / f"{split}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"text": f"{'good' if n % 2 else 'bad'} number {n % 5}", "rating": 100 + n % 2} for n in range(count)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    (tmp_path / "table.toml").write_text(TOML, encoding="utf-8")
    return read_table(tmp_path / "table.toml", "paper/table")


def test_normalised_labels_give_what_training_gives(rated: Table) -> None:
    cell = next(rated.cells())
    (row,) = raw_labels.run(cell, [3], Context("cpu", Silent()))
    options = {key: value for key, value in cell.options.items() if key != "normalised"}
    plain = fit(
        Config().override({**options, "seed": 3, "device": "cpu"}), Corpora().prepare(cell.corpus, cell.options).parts
    ).metrics["test"]
    assert row["values"]["rmse"] == plain["rmse"]
    assert "rmse_of_mean" not in row["values"]


def test_raw_labels_far_from_zero_are_hard_to_learn(rated: Table) -> None:
    """Ratings of 100 and 101: two epochs from 0 stay far away, from the mean they are at most about 0.5 off."""
    good, raw = ((*raw_labels.run(cell, [0], Context("cpu", Silent())),)[0]["values"]["rmse"] for cell in rated.cells())
    assert good < 1
    assert raw > 50


def test_raw_labels_need_regression(rated: Table) -> None:
    cell = next(rated.cells())
    cell.options["task"] = "multiclass"
    with pytest.raises(InputError, match="task: expected 'regression', got 'multiclass'"):
        raw_labels.check(cell)
