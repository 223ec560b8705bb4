"""The bottleneck beyond the contract tests: its divergence, its compressed vector, and that its vector equals attention's."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Independent, Normal, kl_divergence

from regard.config import Model
from regard.errors import InputError
from regard.poolings import Attention, Bottleneck
from regard.poolings.bottleneck import kl

D = 5
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()


def make(**options: object) -> Bottleneck:
    torch.manual_seed(0)
    return Bottleneck.configured(D, 1, Model(query=4, **options)).double().eval()  # type: ignore[arg-type]


def make_states() -> Tensor:
    return torch.randn(3, 4, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def parts(pooling: Bottleneck, vector: Tensor) -> tuple[Tensor, Tensor]:
    """u and σ of R, computed from their definitions."""
    return pooling.mean(vector), torch.log1p(torch.exp(pooling.deviation(vector)))


def test_the_divergence_equals_that_of_torch_distributions() -> None:
    mean, deviation = torch.randn(7, D, dtype=torch.float64), torch.rand(7, D, dtype=torch.float64) * 3 + 1e-3
    standard = Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
    expected = kl_divergence(Independent(Normal(mean, deviation), 1), standard)
    torch.testing.assert_close(kl(mean, deviation), expected, rtol=0, atol=1e-6)
    # by hand: ½ (u² + σ² − 1 − 2 log σ), here ½ (4 + 9 − 1 − 2 log 3) and ½ (0 + 1 − 1 − 0)
    actual = kl(torch.tensor([[2.0, 0.0]]), torch.tensor([[3.0, 1.0]]))
    assert float(actual) == pytest.approx(6 - math.log(3))


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_the_kl_term_is_the_mean_over_nonempty_texts(attention: str) -> None:
    pooling, states = make(attention=attention), make_states()
    pooled = pooling(states, MASK)
    mean, deviation = parts(pooling, pooled.vector[:2])
    normal = Normal(torch.zeros_like(mean), torch.ones_like(mean))
    expected = kl_divergence(Normal(mean, deviation), normal).sum(1).mean()
    assert pooled.terms.keys() == {"kl"}
    torch.testing.assert_close(pooled.terms["kl"], expected, rtol=0, atol=1e-6)
    assert pooling(states, torch.zeros_like(MASK)).terms["kl"].item() == 0


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_its_vector_equals_that_of_attention(attention: str) -> None:
    pooling, plain = make(attention=attention), Attention.configured(D, 1, Model(query=4, attention=attention))  # type: ignore[arg-type]
    plain.scorer.load_state_dict(pooling.scorer.state_dict())
    actual, expected = pooling(make_states(), MASK), plain.double()(make_states(), MASK)
    for name in ("vector", "weights", "scores"):
        torch.testing.assert_close(getattr(actual, name), getattr(expected, name))


def test_the_compressed_vector_is_sampled_in_training_and_the_mean_at_prediction() -> None:
    pooling, states = make(), make_states()
    pooled = pooling(states, MASK)
    mean, deviation = parts(pooling, pooled.vector)
    torch.testing.assert_close(pooled.compressed[:2], mean[:2])
    assert (pooled.compressed[2] == 0).all(), "the compressed vector of an empty text is zero"
    pooling.train()
    sampled = torch.stack([pooling(states, MASK).compressed.detach() for _ in range(4000)])[:, :2]
    assert (sampled[0] != sampled[1]).all()
    torch.testing.assert_close(sampled.mean(0), mean[:2], rtol=0, atol=0.08)
    torch.testing.assert_close(sampled.std(0), deviation[:2], rtol=0.08, atol=0)
    assert torch.equal(pooling(states, MASK).vector, pooled.vector), "R is not random"


def test_padding_and_batching_change_neither_the_compressed_vector_nor_the_kl_term() -> None:
    pooling, states = make(), make_states()
    whole = pooling(states, MASK)
    wide = pooling(torch.cat((states, torch.full((3, 2, D), 9.0).double()), 1), torch.nn.functional.pad(MASK, (0, 2)))
    torch.testing.assert_close(wide.compressed, whole.compressed, rtol=0, atol=1e-12)
    torch.testing.assert_close(wide.terms["kl"], whole.terms["kl"], rtol=0, atol=1e-12)
    each = [pooling(states[row : row + 1], MASK[row : row + 1]) for row in range(2)]
    for row, alone in enumerate(each):
        torch.testing.assert_close(alone.compressed[0], whole.compressed[row], rtol=0, atol=1e-12)
    torch.testing.assert_close(sum(alone.terms["kl"] for alone in each) / 2, whole.terms["kl"])


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_gradients_of_the_compressed_vector_and_of_the_kl_term(attention: str) -> None:
    """Against finite differences, with one sample of ε held fixed."""
    pooling = make(attention=attention).train()
    names = [name for name, _ in pooling.named_parameters()]

    def outputs(states: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        torch.manual_seed(5)
        pooled = torch.func.functional_call(pooling, dict(zip(names, parameters, strict=True)), (states, MASK))
        return pooled.compressed, pooled.terms["kl"], pooled.weights

    inputs = [make_states().requires_grad_(), *(p.detach().clone().requires_grad_() for p in pooling.parameters())]
    assert torch.autograd.gradcheck(outputs, inputs, eps=1e-7, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e30])
@pytest.mark.parametrize("shift", [-300.0, 0.0, 300.0])
def test_everything_stays_finite(precision: torch.dtype, size: float, shift: float) -> None:
    """Even if σ underflows or is huge."""
    pooling = make().float().train()
    with torch.no_grad():
        pooling.deviation.out.bias.fill_(shift)
    states = (make_states() * size).to(precision).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == torch.bfloat16):
        pooled = pooling(states, MASK)
    assert pooled.compressed.dtype == torch.float32
    (pooled.compressed.sum() + pooled.terms["kl"]).backward()
    for value in (pooled.compressed, pooled.terms["kl"], states.grad, *(p.grad for p in pooling.parameters())):
        assert value.isfinite().all()


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_its_parameters_may_have_half_precision(precision: torch.dtype) -> None:
    """Its outputs are float32, as for plain attention."""
    states = make_states().to(precision)
    pooling, exact = make().to(precision).eval(), make().float().eval()
    exact.load_state_dict(pooling.state_dict())
    states.requires_grad_()
    pooled, expected = pooling(states, MASK), exact(states.detach().float(), MASK)
    for actual, expectation in (
        (pooled.vector, expected.vector),
        (pooled.compressed, expected.compressed),
        (pooled.terms["kl"], expected.terms["kl"]),
    ):
        assert actual.dtype == torch.float32
        torch.testing.assert_close(actual, expectation, rtol=0.05, atol=0.05)
    (pooled.compressed.sum() + pooled.terms["kl"]).backward()
    for value in (states.grad, *(p.grad for p in pooling.parameters())):
        assert value is not None
        assert value.isfinite().all()


def test_weights_of_several_heads_are_their_mean_and_still_mix_the_states() -> None:
    pooling, states = make(attention_heads=3), make_states()
    pooled = pooling(states, MASK)
    scorers = (pooling.scorer, *pooling.other_scorers)
    assert len(scorers) == 3
    real = MASK.unsqueeze(1)
    by_head = torch.stack([scorer(states) for scorer in scorers], 1).masked_fill(~real, -1e9).softmax(-1) * real
    torch.testing.assert_close(pooled.weights, by_head.mean(1) * MASK.any(1, keepdim=True))
    torch.testing.assert_close(pooled.weights.sum(1), torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))
    torch.testing.assert_close(pooled.vector, (pooled.weights.unsqueeze(-1) * states).sum(1))
    assert pooled.query is None, "there is no single V"


def test_the_score_of_a_word_alone_is_the_mean_of_its_heads() -> None:
    """Two dot heads with V = (1, 0, …) and (3, 0, …): the word (2, 0, …) has the scores 2 and 6."""
    pooling = make(attention="dot", attention_heads=2)
    with torch.no_grad():
        for scorer, value in zip((pooling.scorer, *pooling.other_scorers), (1.0, 3.0), strict=True):
            scorer.query.zero_()[0] = value  # type: ignore[union-attr, operator]
    word = torch.zeros(1, 1, D, dtype=torch.float64)
    word[0, 0, 0] = 2
    pooled = pooling(word, torch.ones(1, 1, dtype=torch.bool))
    assert pooled.scores.item() == pytest.approx(4)
    assert pooled.weights.item() == pytest.approx(1)


def test_one_head_has_the_weights_of_earlier_runs() -> None:
    assert {name.split(".")[0] for name in make().state_dict()} == {"scorer", "mean", "deviation"}
    with pytest.raises(InputError, match="attention_heads: expected a number above 0, got 0"):
        Bottleneck(D, attention_heads=0)
