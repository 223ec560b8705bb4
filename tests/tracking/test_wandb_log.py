"""Runs in Weights & Biases, offline: the records in the file that `wandb sync` would send."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from killed_process import assert_no_texts, every_death, killed_and_resumed, train

BLOCK, HEAD = 32768, 7


def log_records(path: Path) -> Iterator[Any]:
    """The records of a .wandb file, which has the format of LevelDB's log: checksum, length, type; pieces of long ones."""
    from wandb.proto import wandb_internal_pb2

    data, position, pieces = path.read_bytes(), HEAD, b""
    while position + HEAD <= len(data):
        if BLOCK - position % BLOCK < HEAD:
            position += BLOCK - position % BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[position : position + HEAD])
        if kind == 0:
            return
        pieces += data[position + HEAD : position + HEAD + length]
        position += HEAD + length
        if kind in (1, 4):  # a whole record, or the last piece of one
            record = wandb_internal_pb2.Record()
            record.ParseFromString(pieces)
            pieces = b""
            yield record


def history(path: Path) -> list[dict[str, Any]]:
    rows = [record.history.item for record in log_records(path) if record.history.item]
    return [{item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in row} for row in rows]


@every_death
def test_a_resumed_run_keeps_its_id(tmp_path: Path, death: str) -> None:
    """Offline, the two parts meet only when they are synchronised, so the second one has all epochs."""
    pytest.importorskip("wandb")
    epochs = killed_and_resumed(tmp_path, "wandb:films", death)["history"]
    files = list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert len({path.name for path in files}) == 1
    rows = history(max(files, key=lambda path: path.stat().st_mtime_ns))
    assert [(row["_step"], row["loss"]) for row in rows] == [(record["epoch"], record["loss"]) for record in epochs]
    assert_no_texts(tmp_path / "wandb")


def test_settings_and_final_metrics(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    train(tmp_path, "--log", "wandb:films", "--out", "run")
    (path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    records = list(log_records(path))
    summary = {item.key: item.value_json for record in records for item in record.summary.update}
    settings = {item.key: item.value_json for record in records for item in record.config.update}
    assert float(summary["final/dev/accuracy"]) == 1
    assert settings["training.epochs"] == "4"
    assert settings["data.train"] == '"films.csv"'


class FakeRun:
    """A run of wandb that the server already has up to some step."""

    id, offline, url = "abc", False, "https://wandb.example/abc"

    def __init__(self, step: int):
        self.step = step
        self.logged: list[int] = []

    def log(self, values: dict[str, float], step: int, commit: bool) -> None:
        assert commit, "otherwise a killed run loses its last epoch"
        self.logged.append(step)


def test_epochs_that_the_server_has_are_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.tracking import wandb_log

    run, given = FakeRun(step=3), dict[str, Any]()

    def init(**options: Any) -> FakeRun:
        given.update(options)
        return run

    fake = SimpleNamespace(init=init, Settings=lambda **options: options)
    monkeypatch.setattr(wandb_log, "import_extra", lambda module, purpose: fake)
    log = wandb_log.open_wandb("films", "run", "abc")
    for epoch in (1, 2, 3, 4):
        log.add_epoch(epoch, {"loss": 0.5})
    assert run.logged == [3, 4]
    assert (given["id"], given["resume"], given["project"]) == ("abc", "allow", "films")
    assert given["settings"]["console"] == "off"
