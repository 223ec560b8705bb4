"""Which device to train on, and the same weights from the same seed there."""

from __future__ import annotations

import os

import torch

from regard.errors import InputError


def choose_device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise InputError(f"device = {name!r}: cpu, cuda, cuda:N or auto is accepted")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise InputError(
            f"device = {name!r}: PyTorch sees {torch.cuda.device_count()} CUDA devices here; give cpu or auto"
        )
    if kind == "cuda":
        # cuBLAS and some CUDA sums take whatever order is quickest unless told otherwise
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        # that also fills every fresh tensor, in case somebody reads it before it is written; nobody here does
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return torch.device(name)
