"""A classifier over sequences of vectors that are not words: every vector is encoded alone, regard's poolings do the rest."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.poolings import APLN, Attention, Average, Maximum, Pooling
from regard.values import Pooled

POOLINGS = ("average", "max", "attention", "apln")


class Sequences(NamedTuple):
    items: Tensor  # (N, L, E) patches or frames, zero on padding
    mask: Tensor  # (N, L) True on real items
    labels: Tensor  # (N,)

    def at(self, rows: Tensor) -> Sequences:
        return Sequences(*(value[rows] for value in self))


class PooledClassifier(nn.Module):
    def __init__(self, pooling: str, width: int, classes: int, hidden: int = 64):
        super().__init__()
        # states from ReLU are never negative, as APLN, which clips them at 0, expects
        self.encoder = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.pooling = make_pooling(pooling, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, items: Tensor, mask: Tensor) -> tuple[Tensor, Pooled]:
        pooled: Pooled = self.pooling(self.encoder(items), mask)
        return self.head(pooled.vector), pooled


def make_pooling(name: str, dim: int) -> Pooling:
    if name == "attention":
        return Attention(dim, query=64)
    if name == "apln":
        return APLN(dim, query=64)
    return Average() if name == "average" else Maximum()


def train(
    pooling: str, training: Sequences, seed: int, epochs: int, batch_size: int = 64, lr: float = 0.003
) -> PooledClassifier:
    """Adam; the rate falls to 0 over the second half. The last epoch counts: nothing is chosen on other data."""
    torch.manual_seed(seed)
    model = PooledClassifier(pooling, training.items.size(-1), int(training.labels.max()) + 1)
    optimizer, count = torch.optim.Adam(model.parameters(), lr), len(training.labels)
    for epoch in range(epochs):
        optimizer.param_groups[0]["lr"] = lr * min(1.0, 2 * (1 - epoch / epochs))
        for rows in torch.randperm(count).split(batch_size):
            batch = training.at(rows)
            loss = nn.functional.cross_entropy(model(batch.items, batch.mask)[0], batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: PooledClassifier, test: Sequences) -> float:
    return float((model(test.items, test.mask)[0].argmax(1) == test.labels).float().mean())


@torch.no_grad()
def norm(model: PooledClassifier, test: Sequences) -> float | None:
    """APLN's learned p."""
    value = model(test.items[:1], test.mask[:1])[1].norm
    return None if value is None else round(float(value), 3)


@torch.no_grad()
def weight_on(model: PooledClassifier, test: Sequences, where: Tensor) -> float:
    """The mean share of the weights on these items.  where (N, L)"""
    return float((model(test.items, test.mask)[1].weights * where).sum(1).mean())
