"""A pooling does what it declares: explainers, audit and optimiser rely on nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_poolings import MASK, VARIANTS, D, make, make_states

from regard.config import Model
from regard.errors import InputError
from regard.masking import masked_softmax, weighted_sum
from regard.models.capabilities import ATTENTION, Capabilities, attending, capabilities
from regard.poolings import POOLINGS

every_variant = pytest.mark.parametrize("variant", VARIANTS)


@every_variant
def test_attention_is_the_softmax_of_the_scores_and_mix_uses_it(variant: str) -> None:
    pooling, states = make(variant), make_states()
    pooled = pooling(states, MASK)
    alpha = pooling.attention(pooled, MASK)
    if not pooling.attends:
        assert alpha is pooled.weights
        with pytest.raises(InputError, match="expected a pooling with attention"):
            pooling.mix(states, alpha, MASK)
        return
    torch.testing.assert_close(alpha, masked_softmax(pooled.scores, MASK))
    torch.testing.assert_close(pooling.mix(states, alpha, MASK), pooled.vector)
    assert torch.allclose(alpha, pooled.weights) or pooling.has_norm
    even = MASK / MASK.sum(1, keepdim=True).clamp_min(1)
    mixed = pooling.mix(states, even.double(), MASK)
    assert not torch.allclose(mixed, pooled.vector)
    assert torch.allclose(mixed, weighted_sum(even.double(), states)) or not pooling.is_linear


@every_variant
def test_norms_and_second_vectors_are_declared(variant: str) -> None:
    pooling = make(variant)
    pooled = pooling(make_states(), MASK)
    assert pooling.has_norm == (pooled.norm is not None)
    assert pooling.compresses == (pooled.compressed is not None)
    parameters = {name for name, _ in pooling.named_parameters()}
    assert pooling.has_norm == bool(parameters & set(pooling.norm_parameters))


@pytest.mark.parametrize("name", POOLINGS)
def test_every_norm_parameter_exists_in_some_variant(name: str) -> None:
    poolings = [make(variant) for variant, (pooling_name, _) in VARIANTS.items() if pooling_name == name]
    assert set(POOLINGS[name].norm_parameters) <= {key for pooling in poolings for key, _ in pooling.named_parameters()}


@pytest.mark.parametrize("name", [name for name, pooling in POOLINGS.items() if pooling.attends])
def test_attention_can_be_reinitialised(name: str) -> None:
    pooling = make(name)
    before = pooling(make_states(), MASK)
    pooling.redraw_attention(1.0)
    assert not torch.allclose(pooling(make_states(), MASK).scores, before.scores)
    with pytest.raises(InputError, match="expected a Scorer to initialise again, got a pooling without one"):
        make("average").redraw_attention(1.0)


class RecordedOptions:
    """Options of a model that record which of them are read."""

    def __init__(self, model: Model, read: set[str]) -> None:
        self._model, self._read = model, read

    def __getattr__(self, name: str) -> Any:
        self._read.add(name)
        return getattr(self._model, name)

    def filled(self) -> RecordedOptions:
        return RecordedOptions(self._model.filled(), self._read)


@pytest.mark.parametrize("name", POOLINGS)
def test_the_options_declared_are_the_options_read(name: str) -> None:
    read: set[str] = set()
    config: Any = RecordedOptions(Model(), read)
    POOLINGS[name].configured(D, 1, config)
    assert read == set(POOLINGS[name].options)


def test_capabilities_by_name() -> None:
    assert Capabilities.of(POOLINGS["attention"]) == ATTENTION
    assert capabilities("attention", 2) == [ATTENTION] * 2
    words, sentences = capabilities("max, apln", 2)
    assert (words.attends, sentences.attends, sentences.sharpens) == (False, True, True)
    (unit,) = capabilities("norm_unit", 1)
    assert unit.has_norm
    assert not unit.sharpens
    assert attending() == ["attention", "apln", "bottleneck"]
    with pytest.raises(InputError, match=r"pooling = 'mean': expected one of .*, got 'mean'"):
        capabilities("mean", 1)
