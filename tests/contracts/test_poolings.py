"""The contract of every pooling in POOLINGS: a new pooling is tested by being listed."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import pytest
import torch
from torch import Tensor, nn

from regard.config import Model
from regard.errors import InputError
from regard.poolings import POOLINGS, Pooling

D = 6
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]).bool()

# every pooling, and the options that change its arithmetic
LISTED: dict[str, tuple[str, Model]] = {
    **{name: (name, Model()) for name in POOLINGS},
    "attention dot": ("attention", Model(attention="dot", scale=3.0)),
    "bottleneck dot": ("bottleneck", Model(attention="dot", scale=3.0)),
    "bottleneck of three heads": ("bottleneck", Model(attention_heads=3)),
    "bottleneck dot of two heads": ("bottleneck", Model(attention="dot", attention_heads=2)),
    "apln dot": ("apln", Model(attention="dot")),
    "apln sample": ("apln", Model(norm="sample", norm_init=1.7)),
    "apln feature": ("apln", Model(norm="feature", norm_init=0.6)),
    "apln normalise": ("apln", Model(rescale="normalise", norm_init=2.0)),
    "apln signed": ("apln", Model(rescale="signed", norm="feature", norm_init=1.0)),  # norms on both sides of 1
    "apln unit length": ("apln", Model(unit_length=True, norm_init=1.4)),
    "apln unbounded": ("apln", Model(bounded=False, norm_init=1.3)),
    "apln direct": ("apln", Model(reformulate=False, norm_init=1.3)),
}
HAZARDS = {("apln", "nonnegative")}  # powers of numbers below 0: an ablation of the paper that exists to fail


def unlisted() -> Iterator[tuple[str, tuple[str, Model]]]:
    """The other values of a pooling's switches and choices, one at a time, where no variant above has them: a new pooling
    with options is tested by being in the table."""
    hints = get_type_hints(Model)
    for name, pooling in POOLINGS.items():
        for option in set(pooling.options) - {hazard for owner, hazard in HAZARDS if owner == name}:
            known = {getattr(config, option) for pooling_name, config in LISTED.values() if pooling_name == name}
            values = get_args(hints[option]) if get_origin(hints[option]) is Literal else (True, False)
            if hints[option] is bool or get_origin(hints[option]) is Literal:
                usual = getattr(Model().filled(), option)
                for value in set(values) - known - {usual}:
                    yield f"{name} {option}={value}", (name, replace(Model(), **{option: value}))


VARIANTS = {**LISTED, **dict(sorted(unlisted()))}
DIRECTIONS = (1, 2)


def make(variant: str, directions: int = 1, dtype: torch.dtype = torch.float64) -> Pooling:
    torch.manual_seed(0)
    name, config = VARIANTS[variant]
    pooling = POOLINGS[name].configured(D, directions, config)
    with torch.no_grad():  # parameters that start at zero (predictor, centres) would hide their gradients
        for parameter in pooling.parameters():
            if parameter.ndim:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return pooling.to(dtype).eval()


def make_states(rows: int = 4, length: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.rand(rows, length, D, generator=generator, dtype=torch.float64) * 2 - 0.7


@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_are_shares_of_real_tokens(variant: str, directions: int) -> None:
    pooled = make(variant, directions)(make_states(), MASK)
    assert pooled.vector.shape == (4, D)
    assert (pooled.weights >= 0).all()
    assert (pooled.weights[~MASK] == 0).all()
    assert (pooled.scores[~MASK] == 0).all()
    torch.testing.assert_close(pooled.weights.sum(1), MASK.any(1).double(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_without_tokens_gives_zeros(variant: str) -> None:
    pooled = make(variant)(make_states(), MASK)
    for part in (pooled.vector, pooled.weights, pooled.scores):
        assert (part[3] == 0).all()
    empty = make(variant)(make_states(), torch.zeros_like(MASK))
    assert (empty.vector == 0).all()
    assert (empty.weights == 0).all()


@pytest.mark.parametrize(("variant", "directions"), [*((variant, 1) for variant in VARIANTS), ("last", 2)])
def test_a_row_without_tokens_gives_zeros_even_for_nan(variant: str, directions: int) -> None:
    """PyTorch's transformer gives NaN for such a row."""
    states = make_states().masked_fill(~MASK.any(1)[:, None, None], torch.nan)
    pooled = make(variant, directions)(states, MASK)
    torch.testing.assert_close(pooled._asdict(), make(variant, directions)(make_states(), MASK)._asdict())
    assert (pooled.vector[3] == 0).all()


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize(("variant", "directions"), [*((variant, 1) for variant in VARIANTS), ("last", 2)])
def test_padding_may_be_nan_beside_real_tokens(variant: str, directions: int, bad: float) -> None:
    zeroed, spoiled = (make_states().masked_fill(~MASK.unsqueeze(-1), value) for value in (0.0, bad))
    pooling = make(variant, directions)
    torch.testing.assert_close(pooling(spoiled, MASK)._asdict(), pooling(zeroed, MASK)._asdict(), rtol=0, atol=0)
    if pooling.attends:
        weights = pooling(zeroed, MASK).weights
        assert torch.equal(pooling.mix(spoiled, weights, MASK), pooling.mix(zeroed, weights, MASK))


@pytest.mark.parametrize("variant", VARIANTS)
def test_nan_in_a_real_token_stays_visible(variant: str) -> None:
    states = make_states()
    states[0, 1] = torch.nan
    vector = make(variant)(states, MASK).vector
    assert not vector[0].isfinite().all() or variant.startswith("last"), "the last token is another one"
    assert vector[1:].isfinite().all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_and_length_may_be_zero(variant: str) -> None:
    for rows, length in ((0, 5), (3, 0), (0, 0), (3, 1)):
        states = make_states(3, 5)[:rows, :length].requires_grad_()
        pooled = make(variant)(states, torch.ones(rows, length, dtype=torch.bool))
        assert pooled.vector.shape == (rows, D)
        assert pooled.weights.shape == pooled.scores.shape == (rows, length)
        assert length or (pooled.vector == 0).all()
        assert all(term.isfinite() for term in pooled.terms.values())
        pooled.vector.sum().backward()


@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_other_rows_and_their_order_change_nothing(variant: str, directions: int) -> None:
    pooling, states = make(variant, directions), make_states()
    whole = pooling(states, MASK)
    wide_states = torch.cat((states, torch.full((4, 3, D), 7.0, dtype=torch.float64)), 1)  # noise on padding
    wide = pooling(wide_states, nn.functional.pad(MASK, (0, 3)))
    torch.testing.assert_close(wide.vector, whole.vector, rtol=0, atol=1e-9)
    torch.testing.assert_close(wide.weights[:, :5], whole.weights, rtol=0, atol=1e-9)
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(pooling(states[order], MASK[order]).vector, whole.vector[order], rtol=0, atol=1e-9)
    for row, length in enumerate(MASK.sum(1).tolist()):
        alone = pooling(states[row : row + 1, : max(length, 1)], MASK[row : row + 1, : max(length, 1)])
        torch.testing.assert_close(alone.vector[0], whole.vector[row], rtol=0, atol=1e-9)


@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_may_be_on_either_side(variant: str, directions: int) -> None:
    pooling, states = make(variant, directions), make_states()
    behind = pooling(states, MASK)
    for row, length in enumerate(MASK.sum(1).tolist()):
        shift = 5 - length
        before = pooling(states[row : row + 1].roll(shift, 1), MASK[row : row + 1].roll(shift, 1))
        torch.testing.assert_close(before.vector[0], behind.vector[row], rtol=0, atol=1e-9)
        torch.testing.assert_close(before.weights[0], behind.weights[row].roll(shift), rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_integer_masks_are_accepted_and_float_masks_rejected(variant: str) -> None:
    pooling, states = make(variant), make_states()
    boolean, integer = pooling(states, MASK), pooling(states, MASK.long())
    assert torch.equal(integer.vector, boolean.vector)
    assert torch.equal(integer.weights, boolean.weights)
    with pytest.raises(InputError, match=r"mask: expected bool .* got torch.float64"):
        pooling(states, MASK.double())


@pytest.mark.parametrize(
    ("states", "mask"),
    [((2, 3, 5, D), (2, 3, 5)), ((5, D), (5,)), ((4, 5, D), (4, 4)), ((4, 5, D), (1, 5)), ((4, 5, D), (4, 5, 1))],
)
@pytest.mark.parametrize("name", POOLINGS)
def test_other_shapes_are_rejected(name: str, states: tuple[int, ...], mask: tuple[int, ...]) -> None:
    with pytest.raises(InputError) as refused:
        make(name)(torch.zeros(states, dtype=torch.float64), torch.ones(mask, dtype=torch.bool))
    assert f"expected states (N, L, D) and a mask (N, L), got states {states} and mask {mask}" in str(refused.value)


@pytest.mark.parametrize("name", POOLINGS)
def test_states_that_are_not_floats_and_missing_masks_are_rejected(name: str) -> None:
    pooling, states, no_mask = make(name), make_states(), cast(Any, None)
    for kind in (torch.int64, torch.complex128):
        with pytest.raises(InputError, match=rf"states: expected floating-point numbers, got {kind}"):
            pooling(states.to(kind), MASK)
    with pytest.raises(
        InputError, match=r"mask: expected a tensor \(N, L\), all True if there is no padding, got None"
    ):
        pooling(states, no_mask)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "last"])
def test_order_of_tokens_changes_nothing(variant: str) -> None:
    pooling, states = make(variant), make_states()
    order = torch.tensor([4, 2, 0, 1, 3])
    original, shuffled = pooling(states[:1], MASK[:1]), pooling(states[:1, order], MASK[:1])
    torch.testing.assert_close(shuffled.vector, original.vector, rtol=0, atol=1e-9)
    torch.testing.assert_close(shuffled.weights, original.weights[:, order], rtol=0, atol=1e-9)


@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_equal_finite_differences(variant: str, directions: int) -> None:
    """With respect to states and every parameter, including the norm."""
    pooling = make(variant, directions)
    # away from the kinks: no element near 0 or 1 after weighting, no ties
    states = make_states() if variant != "apln direct" else make_states().abs() + 0.1
    names = [name for name, _ in pooling.named_parameters()]

    def vector(states: Tensor, *parameters: Tensor) -> Tensor:
        pooled = torch.func.functional_call(pooling, dict(zip(names, parameters, strict=True)), (states, MASK))
        return torch.cat((pooled.vector, pooled.weights), 1) if variant.startswith(("att", "apln")) else pooled.vector

    inputs = [states.requires_grad_(), *(p.detach().clone().requires_grad_() for p in pooling.parameters())]
    assert torch.autograd.gradcheck(vector, inputs, eps=1e-7, atol=1e-5, rtol=1e-4)


EVERY_FORM = [*((variant, 1) for variant in VARIANTS), ("last", 2)]  # only `last` depends on the directions


@pytest.mark.parametrize(("variant", "directions"), EVERY_FORM)
def test_an_exported_pooling_accepts_other_rows_and_lengths(variant: str, directions: int) -> None:
    pooling, states = make(variant, directions), make_states(3, 7)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 1]]).bool()
    free = {0: torch.export.Dim("rows"), 1: torch.export.Dim("length")}
    exported = torch.export.export(pooling, (make_states(), MASK), dynamic_shapes=(free, free)).module()
    torch.testing.assert_close(exported(states, mask)._asdict(), pooling(states, mask)._asdict())


@pytest.mark.filterwarnings(
    "ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"
)  # raised by torch itself
@pytest.mark.parametrize(("variant", "directions"), EVERY_FORM)
def test_a_compiled_pooling_is_one_graph(variant: str, directions: int) -> None:
    pooling = make(variant, directions)
    torch.compiler.reset()
    compiled = torch.compile(pooling, fullgraph=True, dynamic=True, backend="eager")
    torch.testing.assert_close(compiled(make_states(), MASK)._asdict(), pooling(make_states(), MASK)._asdict())


@pytest.mark.parametrize("variant", VARIANTS)
def test_vmap_over_rows_equals_a_batch(variant: str) -> None:
    pooling, states = make(variant), make_states().abs() + 0.1

    def total(states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        vector = pooling(states.unsqueeze(0), mask.unsqueeze(0)).vector.squeeze(0)
        return vector.sum(), vector

    by_row, vectors = torch.func.vmap(torch.func.grad(total, has_aux=True))(states, MASK)
    whole = pooling(states.requires_grad_(), MASK).vector
    torch.testing.assert_close(vectors, whole.detach())
    torch.testing.assert_close(by_row, torch.autograd.grad(whole.sum(), states)[0])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_copy_gives_the_same_and_outputs_can_be_copied(variant: str) -> None:
    pooling = make(variant)
    with torch.no_grad():
        pooled = copy.deepcopy(pooling)(make_states(), MASK)
        torch.testing.assert_close(copy.deepcopy(pooled)._asdict(), pooling(make_states(), MASK)._asdict())


@pytest.mark.parametrize("name", [name for name, pooling in POOLINGS.items() if not pooling.compresses])
def test_the_empty_terms_are_immutable(name: str) -> None:
    """All poolings share one object."""
    terms: Any = make(name)(make_states(), MASK).terms
    with pytest.raises(TypeError):
        terms["mine"] = torch.zeros(())
    assert not terms


SAFE = [
    name for name in VARIANTS if name not in ("apln direct", "apln unbounded")
]  # those two exist to show the hazard
NORMS = (0.05, 0.3, 1.0, 2.0, 8.0, 64.0)
PRECISIONS = {"float32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def hard_states(precision: str) -> Tensor:
    """Zeros, tiny and huge values of both signs among ordinary ones."""
    huge = {"float32": 1e36, "bf16": 1e36, "fp16": 6.5e4}[
        precision
    ]  # gradients sum D of them and must not overflow either
    states = torch.randn(4, 5, D)
    states[0, 0] = 0
    states[0, 1] = huge
    states[1, 0] = -huge
    states[1, 1] = 1e-30
    states[2, 0] = torch.tensor([0.0, huge, -huge, 1e-8, -1e-8, 1.0])
    states[0, 2:] = torch.tensor([1e-20, -1e-20, 0.0, 1e-7, 1.0, -1.0])
    return states


# without the normaliser r may be as large as N^(1/p), and without the root a slope as large as α^(−p): too large for float16
BEYOND_HALF = {("apln form=no_normaliser", "fp16"), ("apln form=no_root", "fp16")}


@pytest.mark.parametrize(
    ("variant", "precision"), [pair for pair in itertools.product(SAFE, PRECISIONS) if pair not in BEYOND_HALF]
)
def test_everything_stays_finite(variant: str, precision: str) -> None:
    for norm, all_zero in itertools.product(NORMS, (False, True)):
        pooling = with_norm(make(variant, dtype=torch.float32), norm)
        states = hard_states(precision) * (not all_zero)
        states = states.to(PRECISIONS[precision]).requires_grad_()
        with torch.autocast("cpu", PRECISIONS[precision], enabled=precision != "float32"):
            pooled = pooling(states, MASK)
        assert pooled.vector.isfinite().all(), (norm, all_zero)
        assert pooled.weights.isfinite().all(), (norm, all_zero)
        pooled.vector.sum().backward()
        assert states.grad is not None
        assert states.grad.isfinite().all(), (norm, all_zero)
        for name, parameter in pooling.named_parameters():
            assert parameter.grad is None or parameter.grad.isfinite().all(), (name, norm, all_zero)


def with_norm(pooling: Pooling, norm: float) -> Pooling:
    with torch.no_grad():
        for name, parameter in pooling.named_parameters():
            if name == "log_norm":
                parameter.fill_(norm).log_()
            elif name == "rho":  # norm_unit keeps its norm above 1
                parameter.fill_(max(norm, 1.05) - 1).expm1_().log_().nan_to_num_(posinf=norm - 1)
    return pooling
