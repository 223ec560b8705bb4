"""Check that padding around a text changes nothing."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from regard.values import Batch


def padded(batch: Batch) -> Batch:
    """Two more positions on every axis but the first, with ids that a careless model would read."""
    more = (0, 2) * (batch.ids.ndim - 1)
    return Batch(functional.pad(batch.ids, more, value=7), functional.pad(batch.mask, more))


def same(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)
