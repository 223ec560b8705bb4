"""Options of commands that can run on a Ray cluster: where it is, and what a run occupies there."""

from __future__ import annotations

import argparse
from typing import Any

from regard.errors import InputError
from regard.ray_cluster import Needs


def add_cluster_options(group: Any) -> None:
    """`group`: a parser, or a group of its options."""
    group.add_argument(
        "--on",
        metavar="WHERE",
        help="run on Ray: ray (this machine) or ray:HOST:PORT (a cluster); its size decides how many runs are parallel",
    )
    group.add_argument("--cpus-per-job", type=float, default=1, metavar="N", help="cores of a run on Ray (default: 1)")
    group.add_argument(
        "--gpus-per-job", type=float, metavar="N", help="GPUs of a run on Ray (default: 1 with --device cuda)"
    )
    group.add_argument(
        "--memory-per-job", type=float, metavar="GB", help="memory of a run on Ray (default: not counted)"
    )


def check_device(where: str | None, device: object) -> None:
    """A cluster chooses the GPU of a task. Anything that is not CUDA would mean a CPU there, also a typing error."""
    if where is not None and device not in (None, "auto", "cpu", "cuda"):
        raise InputError(f"--device {device}: expected cpu or cuda with --on, whose machines choose a GPU")


def needs_of(arguments: argparse.Namespace, device: object) -> Needs:
    check_device(arguments.on, device)
    gpus = arguments.gpus_per_job
    if gpus is None:
        gpus = float(str(device).startswith("cuda"))
    for name, value in (("cpus", arguments.cpus_per_job), ("gpus", gpus), ("memory", arguments.memory_per_job)):
        if value is not None and not 0 <= value < float("inf"):
            raise InputError(f"--{name}-per-job: expected a number of at least 0, got {value:g}")
    return Needs(arguments.cpus_per_job, gpus, arguments.memory_per_job)
