"""`regard tune --on ray`: every trial once, the journal of a plain search, and trials that are stopped or lost."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Regard, write_csv
from regard import ray_tasks
from regard.data.reviews import reviews
from regard.extras import is_installed
from regard.ray_tasks import Send, why_lost
from regard.tuning import ray_trials

needs_both = pytest.mark.skipif(not (is_installed("ray") and is_installed("optuna")), reason="needs Ray and Optuna")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "stars.csv", [(example.text, example.label) for example in reviews(100)])


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


def states(folder: Path) -> Counter[str]:
    """What became of the trials, from the journal: COMPLETE, PRUNED or FAIL."""
    import optuna

    backend = optuna.storages.journal.JournalFileBackend(str(folder / "trials.jsonl"))
    study = optuna.load_study(study_name="regard", storage=optuna.storages.JournalStorage(backend))
    return Counter(trial.state.name for trial in study.get_trials())


@needs_both
def test_every_trial_is_run_once_and_the_search_continues(regard: Regard, file: Path, local_ray: Any) -> None:
    out = file.parent / "search"
    first = regard("tune", file, "--trials", 4, "--on", "ray", "--out", out)
    assert first.code == 0, first.err
    assert "trial 4 of 4" in first.err
    assert first.out.startswith("regard train")
    again = regard("tune", file, "--trials", 6, "--on", "ray", "--out", out)
    assert "continuing after 4 trials" in again.err
    assert again.err.count("· trial ") == 2
    assert states(out).total() == 6
    plain = regard("tune", file, "--trials", 7, "--out", out)  # without Ray, it is the same search
    assert "continuing after 6 trials" in plain.err
    for line in (out / "trials.jsonl").read_text().splitlines():
        assert isinstance(json.loads(line), dict)


@needs_both
def test_trials_are_stopped_fail_and_are_lost(
    regard: Regard, file: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = file.parent / "marks"
    marks.mkdir()
    monkeypatch.setattr(ray_trials, "score_trial", scripted(marks))
    monkeypatch.setattr(ray_tasks, "STARTS", 0)
    result = regard("tune", file, "--trials", 9, "--on", "ray", "--out", file.parent / "search")
    assert result.code == 0, result.err
    assert "failed: epoch 1: the loss is not finite" in result.err
    assert "failed: lost on the cluster (its process was lost)" in result.err
    assert "stopped early (" in result.err
    assert states(file.parent / "search") == {"COMPLETE": 6, "FAIL": 2, "PRUNED": 1}


def scripted(marks: Path) -> Any:
    def score_trial(options: dict[str, Any], send: Send, splits: Any, device: str) -> tuple[float | None, str]:
        import os
        import time

        number = next(number for number in range(100) if marked(marks / str(number)))
        if number == 2:
            return None, "epoch 1: the loss is not finite"
        if number == 3:
            os._exit(1)
        send("report", (0.1 if number == 8 else 0.9, 1))
        if number == 8:
            send("report", (0.1, 2))  # is on its way when the first report stops the trial
            time.sleep(60)
        return 0.9, ""

    def marked(path: Path) -> bool:
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    return score_trial


@needs_both
def test_a_full_disk_of_a_worker_ends_the_search(
    regard: Regard, file: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score_trial(options: dict[str, Any], send: Send, splits: Any, device: str) -> tuple[float | None, str]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/scratch/texts")

    with monkeypatch.context() as patch:
        patch.setattr(ray_trials, "score_trial", score_trial)
        full = regard("tune", file, "--trials", 2, "--on", "ray", "--out", file.parent / "search")
    assert full.code == 2
    assert full.error == (
        f"--on ray: {socket.gethostname()}: [Errno 28] No space left on device: '/scratch/texts'; free some space, and the same "
        "command continues"
    )
    again = regard("tune", file, "--trials", 2, "--on", "ray", "--out", file.parent / "search")
    assert again.code == 0, again.err
    assert states(file.parent / "search")["COMPLETE"] == 2


@needs_both
def test_an_unexpected_error_of_a_worker_fails_its_trial(
    regard: Regard, file: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score_trial(options: dict[str, Any], send: Send, splits: Any, device: str) -> tuple[float | None, str]:
        raise ZeroDivisionError("float division\nby zero")

    monkeypatch.setattr(ray_trials, "score_trial", score_trial)
    result = regard("tune", file, "--trials", 2, "--on", "ray", "--out", file.parent / "search")
    assert "failed: failed on the cluster (ZeroDivisionError: float division by zero)" in result.err


@needs_both
def test_another_version_ends_the_search(
    regard: Regard, file: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_tasks, "__version__", "9.9")
    result = regard("tune", file, "--trials", 2, "--on", "ray", "--out", file.parent / "search")
    assert result.code == 2
    assert "expected regard 9.9, as on the machine that started the command" in result.error


@needs_both
def test_a_gpu_that_no_machine_has_is_refused(regard: Regard, file: Path, local_ray: Any) -> None:
    for options in (("--device", "cuda", "--engine", "torch"), ("--gpus-per-job", 1)):
        result = regard("tune", file, *options, "--on", "ray", "--out", file.parent / "search")
        assert result.code == 2
        assert "room for a task of 1 CPUs and 1 GPUs, got 2 CPUs, 0 GPUs in all" in result.error
    assert not (file.parent / "search").exists()


@needs_both
def test_why_a_task_was_lost_is_said_in_words() -> None:
    import ray

    assert why_lost(ray, ray.exceptions.OutOfDiskError()) == "lost on the cluster (a disk of the cluster is full)"
    assert "its process was lost" in why_lost(ray, ray.exceptions.WorkerCrashedError())
    assert "--memory-per-job" in why_lost(ray, ray.exceptions.OutOfMemoryError("x"))
    assert why_lost(ray, ray.exceptions.TaskCancelledError()) == "lost on the cluster (TaskCancelledError)"


def test_numbers_per_job_are_checked(regard: Regard, file: Path) -> None:
    for option in ("--cpus-per-job", "--gpus-per-job", "--memory-per-job"):
        result = regard("tune", file, option, "-1", "--on", "ray", "--out", file.parent / "search")
        assert f"{option}: expected a number of at least 0, got -1" in result.error
