"""Scores equal Captum's where it has the method: gradients, integrated gradients, ablation, and LIME on the same samples."""

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
from regard.explain.explainers import EXPLAINERS, is_fast
from regard.explain.reading import Reading, left, logits_of, read, to_words
from regard.explain.surrogate import WIDTH, draw
from regard.explain.targets import PREDICTED, explained
from regard.explain.word_scores import Attributed
from regard.models.trained import Trained

captum = pytest.importorskip("captum.attr", reason="Captum is not installed")

MODELS = ["embedding", "units", "affine", "cnn", "cnn-max", "bilstm", "apln", "bottleneck", "han", "han-apln", "three"]
NON_EMPTY = [text for text in TEXTS if text]
every_model = pytest.mark.parametrize("variant", MODELS)
every_task = pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
precisions = pytest.mark.parametrize("precision", ["float32", "float64"])


def make_in(variant: str, task: str, precision: str) -> Trained:
    trained = make(variant, task)
    trained.model.to(getattr(torch, precision))
    return trained


def by_captum(
    trained: Trained, ours: list[Attributed], method: Callable[..., Tensor]
) -> Iterator[np.ndarray[Any, Any]]:
    """Word scores from a Captum method, which gets the vectors of one text and the function to explain."""
    for one, reading in zip(ours, read(trained, NON_EMPTY), strict=True):
        batch = collate([reading.indexed], len(trained.model.levels))
        target = torch.tensor([one.target or 0])

        def value(embedded: Tensor, batch: Any = batch, target: Tensor = target) -> Tensor:
            ids, mask = (torch.cat([tensor] * len(embedded)) for tensor in (batch.ids, batch.mask))
            logits = trained.model(batch._replace(ids=ids, mask=mask), embedded).logits
            return explained(trained.task, logits, target.expand(len(embedded)))

        embedded = trained.model.embedding(batch.ids).detach().requires_grad_()
        yield to_words(reading, method(value, embedded).detach()[0][batch.mask[0]].double().numpy())


@precisions
@every_task
@every_model
def test_gradients_equal_saliency(variant: str, task: str, precision: str) -> None:
    trained = make_in(variant, task, precision)
    ours = attribute(trained, NON_EMPTY, "gradient")
    expected = by_captum(trained, ours, lambda f, x: captum.Saliency(f).attribute(x, abs=False).norm(dim=-1))
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one.scores, other, rtol=0, atol=1e-5)


@precisions
@every_task
@every_model
def test_gradients_times_inputs_equal_captums(variant: str, task: str, precision: str) -> None:
    trained = make_in(variant, task, precision)
    ours = attribute(trained, NON_EMPTY, "gradient_times_input")
    expected = by_captum(trained, ours, lambda f, x: captum.InputXGradient(f).attribute(x).sum(-1))
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one.scores, other, rtol=0, atol=1e-5)


@precisions
@every_task
@every_model
def test_integrated_gradients_equal_captums_with_its_convergence(variant: str, task: str, precision: str) -> None:
    trained = make_in(variant, task, precision)
    ours = attribute(trained, NON_EMPTY, "integrated_gradients", steps=12)
    errors: list[float] = []

    def integrate(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        total, delta = captum.IntegratedGradients(f).attribute(x, n_steps=12, return_convergence_delta=True)
        errors.append(float(delta))
        scores: Tensor = total.sum(-1)
        return scores

    for one, other in zip(ours, by_captum(trained, ours, integrate), strict=True):
        np.testing.assert_allclose(one.scores, other, rtol=0, atol=1e-5)
    assert [one.facts["convergence"] for one in ours] == pytest.approx(errors, abs=1e-5)


def without_words(trained: Trained, reading: Reading, target: int | None) -> Callable[[Tensor], Tensor]:
    """The explained value as a function of which words are kept: (versions, words) of 0 and 1 -> (versions,)"""

    def value(kept: Tensor) -> Tensor:
        logits = logits_of(trained, left(trained, reading, kept.numpy() > 0))
        return torch.from_numpy(explained(trained.task, logits, np.full(len(logits), target or 0)))

    return value


@every_task
@every_model
def test_leave_one_out_equals_feature_ablation_of_words(variant: str, task: str) -> None:
    trained = make(variant, task)
    readings = read(trained, NON_EMPTY)
    passes = EXPLAINERS["leave_one_out"].function(trained, readings, np.full(len(readings), PREDICTED))
    shown = attribute(trained, NON_EMPTY, "leave_one_out")  # of a flat model from its tables, which are float32
    for one, by_tables, reading in zip(passes, shown, readings, strict=True):
        ablation = captum.FeatureAblation(without_words(trained, reading, one.target))
        expected = ablation.attribute(torch.ones(1, reading.words, dtype=torch.float64))
        np.testing.assert_allclose(one.scores, expected[0].numpy(), rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            by_tables.scores, one.scores, rtol=0, atol=2e-5 if is_fast(trained, "leave_one_out") else 0
        )


@pytest.mark.parametrize("variant", ["units", "cnn", "han"])
def test_the_surrogate_equals_lime_on_the_same_samples(variant: str) -> None:
    from captum._utils.models.linear_model import SkLearnRidge

    trained, samples = make(variant), 60
    for one, reading in zip(
        attribute(trained, NON_EMPTY[:3], "surrogate", samples=samples), read(trained, NON_EMPTY[:3]), strict=True
    ):
        kept_words = torch.from_numpy(draw(reading, samples, 0).astype(np.float64))

        def similarity(_: Tensor, __: Tensor, kept: Tensor, **___: Any) -> Tensor:
            distance = 1 - kept.mean().sqrt()  # to a text that has all words
            return (-((distance / WIDTH) ** 2)).exp().sqrt()

        def all_samples(_: Tensor, kept_words: Tensor = kept_words, **__: Any) -> Iterator[Tensor]:
            yield from kept_words.split(1)

        lime = captum.LimeBase(
            without_words(trained, reading, one.target),
            interpretable_model=SkLearnRidge(alpha=1.0),
            similarity_func=similarity,
            perturb_func=all_samples,
            perturb_interpretable_space=True,
            from_interp_rep_transform=lambda kept, *_, **__: kept,
            to_interp_rep_transform=None,
        )
        expected = lime.attribute(torch.ones(1, reading.words, dtype=torch.float64), n_samples=samples)
        np.testing.assert_allclose(one.scores, expected[0].double().numpy(), rtol=0, atol=1e-5)
