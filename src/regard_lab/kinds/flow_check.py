"""How scores move by autograd, in float64: a word on the terms of `analysis/gradient_flow` that knows nothing of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.models.flat import AFFINE, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]
SAMPLE = 200  # texts, by chance


def largest_difference(state: Mapping[str, NDArray[Any]], scale: float, texts: UnitTexts, kind: str) -> float:
    """Between the sum of the terms and autograd's derivative, of all tokens on a sample of texts, over the largest one."""
    from regard.analysis.gradient_flow import flow
    from regard.analysis.panel import taken

    chance = np.random.default_rng(0)
    filled = np.flatnonzero(np.diff(texts.offsets))
    sample = taken(texts, np.sort(chance.permutation(filled)[:SAMPLE]))
    terms = flow(state, scale, sample, kind)
    polarity, attention = moved(state, scale, sample, kind)
    return max(off(terms.polarity_total, polarity), off(terms.attention_total, attention))


def off(found: Floats, true: Floats) -> float:
    return float(np.abs(found - true).max() / max(np.abs(true).max(), 1e-300))


def moved(state: Mapping[str, NDArray[Any]], scale: float, texts: UnitTexts, kind: str) -> tuple[Floats, Floats]:
    """ds/dτ (U, K) and da/dτ (U,): derivatives of the scores in the direction of −∂ℓ/∂z."""
    import torch
    from torch.autograd.functional import jvp

    weights = {name: torch.tensor(np.asarray(value), dtype=torch.float64) for name, value in state.items()}
    lengths = torch.from_numpy(np.diff(texts.offsets))
    ids, counts = torch.from_numpy(texts.ids.astype(np.int64)), torch.from_numpy(texts.counts.astype(np.float64))
    whose = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    labels = torch.from_numpy(texts.labels.astype(np.float64))

    def scores(weights: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        states = weights[EMBEDDING] @ weights[AFFINE].T if AFFINE in weights else weights[EMBEDDING]
        keys = torch.tanh(states @ weights[PROJECT].T + weights[PROJECT_BIAS]) if PROJECT in weights else states
        return states @ weights[HEAD].T, keys @ weights[QUERY] / scale

    def loss(weights: dict[str, Tensor]) -> Tensor:
        polarity, attention = scores(weights)
        own = attention[ids]
        top = torch.full((len(lengths),), -torch.inf, dtype=torch.float64)
        top = top.scatter_reduce(0, whose, own.detach(), "amax")
        parts = counts * torch.exp(own - top[whose])
        total = torch.zeros(len(lengths), dtype=torch.float64).index_add(0, whose, parts)
        said = torch.zeros(len(lengths), polarity.shape[1], dtype=torch.float64)
        said = said.index_add(0, whose, parts[:, None] * polarity[ids]) / total[:, None]
        said = said + weights[HEAD_BIAS] if HEAD_BIAS in weights else said
        if kind == "multiclass":
            return torch.nn.functional.cross_entropy(said, labels.long())
        return torch.nn.functional.binary_cross_entropy_with_logits(said[:, 0], labels)

    for value in weights.values():
        value.requires_grad_()
    slopes = torch.autograd.grad(loss(weights), list(weights.values()))
    values = tuple(value.detach() for value in weights.values())

    def moving(*values: Tensor) -> tuple[Tensor, Tensor]:
        return scores(dict(zip(weights, values, strict=True)))

    _, change = jvp(moving, values, tuple(-slope for slope in slopes))
    return change[0].numpy(), change[1].numpy()
