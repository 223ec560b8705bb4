"""Precision of matrix products that replace cuDNN's: TF32 on CUDA, unless PyTorch is set to IEEE float32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch

Kind = Literal["rnn", "conv"]


@contextmanager
def as_cudnn_would(kind: Kind) -> Iterator[None]:
    """Run matrix products in the precision that cuDNN would use."""
    matmul: Any = torch.backends.cuda.matmul
    previous, matmul.fp32_precision = matmul.fp32_precision, precision(kind)
    try:
        yield
    finally:
        matmul.fp32_precision = previous


def precision(kind: Kind) -> str:
    settings: Any = getattr(torch.backends.cudnn, kind)
    return "ieee" if settings.fp32_precision == "ieee" else "tf32"
