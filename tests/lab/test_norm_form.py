"""The kind "norm_form": the recorded path of log p, and what its methods change."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from toys import write_texts, written_table

from regard.config import Config
from regard.corpora.lookup import available, resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError
from regard.models.build import build
from regard.models.tasks import Binary, Multiclass
from regard.recorder import Silent
from regard.training.torch_engine import Texts
from regard_lab.fit_stacked import side_by_side
from regard_lab.kinds.norm_form import check, draw_like_keras, loss_of, norm_values, thinned, unmasked
from regard_lab.reading.locations import find_table
from regard_lab.rows import Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import Cell, Table

TOML = """
kind = "norm_form"
measures = ["log_norm", "accuracy"]

[options]
text = "text"
label = "label"
embedding = 6
hidden = 4
query = 5
batch_size = 16
epochs = 3
patience = 0
clip = 0.0
lr = 0.01
updates = 8

[methods.printed]
encoder = "bilstm"
pooling = "apln"

[methods.neither]
encoder = "cnn"
pooling = "apln"
form = "neither"

[methods.attention]
encoder = "cnn"
pooling = "attention"

[methods.han]
encoder = "bilstm"
pooling = "apln"
levels = 2
form = "no_root"

[methods.replica]
encoder = "bilstm"
pooling = "apln"
start = "keras"
padded = 9

[methods.smoothed]
encoder = "bilstm"
pooling = "apln"
loss = "smoothed"

[methods.capped]
encoder = "bilstm"
pooling = "apln"
loss = "capped"

[corpora.films]
train = "films"
dev = "films/dev"
test = "films/test"
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    for split, count, start in (("train", 60, 0), ("dev", 20, 60), ("test", 20, 80)):
        write_texts(tmp_path / "data" / "films" / f"{split}.jsonl", count, start)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    return written_table(tmp_path / "norms.toml", TOML, "toy/norms")


def cell_of(table: Table, method: str) -> Cell:
    return next(cell for cell in table.cells() if cell.method == method)


def rows_of(table: Table, method: str, seeds: tuple[int, ...] = (0, 1)) -> list[Row]:
    cell = cell_of(table, method)
    check(cell)
    return list(table.implementation.run(cell, seeds, Context("cpu", Silent())))


def test_the_path_of_every_update_is_recorded(table: Table) -> None:
    rows = rows_of(table, "printed")
    assert [row["seed"] for row in rows] == [0, 1]
    for row in rows:
        assert row["cuts"] == list(range(1, 13))  # 3 epochs of 60 texts in batches of 16
        path = row["curves"]["log_norm.words"]
        assert row["values"]["log_norm"] == pytest.approx(path[7], abs=1e-4)
        assert row["values"]["log_norm_end"] == pytest.approx(path[-1], abs=1e-4)
        by_epoch = [math.log(norm) for norm in row["history"]["norms.words"] if norm is not None]
        assert [path[end - 1] for end in (4, 8, 12)] == pytest.approx(by_epoch, abs=1e-4)
        assert abs(path[0]) == pytest.approx(0.01, rel=0.01)  # Adam's first step is the learning rate
    assert rows[0]["curves"] != rows[1]["curves"]


def test_every_method_runs_and_keeps_predictions(table: Table) -> None:
    by_method = {method: rows_of(table, method, (0,))[0] for method in table.methods}
    assert not [method for method, row in by_method.items() if "error" in row]
    assert all(row["predictions"]["n"] == 20 for row in by_method.values())
    assert "log_norm" not in by_method["attention"]["values"]
    assert "cuts" not in by_method["attention"]
    assert {"log_norm", "log_norm_sentences"} <= set(by_method["han"]["values"])
    paths = {method: tuple(row["curves"]["log_norm.words"]) for method, row in by_method.items() if "curves" in row}
    assert len(set(paths.values())) == len(paths), "every option has an effect"


def test_a_run_with_fewer_updates_has_no_value_to_compare() -> None:
    path = {"words": np.array([0.1, 0.2, 0.3])}
    assert norm_values(path, 2) == {"log_norm": 0.2, "log_norm_end": 0.3}
    assert norm_values(path, 4) == {"log_norm_end": 0.3}


def test_a_long_path_is_thinned() -> None:
    path = {"words": np.arange(1, 4329) / 1e4}
    row = thinned(path, 616)
    assert len(row["cuts"]) < 105
    assert {1, 616, 4328} <= set(row["cuts"])
    assert row["curves"]["log_norm.words"] == pytest.approx([cut / 1e4 for cut in row["cuts"]], rel=1e-4)


def test_losses_against_probabilities() -> None:
    logits, labels = torch.tensor([[2.0, -1.0, 7.0], [0.5, 0.0, -3.0]]), torch.tensor([2.0, 1.0])
    task = Multiclass(("a", "b", "c"))
    log_p = functional.log_softmax(logits, 1)
    targets = 0.9 * torch.eye(3)[labels.long()] + 0.1 / 3
    assert loss_of(task, "smoothed")(logits, labels).item() == pytest.approx(-(targets * log_p).sum(1).mean().item())
    capped = functional.log_softmax(5 * torch.tanh(logits / 5), 1)
    expected = -(capped[0, 2] + capped[1, 1]).item() / 2
    assert loss_of(task, "capped")(logits, labels).item() == pytest.approx(expected)
    assert loss_of(task, "plain")(logits, labels).item() == pytest.approx(-(log_p[0, 2] + log_p[1, 1]).item() / 2)


def test_the_smoothed_loss_of_two_classes_is_that_of_one_logit_against_zero() -> None:
    logit, labels = torch.tensor([[1.3], [-0.4]]), torch.tensor([1.0, 0.0])
    two = functional.pad(logit, (1, 0))  # logits 0 and z
    expected = functional.cross_entropy(two, labels.long(), label_smoothing=0.1)
    assert loss_of(Binary(("0", "1")), "smoothed")(logit, labels).item() == pytest.approx(expected.item())


def test_padding_without_a_mask() -> None:
    from regard.data.tokenizer import Indexed

    texts = Texts([Indexed(np.array([5, 3], dtype=np.int32)), Indexed(np.arange(1, 8, dtype=np.int32))], np.zeros(2))
    batch = side_by_side(unmasked(texts, 4), np.array([[0, 1]]), 1)
    assert batch.ids[0].tolist() == [[5, 3, 0, 0], [1, 2, 3, 4]]
    assert batch.mask.all()


def test_weights_as_keras_draws_them() -> None:
    torch.manual_seed(0)
    options: dict[str, Any] = {"encoder": "bilstm", "pooling": "apln", "embedding": 50, "hidden": 120, "query": 200}
    model = build(Config().override(options).model, 30, 3)
    before = model.embedding.weight.clone()
    draw_like_keras(model)
    assert torch.equal(model.embedding.weight, before)
    lstm = next(module for module in model.modules() if isinstance(module, nn.LSTM))
    bound = math.sqrt(6 / (50 + 4 * 60))  # Glorot: fans of 50 and of four gates of 60
    assert lstm.weight_ih_l0.abs().max().item() == pytest.approx(bound, rel=0.01)
    torch.testing.assert_close(lstm.weight_hh_l0.T @ lstm.weight_hh_l0, torch.eye(60), atol=1e-5, rtol=0)
    bias = lstm.bias_ih_l0 + lstm.bias_hh_l0
    assert bias.view(4, 60).mean(1).tolist() == [0, 1, 0, 0]
    query = dict(model.named_parameters())["levels.0.pooling.scorer.query"]
    assert query.std().item() == pytest.approx(0.05, rel=0.15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"norm": "sample"}, "norm: expected 'scalar'"),
        ({"loss": "capped", "task": "regression"}, "expected a classification task"),
        ({"padded": 5, "levels": 2}, "levels = 1"),
        ({"updates": 0}, "updates: expected 1 or more"),
    ],
)
def test_options_that_cannot_be_combined_are_refused(table: Table, changes: dict[str, Any], message: str) -> None:
    cell = cell_of(table, "printed")
    with pytest.raises(InputError, match=message):
        check(Cell(cell.kind, cell.method, cell.corpus, "", {**cell.options, **changes}))


@pytest.mark.data
def test_the_fixed_number_of_updates_is_eight_epochs_of_the_smallest_corpus() -> None:
    table = find_table("apln/norm_form")
    trains = {cell.corpus.train for cell in table.cells()}
    if not {str(name) for name in trains} <= {dataset.name for dataset in available()}:
        pytest.skip("the corpora of the table are not below REGARD_DATA")
    smallest = min(len(read(resolve(str(name), "train"), ReadOptions("text", "label")).examples) for name in trains)
    assert {cell.options["updates"] for cell in table.cells()} == {8 * math.ceil(smallest / 64)}
