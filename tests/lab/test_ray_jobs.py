"""Tables on a Ray cluster: the rows of a plain run, each once, also if a machine is lost. Needs Ray."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Regard
from regard.errors import InputError
from regard.extras import is_installed
from regard.ray_cluster import Needs, check_version, connected, parse_address

needs_ray = pytest.mark.skipif(not is_installed("ray"), reason="needs Ray")


@pytest.mark.parametrize(
    ("where", "address"), [("ray", None), ("ray:head:6379", "head:6379"), ("ray:10.0.0.1:80", "10.0.0.1:80")]
)
def test_where_names_a_cluster(where: str, address: str | None) -> None:
    assert parse_address(where) == address


@pytest.mark.parametrize("where", ["", "spark", "ray:head", "ray:head:", "ray::80", "ray:head:port"])
def test_other_places_are_refused(where: str) -> None:
    with pytest.raises(InputError, match="--on: expected ray, or ray:HOST:PORT"):
        parse_address(where)


def test_slots_are_limited_by_what_is_scarcest() -> None:
    resources = {"CPU": 8.0, "GPU": 2.0, "memory": 16.0 * 2**30}
    assert Needs(cpus=2).slots(resources) == 4
    assert Needs(cpus=1, gpus=0.5).slots(resources) == 4
    assert Needs(cpus=1, gpus=1).slots(resources) == 2
    assert Needs(cpus=1, memory=6).slots(resources) == 2
    assert Needs(cpus=1, gpus=1).slots({"CPU": 8.0}) == 0


def test_another_version_is_refused_with_the_name_of_the_machine() -> None:
    with pytest.raises(InputError, match=f"{socket.gethostname()}: expected regard 9.9"):
        check_version("9.9")


@pytest.mark.skipif(is_installed("ray"), reason="needs an environment without Ray")
def test_ray_says_how_to_install_it() -> None:
    with (
        pytest.raises(InputError, match=r"--on ray needs Ray, which is not installed: pip install 'regard\[ray\]'"),
        connected("ray", Needs()),
    ):
        pass


@needs_ray
def test_a_cluster_that_does_not_answer_is_named(regard: Regard, experiments: Path, corpora: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    result = regard("reproduce", "toy/table", "--on", f"ray:127.0.0.1:{port}", "--device", "cpu")
    assert result.code == 2
    assert f"--on ray:127.0.0.1:{port}: no answer" in result.error


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


def lose_machine(cluster: Any, path: Path) -> None:
    """After the first row."""
    import time

    for _ in range(600):
        if path.exists() and path.read_bytes().count(b"\n"):
            break
        time.sleep(0.1)
    cluster.remove_node(cluster.second, allow_graceful=False)
