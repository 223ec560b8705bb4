"""The precision of products that stand in for cuDNN's: TF32 on CUDA, unless PyTorch was told otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch

Kind = Literal["rnn", "conv"]


@contextmanager
def as_cudnn_would(kind: Kind) -> Iterator[None]:
    matmul: Any = torch.backends.cuda.matmul
    before, matmul.fp32_precision = matmul.fp32_precision, precision(kind)
    try:
        yield
    finally:
        matmul.fp32_precision = before


def precision(kind: Kind) -> str:
    own: Any = getattr(torch.backends.cudnn, kind)
    return "ieee" if own.fp32_precision == "ieee" else "tf32"
