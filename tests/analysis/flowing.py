"""Shared by tests of gradient flow: small corpora, models of every flat form, and derivatives of scores by autograd."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.functional import jvp
from torch.func import functional_call
from torch.nn import functional

from regard.config import Model
from regard.data.unit_texts import UnitTexts
from regard.kernels.units import distinct
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.flat import EMBEDDING, HEAD_BIAS, fresh
from regard.values import Batch

UNITS = 9  # of which the last is in no text
FORMS = {
    "DP": ("embedding", "dot"),
    "DP-A": ("affine", "dot"),
    "AD": ("embedding", "additive"),
    "AD-A": ("affine", "additive"),
}
OUTPUTS = {"binary": 1, "multiclass": 3, "regression": 1}
State = dict[str, NDArray[np.float64]]
Parameters = dict[str, Tensor]
# repeated units, different lengths, perhaps none at all
WORDS = st.lists(st.lists(st.integers(1, UNITS - 2), max_size=6), min_size=1, max_size=5)


class Case(NamedTuple):
    """A model and texts."""

    model: Model
    state: State
    words: list[list[int]]
    texts: UnitTexts
    kind: str

    @property
    def given(self) -> tuple[State, float, UnitTexts, str]:
        return self.state, self.model.scale, self.texts, self.kind


def make_case(
    form: str,
    kind: str,
    words: list[list[int]],
    seed: int = 0,
    scale: float = 3.0,
    head_bias: bool = True,
    size: float = 0.5,
) -> Case:
    encoder, attention = FORMS[form]
    model = Model(
        encoder=encoder,
        attention=attention,
        embedding=4,
        hidden=5,
        query=3,
        scale=scale,
        pooling="attention",
        head_bias=head_bias,
    )
    rng = np.random.default_rng(seed)
    drawn = fresh(model, UNITS, OUTPUTS[kind], 0)
    state = {name: size * rng.normal(size=value.shape) for name, value in drawn.items()}
    state[EMBEDDING][0] = 0
    return Case(model, state, words, make_texts(words, kind, rng), kind)


def make_texts(words: list[list[int]], kind: str, rng: np.random.Generator) -> UnitTexts:
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    ids = np.array([unit for text in words for unit in text], dtype=np.int32)
    classes = max(OUTPUTS[kind], 2)
    labels = rng.normal(size=len(words)) if kind == "regression" else rng.integers(0, classes, len(words))
    return UnitTexts(*distinct(ids, offsets, UNITS), labels.astype(np.float64))


def make_classifier(case: Case) -> Classifier:
    model = build(case.model, UNITS, OUTPUTS[case.kind]).double()
    model.load_state_dict({name: torch.tensor(value) for name, value in case.state.items()})
    return model


def padded(words: list[list[int]]) -> Batch:
    longest = max(1, *map(len, words)) + 1  # one place more than any text needs
    ids, mask = torch.zeros(len(words), longest, dtype=torch.long), torch.zeros(len(words), longest, dtype=torch.bool)
    for row, text in enumerate(words):
        ids[row, : len(text)], mask[row, : len(text)] = torch.tensor(text, dtype=torch.long), True
    return Batch(ids, mask)


def loss_of(logits: Tensor, labels: NDArray[Any], kind: str) -> Tensor:
    """The tasks' losses in double precision."""
    true = torch.tensor(labels)
    if kind == "multiclass":
        return functional.cross_entropy(logits, true.long())
    if kind == "binary":
        return functional.binary_cross_entropy_with_logits(logits[:, 0], true)
    return functional.mse_loss(logits[:, 0], true)


def downhill(case: Case, model: Classifier) -> Parameters:
    """−∂ℓ/∂z for every weight z."""
    model.zero_grad()
    loss_of(model(padded(case.words)).logits, case.texts.labels, case.kind).backward()
    return {
        name: torch.zeros_like(value) if value.grad is None else -value.grad for name, value in model.named_parameters()
    }


def scores(model: Classifier, weights: Parameters) -> tuple[Tensor, Tensor]:
    """Polarity (U, K) and attention (U,) of every unit, each as a text of one word."""
    alone = Batch(torch.arange(UNITS)[:, None], torch.ones(UNITS, 1, dtype=torch.bool))
    output = functional_call(model, weights, (alone,))
    polarity = output.logits - weights[HEAD_BIAS] if HEAD_BIAS in weights else output.logits
    return polarity, output.traces[0].pooled.scores[:, 0]


def autograds(case: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """ds/dτ and da/dτ of every unit: derivatives of the scores in the direction of −∂ℓ/∂z."""
    model = make_classifier(case)
    direction = downhill(case, model)
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def moving(*values: Tensor) -> tuple[Tensor, Tensor]:
        return scores(model, dict(zip(weights, values, strict=True)))

    _, moved = jvp(moving, tuple(weights.values()), tuple(direction.values()))
    return moved[0].numpy(), moved[1].numpy()


def assert_same(actual: NDArray[np.float64], expected: NDArray[np.float64], within: float = 1e-10) -> None:
    """Relative to the largest."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=within * np.abs(expected).max(initial=0))
