"""What a model answers with: a linear head or a perceptron; over a bottleneck two perceptrons, one on R and one on z."""

from __future__ import annotations

from torch import nn

from regard.models.tasks import COMPRESSED
from regard.poolings import Pooling
from regard.poolings.perceptron import Perceptron


def make_heads(
    top: Pooling, width: int, outputs: int, bias: bool, hidden: bool = False
) -> tuple[nn.Linear | Perceptron, dict[str, nn.Module]]:
    """The head of labels, and the others by name."""
    if not top.compresses:
        return Perceptron(width, outputs, bias) if hidden else nn.Linear(width, outputs, bias=bias), {}
    return Perceptron(width, outputs, bias), {COMPRESSED: Perceptron(width, outputs, bias)}
