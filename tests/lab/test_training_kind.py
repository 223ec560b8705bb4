"""The kind "train": contents of a row, and what happens if a GPU runs out of memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Silent
from regard.training.fit import Parts
from regard_lab import fit_stacked
from regard_lab.kinds import train
from regard_lab.running.plan import Job, Queue, RunTimes
from regard_lab.running.workers import Event, run_inline
from regard_lab.tables.context import Context
from regard_lab.tables.corpora import Corpora, Prepared
from regard_lab.tables.table import Table


def test_a_result_has_scores_norms_and_history(toy: Table, corpora: Path) -> None:
    cell = next(toy.cells())
    options = {"text": "text", "label": "label", "pooling": "apln", "encoder": "cnn", "hidden": 4, "epochs": 2}
    changed = type(cell)(cell.kind, cell.method, cell.corpus, "", {**options, "patience": 0})
    (result,) = train.run(changed, [3], Context("cpu", Silent()))
    assert result["seed"] == 3
    assert {"accuracy", "macro_f", "norm"} <= set(result["values"])
    assert all(isinstance(value, (int, float)) for value in (*result["values"].values(), *result["dev"].values()))
    assert {len(path) for path in result["history"].values()} == {2}
    assert {"loss", "norms.words", "dev.accuracy"} <= set(result["history"])
    assert set(result["data"]) == {"films/train.jsonl", "films/dev.jsonl", "films/test.jsonl"}
    assert {"python", "torch", "cpu", "regard"} <= set(result["environment"])


def test_a_table_of_dev_scores_has_values_from_dev(toy: Table, corpora: Path) -> None:
    cell = next(toy.cells())
    corpus = type(cell.corpus)("films", "Films", {}, ("accuracy",), 1, train="films", dev="films/dev")
    (result,) = train.run(type(cell)("train", "plain", corpus, "", cell.options), [0], Context("cpu", Silent()))
    assert result["values"]["accuracy"] == result["dev"]["accuracy"]
    assert set(result["data"]) == {"films/train.jsonl", "films/dev.jsonl"}


def test_a_diverging_seed_is_a_failed_row(toy: Table, corpora: Path) -> None:
    cell = next(toy.cells())
    wild = type(cell)(cell.kind, cell.method, cell.corpus, "", {**cell.options, "engine": "torch", "lr": 1e30})
    results = list(train.run(wild, [0, 1], Context("cpu", Silent())))
    assert ["training diverged" in result["error"] for result in results] == [True, True]


FULL = (torch.OutOfMemoryError("full"), torch.AcceleratorError("CUDA error: out of memory"))


@pytest.fixture(params=FULL, ids=lambda error: type(error).__name__)
def gpu(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[tuple[int, ...]]:
    """A GPU with room for two seeds, where seed 1 diverges; what was tried there."""
    tried: list[tuple[int, ...]] = []

    def stacked(config: Config, parts: Parts, seeds: Sequence[int], *_: object) -> list[Any]:
        tried.append(tuple(seeds))
        if len(seeds) > 2 or 9 in seeds:
            raise request.param
        metrics = {
            "history": [{"loss": 1.0}],
            "best_epoch": 1,
            "epochs": 1,
            "environment": {},
            "dev": {"accuracy": 0.5},
        }
        return [InputError("training diverged") if seed == 1 else SimpleNamespace(metrics=metrics) for seed in seeds]

    monkeypatch.setattr(fit_stacked, "fit_stacked", stacked)
    return tried


def outcome(toy: Table, monkeypatch: pytest.MonkeyPatch, seeds: tuple[int, ...]) -> list[Event]:
    """The events of a job on that GPU, run in this process."""
    monkeypatch.setattr(Corpora, "prepare", lambda *_: Prepared(Parts([]), {}))
    queue = Queue([Job(next(toy.cells()), seeds)], RunTimes("cuda"), None)
    return list(run_inline(queue, toy.name, "cuda"))


def test_out_of_memory_halves_the_seeds_and_continues(
    toy: Table, monkeypatch: pytest.MonkeyPatch, gpu: list[tuple[int, ...]]
) -> None:
    events = outcome(toy, monkeypatch, (0, 1, 2, 3, 4))
    assert gpu == [(0, 1, 2, 3, 4), (0, 1, 2), (0, 1), (2,), (3, 4)]
    rows = [one.content for one in events if one.kind == "row"]
    assert [row["seed"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row.get("error") for row in rows] == [None, "training diverged", None, None, None]
    assert [row["stacked"] for row in rows] == [2, 2, 1, 2, 2]
    assert "out of memory with 5 seeds at once; continuing with 3" in [
        one.content for one in events if one.kind == "halved"
    ]


def test_one_seed_that_does_not_fit_is_kept_as_failed(
    toy: Table, monkeypatch: pytest.MonkeyPatch, gpu: list[tuple[int, ...]]
) -> None:
    events = outcome(toy, monkeypatch, (9, 10))
    assert gpu == [(9, 10), (9,), (10,)]
    first, second = [one.content for one in events if one.kind == "row"]
    assert (first["seed"], second["seed"]) == (9, 10)
    assert "out of GPU memory with a single seed" in first["error"]
    assert "values" in second
