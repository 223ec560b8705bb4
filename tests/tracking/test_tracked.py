"""What is logged, where it continues, and that a failing log never stops training; with a log in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from command import TINY, Regard
from killed import Kill, Killed, assert_same_run
from regard import InputError, TextClassifier
from regard.config import Config
from regard.recorder import Silent
from regard.runs import train_run
from regard.tracking import addresses, tracked
from regard.tracking.addresses import Address, Tracker, parse_addresses
from regard.tracking.log import Setting, epoch_values, final_values, settings_of
from regard.training import fit_sparse


class MemoryLog:
    """Keeps what it gets; `fails` names the method that raises an error."""

    def __init__(self, log_id: str, fails: str):
        self.id, self.place, self.fails = log_id, "memory", fails
        self.epochs: list[int] = []
        self.values: dict[str, float] = {}
        self.settings: dict[str, Setting] = {}
        self.closed: list[bool] = []

    def check(self, method: str) -> None:
        if method == self.fails:
            raise ConnectionError("the server\nis gone")

    def add_epoch(self, epoch: int, values: Mapping[str, float]) -> None:
        self.check("add_epoch")
        self.epochs.append(epoch)
        self.values.update(values)

    def add_result(self, epoch: int, settings: Mapping[str, Setting], metrics: Mapping[str, float]) -> None:
        self.check("add_result")
        self.settings.update(settings)
        self.values.update(metrics)

    def close(self, finished: bool) -> None:
        self.check("close")
        self.closed.append(finished)


class Memory:
    """A tracking tool in memory."""

    def __init__(self, fails: str = ""):
        self.fails = fails
        self.logs: dict[str, MemoryLog] = {}
        self.names: list[str] = []

    def open(self, name: str, run_name: str, log_id: str | None) -> MemoryLog:
        if self.fails == "open":
            raise ConnectionError("refused")
        self.names.append(run_name)
        new = f"id-{len(self.logs)}"
        return self.logs.setdefault(log_id or new, MemoryLog(log_id or new, self.fails))

    @property
    def address(self) -> Address:
        return Address("memory:films", Tracker("NAME", lambda name: None, self.open), "films")


class Listener(Kill):
    def __init__(self, begin: int = 0):
        super().__init__(begin)
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def config_of(table: Path) -> Config:
    return Config().override({"epochs": 4, "patience": 0, "train": str(table)})


def test_logs_do_not_change_the_run(table: Path, tmp_path: Path) -> None:
    memory = Memory()
    train_run(config_of(table), tmp_path / "plain", False, False, Silent())
    train_run(config_of(table), tmp_path / "logged", False, False, Silent(), [memory.address])
    assert_same_run(tmp_path / "logged", tmp_path / "plain")
    configs = [(tmp_path / name / "config.toml").read_text() for name in ("plain", "logged")]
    assert configs[0] == configs[1]
    (log,) = memory.logs.values()
    assert (log.epochs, log.closed, memory.names) == ([1, 2, 3, 4], [True], ["logged"])
    assert {"loss", "seconds", "dev/accuracy", "scores/words/std", "final/dev/accuracy", "final/best_epoch"} <= set(
        log.values
    )
    assert log.settings["training.epochs"] == 4
    assert log.settings["training.engine"] == "sparse"


def test_a_resumed_run_continues_its_log(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    memory, out = Memory(), tmp_path / "run"
    with pytest.raises(Killed):
        train_run(config_of(table), out, False, False, Kill(begin=3), [memory.address])
    assert sorted(os.listdir(out)) == ["checkpoint.safetensors", "tracking.json"]
    (log,) = memory.logs.values()
    assert (log.epochs, log.closed) == ([1, 2], [False])
    train_run(config_of(table), out, True, False, Silent(), [memory.address])
    assert list(memory.logs) == ["id-0"]
    assert (log.epochs, log.closed) == ([1, 2, 1, 2, 3, 4], [False, True]), "a log gets its history again"
    train_run(config_of(table), out, True, False, Silent(), [memory.address])
    assert list(memory.logs) == ["id-0"], "a finished run is only loaded"
    train_run(config_of(table), out, False, True, Silent(), [memory.address])
    assert list(memory.logs) == ["id-0", "id-1"], "a new run has a new log"


def test_resuming_with_other_options_leaves_logs_alone(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    memory, out = Memory(), tmp_path / "run"
    with pytest.raises(Killed):
        train_run(config_of(table), out, False, False, Kill(begin=3), [memory.address])
    with pytest.raises(InputError, match="started with other options or texts"):
        train_run(config_of(table).override({"seed": 7}), out, True, False, Silent(), [memory.address])
    assert memory.names == ["run"]


def test_a_folder_with_nothing_but_ids_is_free(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `kill -9` before the first checkpoint."""
    memory, out = Memory(), tmp_path / "run"
    out.mkdir()
    (out / "tracking.json").write_text('{"memory:films": "id-of-the-killed"}')
    train_run(config_of(table), out, False, False, Silent(), [memory.address])
    assert list(memory.logs) == ["id-0"]
    again = tmp_path / "again"
    again.mkdir()
    (again / "tracking.json").write_text('{"memory:films": "id-of-the-killed"}')
    train_run(config_of(table), again, True, False, Silent(), [memory.address])
    assert list(memory.logs) == ["id-0", "id-of-the-killed"]


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00", "[" * 100_000])
def test_damaged_ids_are_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "tracking.json").write_text(content)
    assert tracked.read_ids(tmp_path / "tracking.json") == {}


@pytest.mark.parametrize(
    ("fails", "lost"),
    [
        ("add_epoch", "epoch 1 and later ones are not logged"),
        ("add_result", "the settings and the final metrics are not logged"),
        ("close", "the log may be incomplete"),
    ],
)
def test_a_log_that_fails_is_reported_once_and_training_goes_on(
    table: Path, tmp_path: Path, fails: str, lost: str
) -> None:
    broken, sound, listener = Memory(fails), Memory(), Listener()
    logs = [broken.address, sound.address._replace(text="memory:sound")]
    train_run(config_of(table), tmp_path / "run", False, False, listener, logs)
    warnings = [note for note in listener.notes if "failed" in note]
    expected = f"log 'memory:films' failed (ConnectionError: the server is gone); {lost}, training is not affected"
    assert warnings == [expected]
    (log,) = sound.logs.values()
    assert (log.epochs, log.closed) == ([1, 2, 3, 4], [True])
    assert (tmp_path / "run" / "weights.safetensors").is_file()


def test_a_log_that_cannot_be_opened_stops_before_training(table: Path, tmp_path: Path) -> None:
    sound = Memory()
    logs = [sound.address, Memory("open").address._replace(text="memory:broken")]
    with pytest.raises(InputError, match=r"^log 'memory:broken': cannot be opened \(ConnectionError: refused\); "):
        train_run(config_of(table), tmp_path / "run", False, False, Silent(), logs)
    assert os.listdir(tmp_path) == []
    (log,) = sound.logs.values()
    assert (log.epochs, log.closed) == ([], [False])


def test_values_are_finite_numbers_without_labels() -> None:
    record: Any = {"epoch": 3, "phase": "learner", "loss": 0.5, "dev": {"accuracy": 1.0, "log_loss": float("nan")}}
    record["norms"] = {"words": {"mean": 2.0}}
    assert epoch_values(record) == {"loss": 0.5, "dev/accuracy": 1.0, "norms/words/mean": 2.0}
    scores: Any = {"n": 2, "accuracy": 0.5, "accuracy_interval": [0.1, 0.9]}
    scores |= {"per_class": {"secret": {"f": 1.0}}, "confusion": {"labels": ["secret"], "counts": [[1]]}}
    metrics: Any = {"task": "binary", "epochs": 4, "history": [record], "test": scores, "environment": {"numpy": "2"}}
    assert final_values(metrics) == {"final/epochs": 4.0, "final/test/n": 2.0, "final/test/accuracy": 0.5}
    settings = settings_of(Config().override({"windows": (2, 3)}), metrics)
    assert settings["model.windows"] == "2 3"
    assert settings["environment.numpy"] == "2"
    assert "model.scale" not in settings, "options without a value are left out"


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("tensorbord:logs", "got 'tensorbord'; did you mean tensorboard?"),
        ("WandB:films", "got 'WandB'; did you mean wandb?"),
        ("comet:films", "expected tensorboard:DIR, wandb:PROJECT or mlflow:EXPERIMENT, got 'comet'"),
        ("tensorboard", "log 'tensorboard': expected tensorboard:DIR, got no DIR after the colon"),
        ("mlflow: ", "log 'mlflow: ': expected mlflow:EXPERIMENT, got no EXPERIMENT after the colon"),
        ("", "got ''"),
    ],
)
def test_a_wrong_address_is_one_sentence(
    regard: Regard, table: Path, tmp_path: Path, address: str, sentence: str
) -> None:
    result = regard("train", table, *TINY, "--out", tmp_path / "run", "--log", address)
    assert result.code == 2
    assert result.error.endswith(sentence)
    assert os.listdir(tmp_path) == []


def test_an_address_given_twice_is_one_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(addresses.TRACKERS, "memory", Memory().address.tracker)
    assert [address.text for address in parse_addresses(["memory:a", "memory:b", "memory:a"])] == [
        "memory:a",
        "memory:b",
    ]


def test_estimators_log_every_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    monkeypatch.setitem(addresses.TRACKERS, "memory", memory.address.tracker)
    model = TextClassifier(epochs=2, patience=0, log=["memory:films"])
    for _ in range(2):
        model.fit(["a good film", "a bad film"] * 20, [1, 0] * 20)
    assert [log.epochs for log in memory.logs.values()] == [[1, 2], [1, 2]]
    memory.fails = "add_epoch"
    with pytest.warns(UserWarning, match="failed .ConnectionError: the server is gone"):
        model.set_params(log="memory:films").fit(["a good film", "a bad film"] * 20, [1, 0] * 20)
