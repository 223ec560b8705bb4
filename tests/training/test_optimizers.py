"""The norms of poolings at a learning rate of their own."""

from __future__ import annotations

import pytest
import torch
from torch import nn, optim

from regard.poolings.apln import APLN
from regard.poolings.norm_unit import NormUnit
from regard.training.optimizers import norms_of, parameter_groups

NORMS = (*APLN.norm_parameters, *NormUnit.norm_parameters)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.ModuleDict({"words": APLN(3, query=2, norm="sample"), "sentences": NormUnit(3), "head": nn.Linear(3, 1)})


def test_every_name_of_a_norm_is_one_that_a_pooling_has() -> None:
    named = dict(model().named_parameters())
    found = norms_of(named.items())
    assert {name.rpartition(".")[2] for name, value in named.items() if any(value is norm for norm in found)} == set(
        NORMS
    )
    assert len(found) == 3


def test_all_go_at_one_rate_unless_asked() -> None:
    built = model()
    (one,) = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 1)
    assert one["lr"] == 0.1
    assert [id(value) for value in one["params"]] == [id(value) for value in built.parameters()]


def test_norms_go_at_their_own_rate_and_nothing_is_in_two_groups() -> None:
    built = model()
    others, norms = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 10)
    assert (others["lr"], norms["lr"]) == (0.1, pytest.approx(1.0))
    assert len(norms["params"]) == 3
    together = [id(value) for value in (*others["params"], *norms["params"])]
    assert sorted(together) == sorted(id(value) for value in built.parameters())


def test_at_factor_zero_the_norms_stay_and_the_rest_moves() -> None:
    built = model()
    before = {name: value.detach().clone() for name, value in built.named_parameters()}
    apart = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 0)
    optimizer = optim.Adam(apart, weight_decay=0.1)
    sum(value.sin().sum() for value in built.parameters()).backward()  # type: ignore[union-attr]
    optimizer.step()
    for name, value in built.named_parameters():
        assert torch.equal(value, before[name]) is (name.rpartition(".")[2] in NORMS), name


def test_what_is_frozen_is_in_no_group() -> None:
    built = model()
    for name, parameter in built.named_parameters():
        parameter.requires_grad_(not name.startswith("head") and not name.endswith("rho"))
    found = parameter_groups(built.parameters(), norms_of(built.named_parameters()), 0.1, 2)
    assert [len(group["params"]) for group in found] == [len(list(built.parameters())) - 3 - 2, 2]
