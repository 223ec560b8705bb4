"""What an epoch shows of each level's attention: its scores (already divided by λ) and its norm p."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.values import Output


@dataclass
class Spread:
    """Count, mean, standard deviation and range of numbers that come in parts."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    def add(self, values: Tensor) -> None:
        values = values.detach().double().flatten()
        if values.numel():
            self.count += values.numel()
            self.total += values.sum().item()
            self.squares += values.square().sum().item()
            self.low = min(self.low, values.min().item())
            self.high = max(self.high, values.max().item())

    def as_dict(self) -> dict[str, float]:
        mean = self.total / self.count
        deviation = math.sqrt(max(self.squares / self.count - mean**2, 0.0))
        return {"mean": mean, "std": deviation, "min": self.low, "max": self.high}


NAMES = ("words", "sentences", "parts")


class Statistics:
    """Gathers from the outputs of one pass."""

    def __init__(self) -> None:
        self.scores: dict[str, Spread] = {}
        self.norms: dict[str, Spread] = {}
        self.sizes: list[Tensor] = []  # the words of each text beside its own norm, of models that have one a text
        self.own: list[Tensor] = []
        self.texts = 0
        self.terms: dict[str, float] = {}  # sums over texts of the penalties that the top level's pooling names
        self.heads: dict[str, dict[str, float]] = {}  # scores of further heads, by whoever took them

    def add(self, output: Output) -> None:
        self.count(len(output.logits), output.traces[-1].pooled.terms)
        for level, trace in enumerate(output.traces):
            self.see(level, trace.pooled.scores, trace.mask, trace.pooled.norm)

    def count(self, texts: int, terms: Mapping[str, Tensor]) -> None:
        self.texts += texts
        for name, value in terms.items():
            self.terms[name] = self.terms.get(name, 0.0) + texts * value.item()

    def see(self, level: int, scores: Tensor, mask: Tensor, norm: Tensor | None) -> None:
        self.scores.setdefault(NAMES[level], Spread()).add(scores[mask])
        if norm is None:
            return
        self.norms.setdefault(NAMES[level], Spread()).add(norm)
        if norm.ndim == mask.ndim == 2:  # below the top only rows that were read have a norm, in an order of their own
            self.sizes.append(mask.sum(-1).cpu())
            self.own.append(norm[:, 0].detach().cpu())

    def as_dict(self) -> dict[str, Any]:
        found = {"terms": {name: total / self.texts for name, total in self.terms.items()}, "heads": self.heads}
        return {name: values for name, values in found.items() if values} | {
            "scores": {name: spread.as_dict() for name, spread in self.scores.items() if spread.count},
            "norms": {
                name: {**spread.as_dict(), **(self.length() if name == NAMES[0] else {})}
                for name, spread in self.norms.items()
                if spread.count
            },
        }

    def length(self) -> dict[str, float]:
        """How a text's norm goes with its length: the correlation of their logarithms, where both vary."""
        if not self.own:
            return {}
        sizes, own = torch.cat(self.sizes).double(), torch.cat(self.own).double()
        both = torch.stack((sizes, own))[:, sizes > 0].log()
        if both.size(1) < 2 or both.std(1).min() < 1e-9:
            return {}
        return {"length": float(torch.corrcoef(both)[0, 1])}
