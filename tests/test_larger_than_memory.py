"""PyTorch models whose texts are on disk: the weights and metrics of a run in memory, bit for bit."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from command import Regard
from killed import Kill, Killed, assert_same_run, weights
from regard.config import Config
from regard.data import spilling_array
from regard.data.reviews import reviews
from regard.data.spilling_array import SpillingArray
from regard.data.stored_texts import StoredTexts
from regard.encoders import ENCODERS
from regard.poolings import POOLINGS
from regard.recorder import Silent
from regard.runs import train_run
from regard.training import torch_engine
from tiny_bert import save_bert

pytest.importorskip("torch")

SMALL = {"hidden": 8, "embedding": 8, "query": 8, "epochs": 2, "batch_size": 8, "device": "cpu", "engine": "torch"}
ROUNDS = {"bottleneck": {"rounds": 1, "phase_epochs": 1}}
MODELS: dict[str, dict[str, object]] = {
    **{name: {"encoder": name} for name in ENCODERS if name != "bert"},
    **{name: {"encoder": "affine", "pooling": name, **ROUNDS.get(name, {})} for name in POOLINGS if name != "summary"},
    "HAN": {"encoder": "bilstm", "pooling": "apln", "levels": 2},
    "three levels": {"encoder": "cnn", "pooling": "attention", "levels": 3},
    "a regression": {"encoder": "bilstm", "task": "regression"},
    "class weights": {"encoder": "cnn", "class_weight": "balanced"},
    "no dev": {"encoder": "cnn", "dev_fraction": 0.0},
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "reviews.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((example.text, example.label) for example in reviews(90))
    return path


def start(table: Path, out: Path, recorder: Silent | None = None, resume: bool = False, **options: object) -> None:
    config = Config().override({**SMALL, "train": str(table), "test": str(table), **options})
    train_run(config, out, resume, False, recorder or Silent())


def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling_array, "IN_MEMORY", 0)


@pytest.mark.parametrize("name", MODELS)
def test_a_run_from_disk_is_that_in_memory(
    name: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(table, tmp_path / "memory", **MODELS[name])
    on_disk(monkeypatch)
    start(table, tmp_path / "disk", **MODELS[name])
    assert_same_run(tmp_path / "disk", tmp_path / "memory")


@pytest.mark.parametrize("pooling", ["attention", "summary"])
def test_a_pretrained_encoder_too(pooling: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")
    folder = save_bert(tmp_path / "bert")
    widths = {"embedding": None, "hidden": None}
    options = {"encoder": "bert", "pooling": pooling, "pretrained": str(folder), "epochs": 1, **widths}
    start(table, tmp_path / "memory", **options)
    on_disk(monkeypatch)
    start(table, tmp_path / "disk", **options)
    assert_same_run(tmp_path / "disk", tmp_path / "memory")


def test_a_run_that_began_in_memory_resumes_from_disk(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"encoder": "bilstm", "levels": 2, "epochs": 4}
    start(table, tmp_path / "whole", **options)
    with pytest.raises(Killed):
        start(table, tmp_path / "run", Kill(step=3), **options)
    on_disk(monkeypatch)
    start(table, tmp_path / "run", resume=True, **options)
    assert_same_run(tmp_path / "run", tmp_path / "whole")


def test_continued_training_reads_from_disk(
    regard: Regard, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(table, tmp_path / "first", encoder="cnn")
    words = ("train", str(table), "--from", str(tmp_path / "first"), "--replay", str(table), "--out")
    assert regard(*words, str(tmp_path / "memory")).code == 0
    on_disk(monkeypatch)
    assert regard(*words, str(tmp_path / "disk")).code == 0
    assert weights(tmp_path / "disk") == weights(tmp_path / "memory")


def test_training_and_scoring_hold_no_text_in_memory(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches are read as they are needed: no more texts than in a batch at a time."""
    on_disk(monkeypatch)
    read: list[int] = []
    original = SpillingArray.read

    def counting(self: SpillingArray, begin: int, end: int) -> object:
        assert self.is_on_disk
        read.append(end - begin)
        return original(self, begin, end)

    monkeypatch.setattr(SpillingArray, "read", counting)
    seen: list[type] = []
    evaluate = torch_engine.evaluate
    monkeypatch.setattr(
        torch_engine,
        "evaluate",
        lambda *given, **named: seen.append(type(given[2].indexed)) or evaluate(*given, **named),
    )
    start(table, tmp_path / "run", encoder="cnn")
    assert max(read) < table.stat().st_size / 10
    assert set(seen) == {StoredTexts}
