"""The same numbers as Captum's, where it has the method: slopes, integrals, words left out, and LIME on the same draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from drawn_models import TEXTS, make
from torch import Tensor

from regard.data.collate import collate
from regard.explain.attribute import attribute
from regard.explain.erasure import left
from regard.explain.reading import Reading, logits_of, read, to_words
from regard.explain.surrogate import WIDTH, draw
from regard.explain.targets import explained
from regard.explain.word_scores import Attributed
from regard.models.trained import Trained

captum = pytest.importorskip("captum.attr", reason="Captum is not installed")

MODELS = ["embedding", "units", "affine", "cnn", "cnn-max", "bilstm", "apln", "bottleneck", "han", "han-apln", "three"]
SPOKEN = [text for text in TEXTS if text]
every_model = pytest.mark.parametrize("variant", MODELS)
every_task = pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
precisions = pytest.mark.parametrize("precision", ["float32", "float64"])


def made(variant: str, task: str, precision: str) -> Trained:
    trained = make(variant, task)
    trained.model.to(getattr(torch, precision))
    return trained


def by_captum(
    trained: Trained, ours: list[Attributed], method: Callable[..., Tensor]
) -> Iterator[np.ndarray[Any, Any]]:
    """The words' scores by a method of Captum's, which sees one text's vectors and the number that is explained."""
    for one, reading in zip(ours, read(trained, SPOKEN), strict=True):
        batch = collate([reading.indexed], len(trained.model.levels))
        target = torch.tensor([one.target or 0])

        def value(embedded: Tensor, batch: Any = batch, target: Tensor = target) -> Tensor:
            ids, mask = (torch.cat([given] * len(embedded)) for given in (batch.ids, batch.mask))
            logits = trained.model(batch._replace(ids=ids, mask=mask), embedded).logits
            return explained(trained.task, logits, target.expand(len(embedded)))

        embedded = trained.model.embedding(batch.ids).detach().requires_grad_()
        yield to_words(reading, method(value, embedded).detach()[0][batch.mask[0]].double().numpy())


@precisions
@every_task
@every_model
def test_gradients_are_saliency(variant: str, task: str, precision: str) -> None:
    trained = made(variant, task, precision)
    ours = attribute(trained, SPOKEN, "gradient")
    given = by_captum(trained, ours, lambda f, x: captum.Saliency(f).attribute(x, abs=False).norm(dim=-1))
    for one, other in zip(ours, given, strict=True):
        np.testing.assert_allclose(one.scores, other, rtol=0, atol=1e-5)


@precisions
@every_task
@every_model
def test_gradients_times_inputs_are_captums(variant: str, task: str, precision: str) -> None:
    trained = made(variant, task, precision)
    ours = attribute(trained, SPOKEN, "gradient_times_input")
    given = by_captum(trained, ours, lambda f, x: captum.InputXGradient(f).attribute(x).sum(-1))
    for one, other in zip(ours, given, strict=True):
        np.testing.assert_allclose(one.scores, other, rtol=0, atol=1e-5)


@precisions
@every_task
@every_model
def test_integrated_gradients_are_captums_with_its_convergence(variant: str, task: str, precision: str) -> None:
    trained = made(variant, task, precision)
    ours = attribute(trained, SPOKEN, "integrated_gradients", steps=12)
    missed: list[float] = []

    def integrate(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        total, delta = captum.IntegratedGradients(f).attribute(x, n_steps=12, return_convergence_delta=True)
        missed.append(float(delta))
        found: Tensor = total.sum(-1)
        return found

    for one, other in zip(ours, by_captum(trained, ours, integrate), strict=True):
        np.testing.assert_allclose(one.scores, other, rtol=0, atol=1e-5)
    assert [one.facts["convergence"] for one in ours] == pytest.approx(missed, abs=1e-5)


def without_words(trained: Trained, reading: Reading, target: int | None) -> Callable[[Tensor], Tensor]:
    """What is explained as a function of which words are there: (versions, words) of 0 and 1 -> (versions,)"""

    def value(kept: Tensor) -> Tensor:
        logits = logits_of(trained, left(trained, reading, kept.numpy() > 0))
        return torch.from_numpy(explained(trained.task, logits, np.full(len(logits), target or 0)))

    return value


@every_task
@every_model
def test_leave_one_out_is_feature_ablation_of_words(variant: str, task: str) -> None:
    trained = make(variant, task)
    for one, reading in zip(attribute(trained, SPOKEN, "leave_one_out"), read(trained, SPOKEN), strict=True):
        ablation = captum.FeatureAblation(without_words(trained, reading, one.target))
        given = ablation.attribute(torch.ones(1, reading.words, dtype=torch.float64))
        np.testing.assert_allclose(one.scores, given[0].numpy(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", ["units", "cnn", "han"])
def test_the_surrogate_is_lime_on_the_same_draws(variant: str) -> None:
    from captum._utils.models.linear_model import SkLearnRidge

    trained, samples = make(variant), 60
    for one, reading in zip(
        attribute(trained, SPOKEN[:3], "surrogate", samples=samples), read(trained, SPOKEN[:3]), strict=True
    ):
        drawn = torch.from_numpy(draw(reading, samples, 0).astype(np.float64))

        def near(_: Tensor, __: Tensor, kept: Tensor, **___: Any) -> Tensor:
            distance = 1 - kept.mean().sqrt()  # to a text that has all words
            return (-((distance / WIDTH) ** 2)).exp().sqrt()

        def all_drawn(_: Tensor, drawn: Tensor = drawn, **__: Any) -> Iterator[Tensor]:
            yield from drawn.split(1)

        lime = captum.LimeBase(
            without_words(trained, reading, one.target),
            interpretable_model=SkLearnRidge(alpha=1.0),
            similarity_func=near,
            perturb_func=all_drawn,
            perturb_interpretable_space=True,
            from_interp_rep_transform=lambda kept, *_, **__: kept,
            to_interp_rep_transform=None,
        )
        given = lime.attribute(torch.ones(1, reading.words, dtype=torch.float64), n_samples=samples)
        np.testing.assert_allclose(one.scores, given[0].double().numpy(), rtol=0, atol=1e-5)
