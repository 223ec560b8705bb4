"""Connecting to Ray: addresses, resources, and what a user reads when something is missing."""

from __future__ import annotations

import socket
import threading
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from command import Regard, write_csv
from regard import ray_cluster
from regard.commands.cluster_options import needs_of
from regard.data.reviews import reviews
from regard.errors import InputError
from regard.extras import is_installed
from regard.ray_cluster import Needs, check_reachable, check_resources, check_version, connected, parse_address

needs_ray = pytest.mark.skipif(not is_installed("ray"), reason="needs Ray")


@pytest.mark.parametrize(
    ("where", "address"), [("ray", None), ("ray:head:6379", "head:6379"), ("ray:10.0.0.1:80", "10.0.0.1:80")]
)
def test_where_names_a_cluster(where: str, address: str | None) -> None:
    assert parse_address(where) == address


@pytest.mark.parametrize("where", ["", "spark", "ray:", "ray:head", "ray:head:", "ray::80", "ray:head:port"])
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


class Machines:
    """A cluster without GPUs."""

    @staticmethod
    def cluster_resources() -> dict[str, float]:
        return {"CPU": 2.0, "memory": 3.5 * 2**30}


def test_too_little_memory_is_said_with_what_there_is() -> None:
    with pytest.raises(InputError, match=r"1 CPUs and 0 GPUs and 9 GB, got 2 CPUs, 0 GPUs, 3\.5 GB in all"):
        check_resources(Machines, Needs(memory=9))


@pytest.mark.parametrize("device", ["gpu", "cuda:1"])
def test_a_device_that_a_cluster_does_not_know_is_refused(device: str) -> None:
    options = {"cpus_per_job": 1, "gpus_per_job": None, "memory_per_job": None}
    with pytest.raises(InputError, match=f"--device {device}: expected cpu or cuda with --on"):
        needs_of(Namespace(on="ray", **options), device)
    assert needs_of(Namespace(on=None, **options), "cuda:1").gpus == 1
    assert needs_of(Namespace(on="ray", **options), "cuda").gpus == 1
    assert needs_of(Namespace(on="ray", **options), None).gpus == 0


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


@pytest.fixture
def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_cluster_that_does_not_answer_is_named(free_port: int) -> None:
    with pytest.raises(InputError, match=f"--on ray:127.0.0.1:{free_port}: no answer .* start a cluster there with"):
        check_reachable(f"127.0.0.1:{free_port}")


@pytest.fixture
def other_service() -> Iterator[int]:
    """A port where something else answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(server.getsockname()[1])
        thread.join()


def test_another_service_is_told_from_a_cluster(other_service: int) -> None:
    with pytest.raises(InputError, match="expected the port of a Ray cluster, got another service"):
        check_reachable(f"127.0.0.1:{other_service}")


class Refused(Exception):
    """In the place of Ray's errors: what `ray.init` raises with RAY_AUTH_MODE=token and without a token."""


@pytest.mark.parametrize(
    ("error", "advice"), [(ConnectionError("failed"), "; a cluster that asks for a token"), (Refused("no token"), "$")]
)
def test_a_cluster_that_asks_for_a_token_is_explained(
    error: Exception, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: object) -> None:
        raise error

    ray = SimpleNamespace(is_initialized=lambda: False, init=init, exceptions=SimpleNamespace(RayError=Refused))
    monkeypatch.setattr(ray_cluster, "import_extra", lambda *_: ray)
    monkeypatch.setattr(ray_cluster, "check_reachable", lambda _: None)
    expected = rf"--on ray:head:6379: Ray could not connect \({error}\){advice}"
    with pytest.raises(InputError, match=expected), connected("ray:head:6379", Needs()):
        pass


@needs_ray
def test_an_unreachable_cluster_is_one_sentence_of_every_command(
    regard: Regard, free_port: int, tmp_path: Path
) -> None:
    file = write_csv(tmp_path / "stars.csv", [(example.text, example.label) for example in reviews(60)])
    where = f"ray:127.0.0.1:{free_port}"
    if is_installed("optuna"):
        result = regard("tune", file, "--on", where, "--out", tmp_path / "search")
        assert result.code == 2
        assert f"--on {where}: no answer" in result.error
    assert regard("train", file, "--epochs", "1", "--out", tmp_path / "run").code == 0
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pytest.importorskip("pyarrow").table({"text": ["good"]}), tmp_path / "a.parquet")
    result = regard("predict", tmp_path / "run", tmp_path / "a.parquet", "--on", where, "--out", tmp_path / "out")
    assert result.code == 2
    assert f"--on {where}: no answer" in result.error


@needs_ray
def test_without_an_address_a_cluster_on_this_machine_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        with connected("ray", Needs()) as ray:
            assert ray.get_runtime_context().gcs_address != cluster.address
    finally:
        cluster.shutdown()


@needs_ray
def test_another_version_of_ray_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(ray, "__version__", "9.9.9")
            with pytest.raises(InputError, match=r"Ray could not connect \(Version mismatch.*9\.9\.9"):
                connected(f"ray:{cluster.address}", Needs()).__enter__()
    finally:
        ray.shutdown()
        cluster.shutdown()
