"""A model's answers with attention weights other than its own: the states stay, and only their mixture changes.

Jain & Wallace (2019) ask what happens to the answer then. **Choice**: with several levels, the weights are those of the
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


class Given(NamedTuple):
    """A batch of texts with what their answers are mixed from."""

    rows: Ints  # (B,) which texts
    mask: Tensor  # (B, L)
    weights: Tensor  # (B, L) the model's own, float64
    logits: Tensor  # (B, C) with these
    answer: Callable[[Tensor], Tensor]  # (…, B, L) weights -> (…, B, C) logits
    said: Tensor | None  # (B, L, C) what each place says, where logits are Σ weight × said and a bias


def given_weights(trained: Trained, readings: Sequence[Reading]) -> Iterator[Given]:
    """Every text once, in batches of similar length. The highest level must attend."""
    import torch

    model = trained.model
    level = cast("Level", model.levels[-1])
    for rows, batch in batches(trained, readings):
        with torch.no_grad():
            trace = model(batch).traces[-1]
        weights = own_weights(trace)
        said, answer = mixing(model, level, trace)
        with torch.no_grad():
            logits = answer(weights)
        yield Given(rows, trace.mask, weights, logits, answer, said)


def own_weights(trace: Trace) -> Tensor:
    from regard.masking import masked_softmax

    return masked_softmax(trace.pooled.scores.double(), trace.mask)


def mixing(model: Classifier, level: Level, trace: Trace) -> tuple[Tensor | None, Callable[[Tensor], Tensor]]:
    """What each place says, where that is all that matters, and logits as a function of weights."""
    import torch
    from torch import nn

    states, mask, head = trace.states.detach(), trace.mask, model.head
    if level.pooling.is_linear and isinstance(head, nn.Linear):
        said = states.double() @ head.weight.detach().double().T  # (B, L, C)
        bias = 0.0 if head.bias is None else head.bias.detach().double()
        return said, lambda weights: torch.einsum("...bl,blc->...bc", weights.double(), said) + bias

    def answer(weights: Tensor) -> Tensor:
        rows = weights.to(states.dtype).reshape(-1, *mask.shape)
        logits = torch.stack([head(level.pooling.mix(states, own, mask)) for own in rows])  # (…, B, C)
        return logits.double().reshape(*weights.shape[:-1], -1)

    return None, answer


def chances(task: Task, logits: Tensor) -> Tensor:
    """Probabilities of all classes, (…, C) -> (…, classes), with their gradient."""
    import torch

    if isinstance(task, Binary):
        second = logits.sigmoid()
        return torch.cat((1 - second, second), -1)
    return logits.softmax(-1)


def distances(one: Tensor, other: Tensor) -> Tensor:
    """Total variation of the last axis."""
    return (one - other).abs().sum(-1) / 2


def divergences(one: Tensor, other: Tensor) -> Tensor:
    """Jensen–Shannon of the last axis, in nats, with a gradient that is finite also at a share of 0, as padding has."""
    middle = log((one + other) / 2)
    return ((one * (log(one) - middle) + other * (log(other) - middle)).sum(-1) / 2).clamp_min(0)


def log(shares: Tensor) -> Tensor:
    return shares.clamp_min(1e-300).log()
