"""Choose the device of a model, and set it up so that the same seed gives the same weights."""

from __future__ import annotations

import os

import torch

from regard.errors import InputError


def choose_device(name: str, local_rank: int | None = None) -> torch.device:
    """The device of that name. `local_rank`: the number of this process on its machine, if each has a GPU of its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and local_rank is not None:
        if local_rank >= torch.cuda.device_count():
            raise InputError(
                f"device = cuda: expected one GPU for each process of this machine, got {torch.cuda.device_count()} for process "
                f"{local_rank + 1}; start fewer with --nproc-per-node, or use --device cpu"
            )
        name = f"cuda:{local_rank}"
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise InputError(f"device: expected cpu, cuda, cuda:N or auto, got {name!r}")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise InputError(f"device = {name!r}: PyTorch sees {torch.cuda.device_count()} CUDA devices; use cpu or auto")
    if kind == "cuda":
        # otherwise cuBLAS and some CUDA sums add in whatever order is fastest
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        # that setting also fills every new tensor, in case it is read before it is written, which never happens here
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return torch.device(name)
