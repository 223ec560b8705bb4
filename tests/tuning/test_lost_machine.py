"""`regard tune --on ray` on a cluster that loses a machine: its trial begins again, and every trial counts once. Needs Ray."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Regard, write_csv
from regard.data.reviews import reviews
from regard.extras import is_installed
from regard.ray_tasks import Send
from regard.tuning import ray_trials

needs_both = pytest.mark.skipif(not (is_installed("ray") and is_installed("optuna")), reason="needs Ray and Optuna")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two machines of one core, of which the second can be removed."""
    import ray
    import ray.cloudpickle
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 10**8}
    made = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    made.second = made.add_node(**size)
    ray.init(address=made.address, log_to_driver=False, configure_logging=False)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not find this file
    yield made
    ray.shutdown()
    made.shutdown()


def slowly(marks: Path) -> Any:
    """Trials that take two seconds, report before and after them, and leave a mark for each of their beginnings."""

    def score_trial(options: dict[str, Any], send: Send, splits: Any, device: str) -> tuple[float | None, str]:
        import ray

        here = ray.get_runtime_context().get_node_id()
        (marks / f"{here} {time.monotonic_ns()}").touch()
        send("report", (0.5, 1))
        time.sleep(2)
        send("report", (0.6, 2))
        return 0.6, ""

    return score_trial


def lose(cluster: Any, marks: Path) -> None:
    """The second machine, while a trial runs there."""
    for _ in range(600):
        if any(mark.name.startswith(cluster.second.node_id) for mark in marks.iterdir()):
            time.sleep(0.5)  # so that its first report has arrived
            break
        time.sleep(0.1)
    cluster.remove_node(cluster.second, allow_graceful=False)


@needs_both
@pytest.mark.slow
def test_a_lost_machine_loses_and_repeats_no_trial(
    regard: Regard, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import optuna

    file = write_csv(tmp_path / "stars.csv", [(example.text, example.label) for example in reviews(100)])
    marks, out = tmp_path / "marks", tmp_path / "search"
    marks.mkdir()
    monkeypatch.setattr(ray_trials, "score_trial", slowly(marks))
    loss = threading.Thread(target=lose, args=(cluster, marks))
    loss.start()
    result = regard("tune", file, "--trials", 6, "--on", "ray", "--out", out)
    loss.join()
    assert result.code == 0, result.err
    assert "lost on the cluster" not in result.err
    assert "trial 6 of 6" in result.err
    assert len(list(marks.iterdir())) > 6, "a trial was running on the machine, and began again"
    backend = optuna.storages.journal.JournalFileBackend(str(out / "trials.jsonl"))
    study = optuna.load_study(study_name="regard", storage=optuna.storages.JournalStorage(backend))
    trials = study.get_trials()
    assert [trial.state.name for trial in trials] == ["COMPLETE"] * 6
    assert {trial.value for trial in trials} == {0.6}
    assert [trial.intermediate_values for trial in trials] == [{1: 0.5, 2: 0.6}] * 6
