"""Tables on Ray when something is short: memory of a GPU, space on a disk of a worker or of the driver. Needs Ray.

Workers run a function of this file instead of a training, so that each test says what happens there.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import Regard
from regard.extras import is_installed
from regard.ray_cluster import ONE_CORE
from regard.ray_tasks import Send
from regard_lab import results
from regard_lab.running import ray_jobs
from regard_lab.running.plan import Job, Queue, RunTimes
from regard_lab.running.ray_jobs import RayJobs
from regard_lab.tables.table import Cell, Table

needs_ray = pytest.mark.skipif(not is_installed("ray"), reason="needs Ray")
Run = Callable[[Cell, Sequence[int], Any], Iterator[dict[str, Any]]]


@pytest.fixture(scope="module")
def local_ray() -> Iterator[Any]:
    """Ray on this machine, with two cores."""
    import ray
    import ray.cloudpickle

    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False, object_store_memory=10**8
    )
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not find this file
    yield ray
    ray.shutdown()


def scripted(run: Run) -> Any:
    """`rows_of_job`, in which every training is `run`."""

    def rows_of_job(job: Job, send: Send, table: str, device: str, data: str | None) -> str:
        from regard_lab.kinds.kinds import KINDS

        real = KINDS["train"]
        KINDS["train"] = replace(real, run=run)
        try:
            return ray_jobs.rows_of_job(job, send, table, device, data)  # a worker has the real one
        finally:
            KINDS["train"] = real

    return rows_of_job


def result(seed: int) -> dict[str, Any]:
    values = {"accuracy": 0.5, "macro_f": 0.5}
    facts = {"environment": {"python": "3", "cpu": "1 threads"}, "data": {}}
    return {"seed": seed, "values": values, "history": {"loss": [1.0, 0.5]}, "seconds": 0.1, **facts}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@needs_ray
@pytest.mark.parametrize(("fit", "halvings"), [(2, 1), (1, 3), (0, 3)])
def test_seeds_that_do_not_fit_into_memory_are_halved(
    toy: Table, local_ray: Any, monkeypatch: pytest.MonkeyPatch, fit: int, halvings: int
) -> None:
    def run(cell: Cell, seeds: Sequence[int], context: Any) -> Iterator[dict[str, Any]]:
        from regard_lab.kinds.train import TooManySeeds

        if len(seeds) > fit:
            raise TooManySeeds
        yield from map(result, seeds)

    monkeypatch.setattr(ray_jobs, "rows_of_job", scripted(run))
    queue = Queue([Job(next(toy.cells()), (0, 1, 2, 3))], RunTimes("cpu"), None)
    events = [event for event in RayJobs(local_ray, ONE_CORE).run(queue, toy.name, "cpu") if event is not None]
    notes = [event.content for event in events if event.kind == "halved"]
    assert len(notes) == halvings
    assert notes[0] == "out of memory with 4 seeds at once; continuing with 2"
    written = [event.content for event in events if event.kind == "row"]
    assert sorted(row["seed"] for row in written) == [0, 1, 2, 3]
    errors = {row.get("error", "") for row in written}
    single = (
        f"{socket.gethostname()}: out of GPU memory with a single seed; use a smaller batch_size, max_words or hidden"
    )
    assert errors == ({""} if fit else {single})
    assert sum(event.kind == "done" for event in events) == 1 + 2 * halvings


@needs_ray
def test_notes_arrive_while_a_job_runs(
    toy: Table, local_ray: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"

    def run(cell: Cell, seeds: Sequence[int], context: Any) -> Iterator[dict[str, Any]]:
        context.recorder.note("one text is empty")
        context.recorder.begin(2, 5, 0)
        for _ in range(600):
            if seen.exists():
                yield from map(result, seeds)
                return
            time.sleep(0.1)

    monkeypatch.setattr(ray_jobs, "rows_of_job", scripted(run))
    queue = Queue([Job(next(toy.cells()), (0,))], RunTimes("cpu"), None)
    events = []
    for event in RayJobs(local_ray, ONE_CORE).run(queue, toy.name, "cpu"):
        if event is not None:
            events.append((event.kind, event.content))
            if event.kind == "epoch":  # after the note: messages keep their order
                seen.touch()
    assert events[:3] == [("begun", None), ("note", "one text is empty"), ("epoch", "epoch 2/5")]
    assert [kind for kind, _ in events[3:]] == ["row", "done"]
    assert events[3][1]["values"] == result(0)["values"]


OPTIONS = ("reproduce", "toy/table", "--only", "films/plain", "--seeds", "3", "--on", "ray", "--out", "there")


@needs_ray
def test_a_full_disk_of_a_worker_is_a_row_with_the_machine(
    regard: Regard, experiments: Path, corpora: Path, tmp_path: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(cell: Cell, seeds: Sequence[int], context: Any) -> Iterator[dict[str, Any]]:
        if 1 in seeds:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/scratch/texts")
        yield from map(result, seeds)

    def emptied(cell: Cell, seeds: Sequence[int], context: Any) -> Iterator[dict[str, Any]]:
        yield from map(result, seeds)

    path = tmp_path / "there" / "table.jsonl"
    monkeypatch.setattr(ray_jobs, "rows_of_job", scripted(full))
    first = regard(*OPTIONS)
    assert first.code == 0, first.err
    assert "1 of 3 runs failed; --retry-failed runs them again" in first.err
    reasons = {row["seed"]: row.get("error") for row in rows(path)}
    machine = socket.gethostname()
    assert reasons == {0: None, 1: f"{machine}: OSError: [Errno 28] No space left on device: '/scratch/texts'", 2: None}
    monkeypatch.setattr(ray_jobs, "rows_of_job", scripted(emptied))
    again = regard(*OPTIONS, "--retry-failed")
    assert again.code == 0, again.err
    assert [(row["seed"], "error" in row) for row in rows(path)[3:]] == [(1, False)]


@needs_ray
def test_a_full_disk_of_the_driver_ends_the_command_and_repeats_nothing(
    regard: Regard, experiments: Path, corpora: Path, tmp_path: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(cell: Cell, seeds: Sequence[int], context: Any) -> Iterator[dict[str, Any]]:
        yield from map(result, seeds)

    monkeypatch.setattr(ray_jobs, "rows_of_job", scripted(run))
    path, write = tmp_path / "there" / "table.jsonl", results.write_fully

    def write_once(handle: int, line: bytes) -> None:
        if path.stat().st_size:
            os.write(handle, line[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(handle, line)

    with monkeypatch.context() as patch:
        patch.setattr(results, "write_fully", write_once)
        full = regard(*OPTIONS)
    assert full.code == 2
    assert full.error == (
        "there/table.jsonl: a result could not be written (No space left on device); earlier results are kept, and the same "
        "command continues with the rest"
    )
    kept = rows(path)
    assert len(kept) == 1
    assert regard(*OPTIONS).code == 0
    assert rows(path)[0] == kept[0]
    assert sorted(row["seed"] for row in rows(path)) == [0, 1, 2]
