"""Clusters on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two machines of two cores; the driver is connected to the first."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 10**8}
    started = Cluster(initialize_head=True, head_node_args=head)
    started.second = started.add_node(num_cpus=2, object_store_memory=10**8)
    ray.init(address=started.address, log_to_driver=False, configure_logging=False, namespace="regard")
    yield started
    ray.shutdown()
    started.shutdown()
