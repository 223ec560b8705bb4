"""Tables on a Ray cluster: the rows of a plain run, each once, also if a machine is lost. Needs Ray."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Regard
from regard.extras import is_installed

needs_ray = pytest.mark.skipif(not is_installed("ray"), reason="needs Ray")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two machines of one core, of which the second can be removed."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
    )
    made.second = made.add_node(num_cpus=1, object_store_memory=10**8)
    ray.init(address=made.address, log_to_driver=False, configure_logging=False)
    yield made
    ray.shutdown()
    made.shutdown()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@needs_ray
@pytest.mark.slow
def test_no_row_is_lost_or_repeated_if_a_machine_is(
    regard: Regard, experiments: Path, corpora: Path, tmp_path: Path, cluster: Any
) -> None:
    options = ("reproduce", "toy/table", "--device", "cpu", "--only", "plain", "--seeds", "4")
    path = tmp_path / "there" / "table.jsonl"
    lost = threading.Thread(target=lose_machine, args=(cluster, path))
    lost.start()
    assert regard(*options, "--on", "ray", "--out", "there").code == 0
    lost.join()
    assert regard(*options, "--jobs", "0", "--out", "here").code == 0
    keys = [(row["corpus"], row["method"], row["seed"]) for row in rows(path)]
    assert len(keys) == len(set(keys)) == 8
    assert not [row for row in rows(path) if "error" in row]
    values = [
        {str(row["corpus"]) + str(row["seed"]): row["values"] for row in rows(one)}
        for one in (path, tmp_path / "here" / "table.jsonl")
    ]
    assert values[0] == values[1]


@needs_ray
@pytest.mark.slow
def test_a_killed_driver_is_started_again_and_repeats_nothing(
    regard: Regard, experiments: Path, corpora: Path, tmp_path: Path, cluster: Any
) -> None:
    options = ("reproduce", "toy/table", "--device", "cpu", "--only", "plain", "--seeds", "6")
    path = tmp_path / "there" / "table.jsonl"
    words = [sys.executable, "-m", "regard", *options, "--on", f"ray:{cluster.address}", "--out", "there"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as driver:
        while driver.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= 2):
            time.sleep(0.02)
        driver.kill()
    assert driver.returncode == -signal.SIGKILL, "it was killed before it ended"
    complete = path.read_bytes()[: path.read_bytes().rfind(b"\n") + 1]
    assert 2 <= complete.count(b"\n") < 12
    again = regard(*options, "--on", "ray", "--out", "there")
    assert again.code == 0, again.err
    assert path.read_bytes().startswith(complete)
    assert regard(*options, "--jobs", "0", "--out", "here").code == 0
    found, expected = (
        {(row["corpus"], row["seed"]): row["values"] for row in rows(one)}
        for one in (path, tmp_path / "here" / "table.jsonl")
    )
    assert found == expected
    assert len(rows(path)) == len(found) == 12


def lose_machine(cluster: Any, path: Path) -> None:
    """After the first row."""
    for _ in range(600):
        if path.exists() and path.read_bytes().count(b"\n"):
            break
        time.sleep(0.1)
    cluster.remove_node(cluster.second, allow_graceful=False)
