"""Norms of poolings with a separate learning rate."""

from __future__ import annotations

import pytest
import torch
from torch import nn, optim

from regard.config import Config
from regard.poolings.apln import APLN
from regard.poolings.norm_unit import NormUnit
from regard.training.optimizers import make_optimizer, norms_of, parameter_groups

NORMS = (*APLN.norm_parameters, *NormUnit.norm_parameters)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.ModuleDict({"words": APLN(3, query=2, norm="sample"), "sentences": NormUnit(3), "head": nn.Linear(3, 1)})


def test_norms_are_those_that_poolings_declare() -> None:
    named = dict(model().named_parameters())
    norms = norms_of(named.items())
    assert {name.rpartition(".")[2] for name, value in named.items() if any(value is norm for norm in norms)} == set(
        NORMS
    )
    assert len(norms) == 3


def test_one_group_by_default() -> None:
    built = model()
    (group,) = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 1)
    assert group["lr"] == 0.1
    assert [id(value) for value in group["params"]] == [id(value) for value in built.parameters()]


def test_norms_have_their_own_rate_and_groups_are_disjoint() -> None:
    built = model()
    others, norms = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 10)
    assert (others["lr"], norms["lr"]) == (0.1, pytest.approx(1.0))
    assert len(norms["params"]) == 3
    all_weights = [id(value) for value in (*others["params"], *norms["params"])]
    assert sorted(all_weights) == sorted(id(value) for value in built.parameters())


def test_a_factor_of_zero_trains_all_but_the_norms() -> None:
    built = model()
    before = {name: value.detach().clone() for name, value in built.named_parameters()}
    groups = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 0)
    optimizer = optim.Adam(groups, weight_decay=0.1)
    sum(value.sin().sum() for value in built.parameters()).backward()  # type: ignore[union-attr]
    optimizer.step()
    for name, value in built.named_parameters():
        assert torch.equal(value, before[name]) is (name.rpartition(".")[2] in NORMS), name


def test_frozen_weights_are_in_no_group() -> None:
    built = model()
    for name, parameter in built.named_parameters():
        parameter.requires_grad_(not name.startswith("head") and not name.endswith("rho"))
    groups = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 2)
    assert [len(group["params"]) for group in groups] == [len(list(built.parameters())) - 3 - 2, 2]


@pytest.mark.parametrize(("name", "square"), [("adam", 0.001 * 0.999), ("amsgrad", 0.001)])
def test_amsgrad_keeps_the_largest_mean_square(name: str, square: float) -> None:
    """Gradients 1 and 0, lr 1. The first step is 1 for both. Then the mean gradient is 0.9 · 0.1 / (1 − 0.9²) = 0.09 / 0.19, and
    the mean square falls from 0.001 to 0.000999, which AMSGrad does not take part in; both over 1 − 0.999² = 0.001999."""
    weight = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = make_optimizer([("w", weight)], Config().override({"optimizer": name, "lr": 1.0}).training)
    for gradient in (1.0, 0.0):
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
    second = (0.09 / 0.19) / (square / 0.001999) ** 0.5
    assert weight.item() == pytest.approx(-1 - second, rel=1e-6)
