"""Poolings turn a row of states into one vector: (states (N, L, D), mask (N, L)) -> Pooled. Each is a self-contained nn.Module.

To add one, write a file and add a row to `POOLINGS`; the contract tests run over the table. Code outside the package can add
rows too: `regard.POOLINGS["name"] = Class`, before a model is trained or loaded.
"""

from __future__ import annotations

from regard.poolings.apln import APLN
from regard.poolings.attention import Attention
from regard.poolings.average import Average
from regard.poolings.bottleneck import Bottleneck
from regard.poolings.last import Last
from regard.poolings.maximum import Maximum
from regard.poolings.norm_layer import NormLayer
from regard.poolings.norm_unit import NormUnit
from regard.poolings.pooling import Pooling
from regard.poolings.summary import Summary

POOLINGS: dict[str, type[Pooling]] = {
    "average": Average,
    "max": Maximum,
    "last": Last,
    "attention": Attention,
    "apln": APLN,
    "norm_unit": NormUnit,
    "bottleneck": Bottleneck,
    "summary": Summary,
}

__all__ = [
    "APLN",
    "POOLINGS",
    "Attention",
    "Average",
    "Bottleneck",
    "Last",
    "Maximum",
    "NormLayer",
    "NormUnit",
    "Pooling",
    "Summary",
]
