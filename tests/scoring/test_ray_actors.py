"""Scoring by Ray actors: the rows of a plain run, each once, also if actors are lost. Needs Ray."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from parquet_case import read_folder, write_parts

from command import Regard
from regard.cli import main
from regard.errors import InputError
from regard.extras import is_installed
from regard.ray_cluster import Needs
from regard.scoring import partitions, ray_actors
from regard.scoring.job import Job
from regard.scoring.locations import SourceFile
from regard.scoring.parquet_files import Columns
from regard.scoring.partitions import Partition
from regard.scoring.ray_actors import RayActors

pytest.importorskip("pyarrow.parquet")
needs_ray = pytest.mark.skipif(not is_installed("ray"), reason="needs Ray")


@pytest.fixture(scope="module")
def model(table: Path) -> Path:
    folder = table.parent / "flat_on_ray"
    assert main(["train", str(table), "--epochs", "2", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(partitions, "ROWS", 32)
    return write_parts(tmp_path / "in", files=4)


@pytest.mark.skipif(is_installed("ray"), reason="needs an environment without Ray")
def test_ray_says_how_to_install_it(regard: Regard, model: Path, source: Path, tmp_path: Path) -> None:
    result = regard("predict", model, source, "--on", "ray", "--out", tmp_path / "out")
    assert result.code == 2
    assert result.error == "--on ray needs Ray, which is not installed: pip install 'regard[ray]'"


@needs_ray
def test_actors_write_what_one_process_writes(
    regard: Regard, model: Path, source: Path, tmp_path: Path, cluster: Any
) -> None:
    options = ("--explain", "2", "--novelty")
    command = ("predict", model, source, "--on", "ray", "--actors", "1:3", "--out", tmp_path / "there", *options)
    result = regard(*command)
    assert result.code == 0, result.err
    assert "160 rows of 8 partitions were predicted" in result.err
    assert regard("predict", model, source / "*.parquet", "--out", tmp_path / "here", *options).code == 0
    assert read_folder(tmp_path / "there") == read_folder(tmp_path / "here")
    assert "8 of 8 partitions are finished already" in regard(*command).err


@needs_ray
def test_a_killed_actor_loses_and_repeats_nothing(
    regard: Regard, model: Path, source: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    use_actor(monkeypatch, partial(run_slowly, marks))
    killer = threading.Thread(target=kill_first, args=(marks,))
    killer.start()
    result = regard("predict", model, source, "--on", "ray", "--actors", "2", "--out", tmp_path / "out")
    killer.join()
    assert result.code == 0, result.err
    assert (marks / "killed").exists()
    assert [row["id"] for row in read_folder(tmp_path / "out")] == list(range(160))


def use_actor(monkeypatch: pytest.MonkeyPatch, run: Callable[[Any, Partition], Any]) -> None:
    """Actors that do something else than scoring a partition."""
    import ray.cloudpickle

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not find this file

    class OtherActor(ray_actors.PartitionActor):
        def run(self, partition: Partition) -> Any:
            return run(super().run, partition)

    monkeypatch.setattr(ray_actors, "PartitionActor", OtherActor)


def run_slowly(marks: Path, score: Any, partition: Partition) -> Any:
    (marks / str(os.getpid())).touch()
    time.sleep(0.3)
    answer = score(partition)
    time.sleep(0.3)
    return answer


def kill_first(marks: Path) -> None:
    """The first actor that works, by its process id."""
    for _ in range(600):
        for path in marks.iterdir():
            os.kill(int(path.name), signal.SIGKILL)
            (marks / "killed").touch()
            return
        time.sleep(0.1)


@needs_ray
def test_a_partition_that_is_always_lost_is_reported(
    regard: Regard, model: Path, source: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_actor(monkeypatch, die_on_one)
    monkeypatch.setattr(ray_actors, "STARTS", 1)
    result = regard("predict", model, source, "--on", "ray", "--actors", "2", "--out", tmp_path / "out")
    assert result.code == 2
    assert "1 of 8 partitions could not be scored, the others were; the first: " in result.error
    assert "part-2.parquet: lost on the cluster (" in result.error
    assert len(read_folder(tmp_path / "out")) == 160 - 32


def die_on_one(score: Any, partition: Partition) -> Any:
    if partition.target == "part-2-00000-of-00002.parquet":
        os._exit(1)
    return score(partition)


@needs_ray
def test_a_disk_that_is_full_everywhere_ends_the_command(
    regard: Regard, model: Path, source: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_actor(monkeypatch, without_space)
    monkeypatch.setattr(ray_actors, "STARTS", 1)
    result = regard("predict", model, source, "--on", "ray", "--actors", "2", "--out", tmp_path / "out")
    assert result.code == 2
    assert "(the disk is full; free some space, and the same command continues)" in result.error


class Full:
    """A file system without space."""

    def open_output_stream(self, path: str) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    def delete_file(self, path: str) -> None: ...


def without_space(score: Any, partition: Partition) -> Any:
    scorer = score.__self__.score
    scorer.target = scorer.target._replace(files=Full())
    return score(partition)


@needs_ray
def test_another_version_on_the_cluster_is_refused(
    regard: Regard, model: Path, source: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_actors, "__version__", "9.9")
    result = regard("predict", model, source, "--on", "ray", "--out", tmp_path / "out")
    assert result.code == 2
    assert "expected regard 9.9, as on the machine that started the command, got " in result.error


@needs_ray
def test_a_gpu_that_no_machine_has_is_refused(
    regard: Regard, model: Path, source: Path, tmp_path: Path, cluster: Any
) -> None:
    result = regard("predict", model, source, "--on", "ray", "--device", "cuda", "--out", tmp_path / "out")
    assert result.code == 2
    assert "expected a cluster with room for a task of 1 CPUs and 1 GPUs, got 4 CPUs, 0 GPUs in all" in result.error


@needs_ray
def test_a_worker_without_regard_is_explained(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package were missing there: the actor cannot be created."""
    import ray

    use_actor(monkeypatch, die_on_one)
    monkeypatch.setattr(ray_actors.PartitionActor, "__init__", cannot_import)
    monkeypatch.setattr(ray_actors, "STARTS", 1)
    job = Job("/a", "/b", Columns("text", ("text",)), None)  # type: ignore[arg-type]
    actors = RayActors(ray, Needs(), (1, 1), print, job, {}, "cpu")
    partition = Partition(SourceFile("/a", "a", 1, 1), (0, 1), 1, 1, "a")
    with pytest.raises(
        InputError,
        match=r"no actor could be started \(.*No module named 'regard'\); .* must be installed on every machine",
    ):
        list(actors([partition]))


def cannot_import(self: Any) -> None:
    raise ModuleNotFoundError("No module named 'regard'")
