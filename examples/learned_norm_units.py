"""Learned-norm units (Gulcehre et al. 2014) inside an MLP and an RNN, on data whose classes are separated by a curve.

    python examples/learned_norm_units.py [--seeds N] [--steps N] [--save]

The paper says that a few units with learned norms represent curved boundaries more efficiently than other activations, because
each unit's boundary is a superellipse |x/a|^q + |y/b|^q = 1. Here a point is inside or outside a rotated superellipse with
q = 1.3 (close to a diamond), 2 (an ellipse) or 6 (close to a rectangle). For the MLP the point is the input, for the RNN it is
where a walk of eight steps ends. All activations read the same number of linear outputs, two per unit, so that all models of
one size have the same number of weights but for a norm and two centres per unit (and twice as many outputs of ReLU and tanh,
which read one linear output each).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Literal

import example_results as results
import torch
from torch import Tensor, nn

from regard.poolings import NormLayer

ACTIVATIONS = ("norm units", "fixed p = 2", "maxout", "ReLU", "tanh")
EXPONENTS = (1.3, 2.0, 6.0)
UNITS = (1, 2, 4)  # of the MLP
RECURRENT_UNITS = 8
WALK = 8  # steps
TRAINING_POINTS, TEST_POINTS = 2000, 10_000


class Maxout(nn.Module):
    """The maximum of each pair of neighbours."""

    def forward(self, z: Tensor) -> Tensor:
        return z.unflatten(-1, (-1, 2)).amax(-1)


def activation(name: str, units: int) -> tuple[nn.Module, int]:
    """The layer that follows 2 · units linear outputs, and its width."""
    if name == "maxout":
        return Maxout(), units
    if name in ("ReLU", "tanh"):
        return (nn.ReLU() if name == "ReLU" else nn.Tanh()), 2 * units
    return NormLayer(units, 2, learn_norm=name == "norm units"), units


class MLP(nn.Module):
    def __init__(self, name: str, units: int):
        super().__init__()
        layer, width = activation(name, units)
        self.layers = nn.Sequential(nn.Linear(2, 2 * units), layer, nn.Linear(width, 1))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.layers(x)[:, 0]
        return logits


class RNN(nn.Module):
    """A deep transition, in which the paper has the units: h_t = tanh(V f(W x_t + U h_{t−1} + b) + c)."""

    def __init__(self, name: str, units: int, width: int = 8):
        super().__init__()
        self.width = width
        self.read, self.recur = nn.Linear(2, 2 * units), nn.Linear(width, 2 * units, bias=False)
        self.layer, inner = activation(name, units)
        self.out, self.head = nn.Linear(inner, width), nn.Linear(width, 1)

    def forward(self, steps: Tensor) -> Tensor:
        h = steps.new_zeros(len(steps), self.width)
        for x in steps.unbind(1):
            h = torch.tanh(self.out(self.layer(self.read(x) + self.recur(h))))
        logits: Tensor = self.head(h)[:, 0]
        return logits


def points(count: int, exponent: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points in a square around a rotated superellipse, and which are inside: 32, 40 or 49 %, by the exponent."""
    xy = torch.rand(count, 2, generator=generator) * 4 - 2
    turned = xy @ torch.tensor([[0.8, -0.6], [0.6, 0.8]])
    inside = (turned[:, 0] / 1.7).abs() ** exponent + (turned[:, 1] / 1.2).abs() ** exponent < 1
    return xy, inside.float()


def walks(xy: Tensor, generator: torch.Generator) -> Tensor:
    """Random steps that end at these points.  (N, 2) -> (N, WALK, 2)"""
    noise = torch.randn(len(xy), WALK, 2, generator=generator) * 0.5
    return noise - noise.mean(1, keepdim=True) + xy.unsqueeze(1) / WALK


def accuracy_of(model: nn.Module, data: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], steps: int) -> float:
    """After `steps` steps of Adam with 256 examples each; the learning rate falls to 0 over the second half."""
    optimizer = torch.optim.Adam([each for each in model.parameters() if each.requires_grad], 0.02)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, 2 * (1 - step / steps)))
    for _ in range(steps):
        rows = torch.randint(len(data[0]), (256,))
        loss = nn.functional.binary_cross_entropy_with_logits(model(data[0][rows]), data[1][rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        falling.step()
    with torch.no_grad():
        return float(((model(test[0]) > 0) == (test[1] > 0)).float().mean())


def trained(kind: Literal["MLP", "RNN"], name: str, exponent: float, units: int, seed: int, steps: int) -> results.Row:
    generator = torch.Generator().manual_seed(seed)  # every activation gets the same points
    data, test = (points(count, exponent, generator) for count in (TRAINING_POINTS, TEST_POINTS))
    if kind == "RNN":
        data, test = ((walks(xy, generator), inside) for xy, inside in (data, test))
    torch.manual_seed(seed)
    model = MLP(name, units) if kind == "MLP" else RNN(name, units)
    accuracy = accuracy_of(model, data, test, steps)
    row = {"network": kind, "q": exponent, "units": units, "activation": name, "seed": seed, "accuracy": accuracy}
    if name == "norm units":
        layer = next(module for module in model.modules() if isinstance(module, NormLayer))
        row["norms"] = [round(p, 2) for p in layer.norm.tolist()]
    return row


def run(seeds: int, steps: int) -> Iterator[results.Row]:
    for exponent in EXPONENTS:
        for units in UNITS:
            for name in ACTIVATIONS:
                yield from (trained("MLP", name, exponent, units, seed, steps) for seed in range(seeds))
    for exponent in EXPONENTS:
        for name in ACTIVATIONS:
            for seed in range(seeds):
                yield trained("RNN", name, exponent, RECURRENT_UNITS, seed, steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--save", action="store_true", help="replace the committed results")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    rows = list(run(arguments.seeds, arguments.steps))
    print(results.table(rows, ("network", "q", "units"), "activation"))
    if arguments.save:
        print(results.save("learned_norm_units", rows, time.process_time() - start, ("torch",)))


if __name__ == "__main__":
    main()
