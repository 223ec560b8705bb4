"""Seeds trained together have the same gradients, losses, weights and predictions as trained alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.config import Config
from regard.data.collate import collate, shuffled, shuffled_together
from regard.data.tokenizer import Indexed
from regard.encoders import ENCODERS
from regard.errors import InputError
from regard.models.trained import Trained
from regard.poolings import POOLINGS
from regard.recorder import Silent
from regard.records import Example
from regard.training.fit import Parts, Run
from regard.training.fit_torch import make_inputs, make_model, prepare_torch
from regard.training.optimizers import make_optimizer
from regard.training.step import Step
from regard.training.torch_engine import Texts
from regard_lab.fit_stacked import fit_stacked, side_by_side
from regard_lab.stack import Stack, StackedStep, clip

SEEDS = (3, 8, 1)
GOOD, BAD = ("fine", "lovely", "great"), ("poor", "dull", "sad")
REST = ("the", "a", "film", "it", "was", "and", "of", "so", "in")


def make_examples(count: int, seed: int = 0, sentences: int = 1) -> list[Example]:
    """Sentences of one to twelve words, one of which decides."""
    rng = np.random.default_rng(seed)
    result = []
    for number in range(count):
        text = []
        for _ in range(rng.integers(1, sentences + 1)):
            words = list(rng.choice(REST, rng.integers(1, 12)))
            words.insert(rng.integers(len(words) + 1), rng.choice(GOOD if number % 2 else BAD))
            text.append(" ".join(words).capitalize() + ".")
        result.append(Example(" ".join(text), ("no", "yes")[number % 2], number + 1))
    return result


def options(**given: Any) -> Config:
    plain = {"engine": "torch", "embedding": 6, "hidden": 8, "query": 5, "epochs": 3, "batch_size": 8, "dropout": 0.0}
    return Config().override({**plain, "calibrate": False, "lr": 0.02, "device": "cpu", **given})


def parts(sentences: int = 1) -> Parts:
    return Parts(make_examples(50, 0, sentences), make_examples(20, 1, sentences), make_examples(30, 2, sentences))


def together(config: Config, parts: Parts) -> list[Trained]:
    result = fit_stacked(config, parts, SEEDS, Silent())
    assert all(isinstance(one, Trained) for one in result)
    return [one for one in result if isinstance(one, Trained)]


def same(result: Trained, alone: Trained) -> None:
    assert result.metrics["best_epoch"] == alone.metrics["best_epoch"]
    assert result.metrics["epochs"] == alone.metrics["epochs"]
    for ours, theirs in zip(result.metrics["history"], alone.metrics["history"], strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-5)
        assert ours["dev"] == pytest.approx(theirs["dev"], abs=1e-4)
        for name, norm in theirs["norms"].items():
            assert ours["norms"][name] == pytest.approx(norm, abs=1e-4)
        for name, scores in theirs["scores"].items():
            assert ours["scores"][name] == pytest.approx(scores, abs=1e-3)
    for name, weight in alone.weights.items():
        np.testing.assert_allclose(result.weights[name], weight, atol=2e-3, err_msg=name)
    assert result.metrics["test"]["accuracy"] == alone.metrics["test"]["accuracy"]
    assert result.config.training.seed == alone.config.training.seed


@pytest.mark.parametrize("pooling", ["attention", "apln", "max", "last"])
@pytest.mark.parametrize("encoder", ["embedding", "cnn", "bilstm", "bigru"])
def test_each_seed_ends_as_if_trained_alone(encoder: str, pooling: str) -> None:
    config = options(encoder=encoder, pooling=pooling)
    for seed, result in zip(SEEDS, together(config, parts()), strict=True):
        same(result, prepare_torch(config.override({"seed": seed}), parts(), Silent()).fit(Run()))


@pytest.mark.parametrize(
    "changed",
    [
        {"levels": 2},
        {"levels": 3, "optimizer": "sgd", "lr": 0.5},
        {"optimizer": "adagrad"},
        {"optimizer": "amsgrad"},
        {"optimizer": "sgd", "lr": 0.5},
    ],
)
def test_each_seed_ends_as_if_trained_alone_with_several_levels_and_other_steps(changed: dict[str, Any]) -> None:
    config, given = options(encoder="lstm", pooling="apln", **changed), parts(sentences=4)
    for seed, result in zip(SEEDS, together(config, given), strict=True):
        same(result, prepare_torch(config.override({"seed": seed}), given, Silent()).fit(Run()))


def test_each_seed_ends_as_if_trained_alone_with_regression_and_penalties() -> None:
    rated = Parts(
        *([Example(x.text, float(x.label == "yes") * 3 + 1, x.row) for x in part or ()] for part in parts()[:3])
    )
    config = options(task="regression", attention="dot", vtw=0.1, vtw_mapped=0.1, optimizer="adam", encoder="affine")
    for seed, result in zip(SEEDS, together(config, rated), strict=True):
        alone = prepare_torch(config.override({"seed": seed}), rated, Silent()).fit(Run())
        assert result.metrics["test"]["rmse"] == pytest.approx(alone.metrics["test"]["rmse"], abs=1e-4)


@pytest.mark.parametrize("pooling", [name for name, kind in POOLINGS.items() if not kind.reads_summary])
@pytest.mark.parametrize("encoder", [name for name, kind in ENCODERS.items() if not kind.summarises])
def test_the_first_gradients_equal_those_of_each_seed_alone(encoder: str, pooling: str) -> None:
    """In float64, with different texts per seed, one of them empty."""
    stack, singles, texts = stacked(encoder=encoder, pooling=pooling)
    rows = shuffled_together(texts.indexed, 8, SEEDS, 1)[0]
    stack.apply(side_by_side(texts, rows, 1), lambda output, _: output.logits.square().sum()).sum().backward()
    for index, (model, seed_rows) in enumerate(zip(singles, rows, strict=True)):
        model(collate([texts.indexed[row] for row in seed_rows], 1)).logits.square().sum().backward()
        for name, parameter in model.named_parameters():
            result = stack.weights[name].grad
            expected = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            torch.testing.assert_close(torch.zeros_like(expected) if result is None else result[index], expected)


def stacked(**given: Any) -> tuple[Stack, list[Any], Texts]:
    material = prepare_torch(options(**given), parts(), Silent())
    learned = make_inputs(material, Silent())
    models = [make_model(material, learned, seed).double().eval() for seed in SEEDS]
    singles = [make_model(material, learned, seed).double().eval() for seed in SEEDS]
    texts = Texts([Indexed(np.zeros(0, dtype=np.int32)), *learned.texts.indexed], np.r_[0.0, learned.texts.labels])
    return Stack(models, torch.device("cpu")), singles, texts


def test_gradients_are_clipped_per_seed() -> None:
    torch.manual_seed(0)
    weights = [torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 5, requires_grad=True)]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
        weight.grad[1] *= 0.001
    expected = []
    for seed in range(2):
        alone = [weight[seed].detach().clone().requires_grad_() for weight in weights]
        for parameter, weight in zip(alone, weights, strict=True):
            assert weight.grad is not None
            parameter.grad = weight.grad[seed].clone()
        torch.nn.utils.clip_grad_norm_(alone, 0.5)
        expected.append([parameter.grad for parameter in alone])
    clip(weights, 0.5)
    for seed in range(2):
        for weight, slope in zip(weights, expected[seed], strict=True):
            assert weight.grad is not None
            torch.testing.assert_close(weight.grad[seed], slope)


def test_stacked_batches_are_those_of_each_seed_alone_and_of_similar_length() -> None:
    rng = np.random.default_rng(0)
    texts = [Indexed(rng.integers(2, 9, size)) for size in rng.integers(1, 300, 1000)]
    result = shuffled_together(texts, 16, SEEDS, 4)
    for index, seed in enumerate(SEEDS):
        for rows, alone in zip(result, shuffled(texts, 16, seed, 4), strict=True):
            assert rows[index].tolist() == alone.tolist()
    longest = np.array([[max(len(texts[row].ids) for row in seed_rows) for seed_rows in rows] for rows in result])
    assert (longest.max(1) / longest.mean(1)).mean() < 1.1


def test_a_diverging_seed_is_reported_and_the_others_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed's weights are corrupted after its first step; the others must not be affected."""
    config, given = options(encoder="cnn", pooling="attention"), parts()
    plain = fit_stacked(config, given, SEEDS, Silent())
    step = StackedStep.__call__

    def spoiling(self: StackedStep, batch: Any) -> Tensor:
        losses = step(self, batch)
        with torch.no_grad():
            self.stack.weights["head.weight"][1] = torch.nan
        return losses

    monkeypatch.setattr(StackedStep, "__call__", spoiling)
    result = fit_stacked(config, given, SEEDS, Silent())
    assert isinstance(result[1], InputError)
    assert "diverged" in str(result[1])
    for index in (0, 2):
        ours, theirs = result[index], plain[index]
        assert isinstance(ours, Trained)
        assert isinstance(theirs, Trained)
        np.testing.assert_array_equal(ours.weights["head.weight"], theirs.weights["head.weight"])


def test_a_seed_that_is_over_keeps_its_best_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    config, given = options(encoder="embedding", epochs=12, patience=1, lr=0.1), parts()
    for seed, result in zip(SEEDS, together(config, given), strict=True):
        same(result, prepare_torch(config.override({"seed": seed}), given, Silent()).fit(Run()))


def test_the_recorder_gets_the_mean_of_the_seeds_still_running() -> None:
    ended: list[dict[str, Any]] = []

    class Watching(Silent):
        def end(self, record: Any) -> None:
            ended.append(record)

    config, given = options(encoder="cnn", pooling="apln", norm="sample", epochs=2), parts()
    result = [one for one in fit_stacked(config, given, SEEDS, Watching()) if isinstance(one, Trained)]
    assert [record["epoch"] for record in ended] == [1, 2]
    for number, record in enumerate(ended):
        records = [one.metrics["history"][number] for one in result]
        assert record["loss"] == pytest.approx(np.mean([each["loss"] for each in records]))
        assert record["dev"]["accuracy"] == pytest.approx(np.mean([each["dev"]["accuracy"] for each in records]))


gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@gpu
@pytest.mark.parametrize("pooling", ["attention", "apln", "max"])
@pytest.mark.parametrize("encoder", ["embedding", "cnn", "bilstm"])
def test_on_a_gpu_first_gradients_and_twenty_losses_agree(encoder: str, pooling: str) -> None:
    """In float32, dropout off: first-step gradients within 1e-5, the first 20 losses within 1e-4."""
    torch.backends.cudnn.rnn.fp32_precision = torch.backends.cudnn.conv.fp32_precision = "ieee"  # type: ignore[attr-defined]
    try:
        config = options(encoder=encoder, pooling=pooling, device="cuda", hidden=64, lr=0.001)
        material = prepare_torch(config, parts(), Silent())
        learned = make_inputs(material, Silent())
        training, task, texts = material.config.training, material.task, learned.texts
        stack = Stack([make_model(material, learned, seed) for seed in SEEDS], material.device)
        step = StackedStep(stack, task.loss, training, make_optimizer(stack.weights.items(), training))
        batches = [rows for epoch in range(1, 4) for rows in shuffled_together(texts.indexed, 8, SEEDS, epoch)][:20]
        losses, slopes = [], {}
        for rows in batches:
            losses.append(step(side_by_side(texts, rows, 1)).tolist())
            slopes = slopes or {
                name: weight.grad.clone() for name, weight in stack.weights.items() if weight.grad is not None
            }
        for index, seed in enumerate(SEEDS):
            model = make_model(material, learned, seed).to("cuda")
            alone = Step(model, task, training, make_optimizer(model.named_parameters(), training))
            for number, rows in enumerate(batches):
                loss = alone(collate([texts.indexed[row] for row in rows[index]], 1, texts.labels[rows[index]]))
                assert float(loss) == pytest.approx(losses[number][index], abs=1e-4)
                if number == 0:
                    for name, parameter in model.named_parameters():
                        if parameter.grad is not None:
                            torch.testing.assert_close(slopes[name][index], parameter.grad, atol=1e-5, rtol=0)
    finally:
        torch.backends.cudnn.rnn.fp32_precision = torch.backends.cudnn.conv.fp32_precision = "tf32"  # type: ignore[attr-defined]


@gpu
@pytest.mark.parametrize("levels", [1, 2])
def test_a_complete_run_learns_on_a_gpu(levels: int) -> None:
    config = options(encoder="bilstm", pooling="apln", device="cuda", levels=levels, epochs=15, dropout=0.2)
    for result in together(config, parts(sentences=3)):
        assert result.metrics["test"]["accuracy"] > 0.8
