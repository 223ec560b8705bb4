"""The kind "debate": the measurements of two papers on attention, one model per seed; tables and figures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from toys import Rows, first_rows, written_table

from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.kinds import debate, drawings
from regard_lab.reading.table_file import read_table
from regard_lab.tables.context import Context
from regard_lab.tables.table import Cell, Table

TABLES = sorted((Path(__file__).parents[2] / "experiments" / "attention_debate").glob("*.toml"))
TOML = """
title = "Toy"
kind = "debate"
seeds = 2
measures = ["accuracy", "tvd", "jsd", "guided", "tau_gradient"]
[options]
text = "text"
label = "label"
task = "binary"
encoder = "lstm"
hidden = 8
embedding = 8
query = 8
min_count = 1
epochs = 10
patience = 0
batch_size = 16
lr = 0.02
dropout = 0.0
engine = "torch"
[methods.diagnosed]
title = "Diagnosed"
[methods.attention]
title = "Attention"
shows = "seeds"
[methods.even]
title = "Even"
shows = "even"
[methods.texts]
title = "Text by text"
shows = "texts"
[methods.imitator]
title = "Imitator"
shows = "adversary"
factor = 0.0
[methods.adversary]
title = "Adversary"
shows = "adversary"
factor = 1.0
[methods.mlp]
title = "MLP"
shows = "mlp"
[corpora.toy]
title = "Toy"
train = "toy"
dev = "toy/dev"
test = "toy/test"
"""
GOOD, BAD = ("lovely", "warm"), ("dull", "grim")


def write(path: Path, count: int, start: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for n in range(start, start + count):
            tokens = ["a", "thing", f"of{n % 5}", "some", "kind"][: 3 + n % 3]
            tokens.insert(1 + n % 3, (GOOD if n % 2 else BAD)[n // 2 % 2])
            file.write(json.dumps({"text": " ".join(tokens), "label": n % 2}) + "\n")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return written_table(tmp_path_factory.mktemp("debate") / "toy.toml", TOML, "debate/toy")


@pytest.fixture(scope="module")
def rows(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    splits = {"train": (80, 0), "dev": (12, 80), "test": (30, 100)}
    return first_rows(table, tmp_path_factory.mktemp("data"), splits, write)


def test_all_rows_have_the_same_model(rows: Rows) -> None:
    assert not [row for row in rows.values() if "error" in row]
    assert rows["diagnosed"]["values"]["accuracy"] == rows["attention"]["values"]["accuracy"]
    assert rows["diagnosed"]["values"]["farthest"] == rows["texts"]["values"]["jsd"]
    assert all(row["data"] and row["environment"] for row in rows.values())


def test_attention_is_correlated_and_random_scores_are_not(rows: Rows) -> None:
    row, values = rows["diagnosed"], rows["diagnosed"]["values"]
    assert values["tau_gradient"] > abs(values["tau_random"])
    assert set(row["histograms"]) == {"held", "gradient", "leave_one_out", "random", "between"}
    assert all(sum(counts) <= 30 for counts in row["histograms"].values())
    assert sum(group["n"] for group in row["by_largest"]) == 30
    there = [k for k, group in zip(debate.GROUPS, row["by_largest"], strict=True) if group["n"]]
    assert [k for k in debate.GROUPS if f"permuted_{k}" in values] == there


def test_adversarial_weights_keep_the_answer(rows: Rows) -> None:
    values = rows["texts"]["values"]
    assert 0 <= values["tvd"] <= 0.01
    assert 0 < values["jsd"] <= math.log(2)
    assert "accuracy" not in values


def test_uniform_weights_are_compared_with_those_of_the_same_seed(rows: Rows) -> None:
    values = rows["even"]["values"]
    assert 0 < values["jsd"] < math.log(2)
    assert values["jsd"] != rows["attention"]["values"]["jsd"]
    assert values["accuracy"] > 0.5


def test_a_larger_factor_drives_weights_apart(rows: Rows) -> None:
    imitator, adversary = rows["imitator"]["values"], rows["adversary"]["values"]
    assert imitator["tvd"] < 0.2
    assert adversary["jsd"] > imitator["jsd"]


def test_every_row_with_weights_has_the_guided_accuracy(rows: Rows) -> None:
    guided = {name for name, row in rows.items() if "guided" in row["values"]}
    assert guided == {"attention", "even", "imitator", "adversary", "mlp"}
    assert set(rows["mlp"]["values"]) == {"guided", "guided_macro_f"}
    assert rows["mlp"]["values"]["guided"] > 0.8  # one word decides


def test_a_cell_is_reproducible(table: Table, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split, count, start in (("train", 80, 0), ("dev", 12, 80), ("test", 30, 100)):
        write(tmp_path / "toy" / f"{split}.jsonl", count, start)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    cell = cell_of(table, "adversary")
    (again,) = debate.run(cell, [0], Context("cpu", Silent()))
    assert again["values"] == rows["adversary"]["values"]


def test_figures_show_existing_rows(table: Table, rows: Rows) -> None:
    drawn = drawings.draw_debate(table, list(rows.values()))
    assert set(drawn) == {"tau", "permuted", "adversaries"}
    for svg in drawn.values():
        ElementTree.fromstring(svg)
    assert "trained adversaries" in drawn["adversaries"]
    assert "Text by text" in drawn["adversaries"]
    assert "attention, gradient" in drawn["tau"]
    assert drawings.draw_debate(table, []) == {}


def test_a_model_without_predictions_is_not_drawn(table: Table, rows: Rows) -> None:
    texts = rows["texts"]
    without = {**texts, "values": {**texts["values"], "tvd": None}}  # a file has null instead of NaN
    assert drawings.draw_debate(table, [without]) == {}
    assert "Text by text" not in drawings.draw_debate(table, [rows["even"], without])["adversaries"]


def cell_of(table: Table, method: str, **options: Any) -> Cell:
    from dataclasses import replace

    (cell,) = (cell for cell in table.cells() if cell.method == method)
    return replace(cell, options={**cell.options, **options})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"shows": "everything"},
            "shows: expected one of diagnosed, seeds, even, texts, adversary, mlp, got 'everything'",
        ),
        ({"pooling": "max"}, "pooling = 'max'"),
        ({"levels": 2}, "levels = 2"),
        ({"task": "regression"}, "task: expected 'binary' or 'multiclass', got 'regression'"),
        ({"shows": "adversary"}, "shows = 'adversary': `factor` is required"),
        ({"factor": 0.1}, "shows = 'diagnosed': `factor` is required for 'adversary' and allowed only there"),
        ({"shows": "adversary", "factor": -1.0}, "factor: expected 0 or more, got -1.0"),
    ],
)
def test_invalid_options_are_rejected(table: Table, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        debate.check(cell_of(table, "diagnosed", **options))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_cell_of_the_tables_is_accepted(path: Path) -> None:
    for cell in read_table(path, f"attention_debate/{path.stem}").cells():
        debate.check(cell)
