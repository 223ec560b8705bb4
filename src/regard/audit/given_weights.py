"""A model's predictions with attention weights other than its own: the states stay, and only their mixture changes.

Jain & Wallace (2019) ask what happens to the prediction then. **Choice**: with several levels, the weights are those of the
highest one, over sentences or parts, because other weights below it would change the states too. If a norm sharpens
attention, they are α, before it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from regard.explain.reading import Reading, batches
from regard.models.tasks import Binary, Task
from regard.models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

    from regard.models.classifier import Classifier, Level
    from regard.values import Trace

Ints = NDArray[np.int64]


class Mixture(NamedTuple):
    """A batch of texts, and its logits as a function of attention weights."""

    rows: Ints  # (B,) which texts
    mask: Tensor  # (B, L)
    weights: Tensor  # (B, L) the model's attention, float64
    logits: Tensor  # (B, C) with these
    answer: Callable[[Tensor], Tensor]  # (…, B, L) weights -> (…, B, C) logits
    contributions: Tensor | None  # (B, L, C) per position, if logits are Σ weight × contribution + bias


def given_weights(trained: Trained, readings: Sequence[Reading]) -> Iterator[Mixture]:
    """Every text once, in batches of similar length. The highest level must attend."""
    import torch

    model = trained.model
    level = cast("Level", model.levels[-1])
    for rows, batch in batches(trained, readings):
        with torch.no_grad():
            trace = model(batch).traces[-1]
        weights = attention_weights(trace)
        contributions, answer = mixing(model, level, trace)
        with torch.no_grad():
            logits = answer(weights)
        yield Mixture(rows, trace.mask, weights, logits, answer, contributions)


def attention_weights(trace: Trace) -> Tensor:
    from regard.masking import masked_softmax

    return masked_softmax(trace.pooled.scores.double(), trace.mask)


def mixing(model: Classifier, level: Level, trace: Trace) -> tuple[Tensor | None, Callable[[Tensor], Tensor]]:
    """The contribution of each position, if logits are linear in the weights; and logits as a function of weights."""
    import torch
    from torch import nn

    states, mask, head = trace.states.detach(), trace.mask, model.head
    if level.pooling.is_linear and isinstance(head, nn.Linear):
        contributions = states.double() @ head.weight.detach().double().T  # (B, L, C)
        bias = 0.0 if head.bias is None else head.bias.detach().double()
        return contributions, lambda weights: torch.einsum("...bl,blc->...bc", weights.double(), contributions) + bias

    def answer(weights: Tensor) -> Tensor:
        rows = weights.to(states.dtype).reshape(-1, *mask.shape)
        logits = torch.stack([head(level.pooling.mix(states, row, mask)) for row in rows])  # (…, B, C)
        return logits.double().reshape(*weights.shape[:-1], -1)

    return None, answer


def probabilities(task: Task, logits: Tensor) -> Tensor:
    """Probabilities of all classes, (…, C) -> (…, classes), with their gradient."""
    import torch

    if isinstance(task, Binary):
        second = logits.sigmoid()
        return torch.cat((1 - second, second), -1)
    return logits.softmax(-1)


def distances(one: Tensor, other: Tensor) -> Tensor:
    """Total variation distance over the last axis."""
    return (one - other).abs().sum(-1) / 2


def divergences(one: Tensor, other: Tensor) -> Tensor:
    """Jensen–Shannon divergence over the last axis, in nats; its gradient is finite also at a weight of 0 (padding)."""
    middle = log((one + other) / 2)
    return ((one * (log(one) - middle) + other * (log(other) - middle)).sum(-1) / 2).clamp_min(0)


def log(weights: Tensor) -> Tensor:
    return weights.clamp_min(1e-300).log()
