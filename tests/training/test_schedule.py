"""Phases as data: what each trains, their order, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from regard.config import Model, Training
from regard.errors import InputError
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.training.optimizers import make_phase_optimizers, set_module_modes, set_trainable
from regard.training.schedule import Phase, schedule

PLAIN = Training(optimizer="adam", lr=0.01, epochs=7, patience=2, batch_size=4)
ROUNDS = replace(PLAIN, rounds=2, beta=0.3, phase_epochs=4)


def make(levels: int = 1, **options: Any) -> Classifier:
    pooling = ",".join(["attention"] * (levels - 1) + ["bottleneck"])
    values = {"pooling": pooling, "encoder": "lstm", "embedding": 4, "hidden": 4, "query": 4, **options}
    return build(Model(levels=levels, **values), 6, 1, dropout=0.5)


def trained(phase: Phase, model: Classifier) -> set[str]:
    return {name for name, _ in model.named_parameters() if phase.updates(name)}


def test_ordinary_training_is_one_phase() -> None:
    (phase,) = schedule(Training(**{**vars(PLAIN), "vtw": 0.5}), 1)
    assert (phase.epochs, phase.patience, phase.terms["vtw"], phase.lr) == (7, 2, 0.5, None)
    assert (phase.title, phase.facts, phase.head) == ("", {}, "label")
    model = make()
    assert trained(phase, model) == set(dict(model.named_parameters()))


def test_rounds_follow_round_0() -> None:
    phases = schedule(ROUNDS, 1)
    assert [phase.title for phase in phases] == [
        "round 0/2 · attention",
        "round 1/2 · learner",
        "round 1/2 · compressor",
        "round 2/2 · learner",
        "round 2/2 · compressor",
    ]
    assert [(phase.epochs, phase.patience) for phase in phases] == [(7, 2)] + [(4, 0)] * 4
    assert [phase.head for phase in phases] == ["label", "label", "compressed", "label", "compressed"]
    assert [dict(phase.terms) for phase in phases] == [{}, {}, {"kl": 0.3}, {}, {"kl": 0.3}]
    assert [phase.starts_from_best for phase in phases] == [False, True, False, False, False]
    assert [phase.may_be_best for phase in phases] == [True, False, True, False, True]
    assert phases[3].facts == {"round": 2, "phase": "learner"}


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_learner_and_compressor_train_disjoint_weights(levels: int) -> None:
    """Every weight is trained by exactly one of them; round 0 trains all but the bottleneck."""
    model = make(levels)
    start, learner, compressor = (trained(phase, model) for phase in schedule(ROUNDS, levels)[:3])
    names = set(dict(model.named_parameters()))
    top = f"levels.{levels - 1}.pooling."
    assert compressor == {name for name in names if name.startswith((top, "other_heads."))}
    assert learner == names - compressor
    attention = {name for name in names if name.startswith(f"{top}scorer.")}
    assert start == learner | attention
    assert {"embedding.weight", "head.out.weight", "levels.0.encoder.forwards.weight_ih_l0"} < learner
    if levels > 1:
        assert "levels.0.pooling.scorer.query" in learner, "attention below the top level is part of its input"


def test_only_trained_modules_are_in_training_mode() -> None:
    """A frozen encoder has no dropout: neither inside, nor on word vectors, nor on its states."""
    model = make()
    _, learner, compressor = schedule(ROUNDS, 1)[:3]
    set_module_modes(compressor, model)
    training = {name for name, module in model.named_modules() if module.training}
    assert training == {
        name for name in dict(model.named_modules()) if f"{name}.".startswith(("levels.0.pooling.", "other_heads."))
    }
    set_module_modes(learner, model)
    assert {name for name, module in model.named_modules() if not module.training} == training
    set_module_modes(schedule(PLAIN, 1)[0], model)
    assert all(module.training for module in model.modules())


def test_frozen_weights_stay_frozen_in_all_phases() -> None:
    model = make(freeze_embeddings=True)
    weights = dict(model.named_parameters())
    optimizers = make_phase_optimizers(schedule(ROUNDS, 1), weights, ROUNDS)
    assert optimizers.keys() == {"attention", "learner", "compressor"}
    for each in optimizers.values():
        assert "embedding.weight" not in each.names
        each.enter(weights)
        assert {name for name, weight in weights.items() if weight.requires_grad} == each.names
        updated = [weight for group in each.optimizer.param_groups for weight in group["params"]]
        assert {id(weight) for weight in updated} == {id(weights[name]) for name in each.names}


def test_gradients_of_another_phase_are_dropped() -> None:
    weight = torch.ones(2, requires_grad=True)
    weight.grad = torch.ones(2)
    set_trainable({"w": weight}, [])
    assert weight.grad is None
    assert not weight.requires_grad


def test_a_phase_may_have_its_own_learning_rate() -> None:
    weights, config = dict(make().named_parameters()), replace(ROUNDS, compressor_lr=0.2)
    optimizers = make_phase_optimizers(schedule(config, 1), weights, config)
    rates = {name: each.optimizer.param_groups[0]["lr"] for name, each in optimizers.items()}
    assert rates == {"attention": 0.01, "learner": 0.01, "compressor": 0.2}


@pytest.mark.parametrize(
    "phase", [Phase("idle", trains=("nothing.*",)), Phase("idle", freezes=("*",)), Phase("idle", trains=())]
)
def test_a_phase_that_trains_nothing_is_refused(phase: Phase) -> None:
    with pytest.raises(
        InputError, match=r"phase 'idle': expected patterns that match .*, got trains = .*, which match none"
    ):
        make_phase_optimizers([phase], dict(make().named_parameters()), PLAIN)


def test_a_phase_of_frozen_weights_is_refused() -> None:
    weights = dict(make(freeze_embeddings=True).named_parameters())
    with pytest.raises(InputError, match="which match none"):
        make_phase_optimizers([Phase("idle", trains=("embedding.*",))], weights, PLAIN)
