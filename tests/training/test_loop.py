"""The training loop with PyTorch: one step by hand, best epoch, patience, divergence, checkpoints, and `fit`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.config import Config, Model, Training
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import Binary, Regression
from regard.recorder import Silent
from regard.records import Example
from regard.run_metrics import EpochRecord
from regard.training import torch_engine
from regard.training.checkpoint import Checkpoint, Progress, read_checkpoint, write_checkpoint
from regard.training.fit import Parts, Run, fit
from regard.training.torch_engine import Texts, TorchEngine
from stopping import CASES, scripted
from torch_training import train_torch

TASK = Binary(("no", "yes"))
HISTORY: list[EpochRecord] = [
    {"epoch": 1, "loss": 0.7, "seconds": 1.5, "dev": {"accuracy": 0.1 + 0.2}},
    {"epoch": 2, "loss": 0.5, "seconds": 1.5, "dev": {"accuracy": 0.3}},
]
PLAIN = Training(
    optimizer="sgd",
    lr=0.5,
    dropout=0.0,
    clip=0.0,
    epochs=1,
    patience=3,
    batch_size=64,
    device="cpu",
    deterministic=True,
)
WORDS = [[2, 3], [4], [3, 4, 2], [5, 5]]
TEXTS = Texts([Indexed(np.array(ids, np.int32)) for ids in WORDS], np.array([0.0, 1.0, 0.0, 1.0]))


def make(**options: Any) -> Classifier:
    torch.manual_seed(3)
    return build(Model(embedding=4, hidden=4, query=4, **options), 6, 1)


def changed(config: Training, **options: Any) -> dict[str, torch.Tensor]:
    """The change of each weight in one epoch of a single batch."""
    model = make(**options)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    train_torch(model, TASK, TEXTS, None, config, Silent())
    return {name: value - before[name] for name, value in model.state_dict().items()}


def test_one_step_follows_the_gradient_of_the_mean_loss() -> None:
    model = make()
    TASK.loss(model(collate(TEXTS.indexed, 1)).logits, torch.from_numpy(TEXTS.labels)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(changed(PLAIN)[name], -0.5 * parameter.grad, rtol=1e-4, atol=1e-7)


def test_one_step_with_weights_follows_the_weighted_gradient() -> None:
    model, weights = make(), np.array([2.0, 0.5, 1.0, 0.5], dtype=np.float32)
    logits = model(collate(TEXTS.indexed, 1)).logits[:, 0]
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, torch.from_numpy(TEXTS.labels).float(), reduction="none"
    )
    (losses * torch.from_numpy(weights)).mean().backward()
    trained = make()
    train_torch(trained, TASK, TEXTS._replace(weights=weights), None, PLAIN, Silent())
    for (name, parameter), after in zip(model.named_parameters(), trained.parameters(), strict=True):
        assert parameter.grad is not None
        moved = after.detach() - parameter.detach()
        torch.testing.assert_close(moved, -0.5 * parameter.grad, rtol=1e-4, atol=1e-7, msg=name)


def test_gradient_of_the_penalty() -> None:
    """c (VᵀW)² moves V by −lr · 2c (VᵀW) W and W by −lr · 2c (VᵀW) V, in addition to the loss."""
    without, with_it = (changed(Training(**{**vars(PLAIN), "vtw": c}), attention="dot") for c in (0.0, 0.7))
    model = make(attention="dot")
    v, w = model.levels[0].pooling.scorer.query.detach(), model.head.weight.detach()[0]
    moved = {name: with_it[name] - without[name] for name in with_it}
    torch.testing.assert_close(moved["levels.0.pooling.scorer.query"], -0.5 * 2 * 0.7 * (v @ w) * w)
    torch.testing.assert_close(moved["head.weight"][0], -0.5 * 2 * 0.7 * (v @ w) * v)
    assert moved["embedding.weight"].abs().max() == 0


def test_gradient_of_the_mapped_penalty() -> None:
    """c p², p = WᵀMMᵀV, moves V by −lr · 2c p MMᵀW, W by −lr · 2c p MMᵀV and M by −lr · 2c p (W VᵀM + V WᵀM)."""
    options: dict[str, Any] = {"attention": "dot", "encoder": "affine"}
    without, with_it = (changed(Training(**{**vars(PLAIN), "vtw_mapped": c}), **options) for c in (0.0, 0.7))
    model = make(**options)
    v, w = model.levels[0].pooling.scorer.query.detach(), model.head.weight.detach()[0]
    m = model.levels[0].encoder.map.weight.detach()
    product = w @ m @ m.T @ v
    by_map = torch.outer(w, v @ m) + torch.outer(v, w @ m)
    moved = {name: with_it[name] - without[name] for name in with_it}
    for name, direction in (
        ("levels.0.pooling.scorer.query", m @ m.T @ w),
        ("head.weight", (m @ m.T @ v)[None]),
        ("levels.0.encoder.map.weight", by_map),
    ):
        torch.testing.assert_close(moved[name], -0.5 * 2 * 0.7 * product * direction, rtol=1e-3, atol=1e-7)
    assert moved["embedding.weight"].abs().max() == 0


def test_clip_limits_the_step() -> None:
    free, clipped = changed(PLAIN), changed(Training(**{**vars(PLAIN), "clip": 1e-3}))
    length = math.sqrt(sum(float(value.square().sum()) for value in clipped.values()))
    assert length == pytest.approx(0.5 * 1e-3, rel=1e-3)
    assert math.sqrt(sum(float(value.square().sum()) for value in free.values())) > length


def test_frozen_embeddings_do_not_change() -> None:
    moved = changed(PLAIN, freeze_embeddings=True)
    assert moved["embedding.weight"].abs().max() == 0
    assert moved["head.weight"].abs().max() > 0


def test_padding_stays_zero() -> None:
    assert changed(Training(**{**vars(PLAIN), "l2": 0.1}))["embedding.weight"][0].abs().max() == 0


@pytest.mark.parametrize(("accuracies", "patience", "best", "epochs"), CASES)
def test_best_epoch_and_patience(
    monkeypatch: pytest.MonkeyPatch, accuracies: list[float], patience: int, best: int, epochs: int
) -> None:
    config, model = Training(**{**vars(PLAIN), "epochs": 5, "patience": patience}), make()
    with monkeypatch.context() as patch:
        scripted(patch, torch_engine, accuracies)
        progress = train_torch(model, TASK, TEXTS, TEXTS, config, Silent())
    assert (progress.best_epoch, progress.epoch) == (best, epochs)
    # the weights are those of a run that ended with its best epoch
    other = make()
    train_torch(other, TASK, TEXTS, None, Training(**{**vars(PLAIN), "epochs": best}), Silent())
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in model.state_dict().items())
    assert not model.training


def test_without_dev_the_last_epoch_is_the_best() -> None:
    progress = train_torch(make(), TASK, TEXTS, None, Training(**{**vars(PLAIN), "epochs": 7, "patience": 1}), Silent())
    assert progress.best_epoch == progress.epoch == 7
    assert "dev" not in progress.history[0]
    assert progress.history[0]["train"]["accuracy"] >= 0


@pytest.mark.parametrize("rate", [1e9, 1e30])
@pytest.mark.parametrize("optimizer", ["adam", "amsgrad", "adagrad", "sgd"])
def test_divergence_is_reported(rate: float, optimizer: str) -> None:
    config = Training(**{**vars(PLAIN), "optimizer": optimizer, "lr": rate, "epochs": 20, "batch_size": 2})
    with pytest.raises(InputError, match=r"training diverged: .* try a smaller lr"):
        train_torch(make(), TASK, TEXTS, None, config, Silent())


@pytest.mark.parametrize("optimizer", ["adam", "amsgrad", "adagrad", "sgd"])
def test_every_optimizer_reduces_the_loss(optimizer: str) -> None:
    config = Training(**{**vars(PLAIN), "optimizer": optimizer, "lr": None, "epochs": 60, "batch_size": 2})
    progress = train_torch(make(), TASK, TEXTS, None, config, Silent())
    assert progress.history[-1]["loss"] < progress.history[0]["loss"]


def test_bf16_stays_finite() -> None:
    config = Training(**{**vars(PLAIN), "bf16": True})
    progress = train_torch(make(encoder="cnn", pooling="apln"), TASK, TEXTS, TEXTS, config, Silent())
    assert math.isfinite(progress.history[0]["loss"])


def test_a_checkpoint_restores_model_optimiser_and_history(tmp_path: Path) -> None:
    for name in ("adam", "amsgrad", "adagrad", "sgd"):
        model, config = make(), Training(**{**vars(PLAIN), "optimizer": name, "lr": 0.1})
        engine = TorchEngine(model, TASK, TEXTS, None, config)
        optimizer = engine.optimizers["training"].optimizer
        for _ in range(2):
            sum(parameter.square().sum() for parameter in model.parameters()).backward()  # type: ignore[union-attr]
            optimizer.step()
        progress = Progress(2, 1, {"w": np.ones(2)}, HISTORY)
        write_checkpoint(Checkpoint(tmp_path / name, "this run"), progress, engine.state())
        other = make()
        with torch.no_grad():
            other.head.weight.zero_()
        restored = TorchEngine(other, TASK, TEXTS, None, config)
        progress_read, arrays = read_checkpoint(Checkpoint(tmp_path / name, "this run"))
        restored.restore(arrays)
        assert not any(key.startswith("seen/") for key in arrays)
        assert (progress_read.epoch, progress_read.best_epoch, progress_read.history) == (2, 1, progress.history)
        assert np.array_equal(progress_read.best["w"], progress.best["w"])
        assert all(torch.equal(value, model.state_dict()[key]) for key, value in other.state_dict().items())
        states = (restored.optimizers["training"].optimizer.state_dict()["state"], optimizer.state_dict()["state"])
        assert states[0].keys() == states[1].keys()
        for number, state in states[1].items():
            assert state.keys() == states[0][number].keys()
            assert all(torch.equal(value, states[0][number][key]) for key, value in state.items())
        with pytest.raises(InputError, match="other options or texts"):
            read_checkpoint(Checkpoint(tmp_path / name, "another run"))


# fit


SMALL = {"embedding": 8, "query": 8, "min_count": 1, "device": "cpu", "lr": 0.05, "engine": "torch"}


def test_regression_predicts_in_the_unit_of_the_labels() -> None:
    """Labels far from 0 with a large spread: without normalisation, predictions would be far off."""
    examples = [Example(*pair) for pair in [("good film", 5200.0), ("bad film", 5000.0)] * 10]
    config = Config().override({**SMALL, "task": "regression", "epochs": 60, "patience": 0})
    trained = fit(config, Parts(examples))
    assert isinstance(trained.task, Regression)
    assert (trained.task.mean, trained.task.scale) == (5100, 100)
    good, bad = trained.answers(["good film", "bad film"])[:, 0]
    assert good == pytest.approx(5200, abs=30)
    assert bad == pytest.approx(5000, abs=30)
    assert trained.metrics["dev"]["rmse"] < 30
    assert trained.metrics["history"][0]["loss"] < 10, "the loss is of the normalised numbers"


def test_held_out_texts_are_not_trained_on() -> None:
    examples = [Example(f"word{row} film", str(row % 2), row) for row in range(20)]
    trained = fit(Config().override({**SMALL, "epochs": 1, "dev_fraction": 0.2}), Parts(examples))
    assert trained.metrics["texts"] == 16
    assert trained.metrics["dev"]["n"] == 4
    assert sum(f"word{row}" in trained.tokenizer.vocabulary for row in range(20)) == 16


def test_an_unknown_dev_label_is_refused() -> None:
    examples = [Example("good", "a", 1), Example("bad", "b", 2)]
    with pytest.raises(InputError, match="the dev texts, row 7: the label 'c' was not among"):
        fit(Config().override({**SMALL, "epochs": 1}), Parts(examples, [Example("odd", "c", 7)]))


@pytest.mark.parametrize("encoder", ["cnn", "embedding"])
def test_empty_parts_are_refused_before_training(encoder: str) -> None:
    config = Config().override({"encoder": encoder, "epochs": 1, "task": "binary"})
    examples = [Example(f"word{k % 2} {k}", "ab"[k % 2], k) for k in range(20)]
    with pytest.raises(InputError, match="the training texts: expected at least one, got none"):
        fit(config, Parts([]))
    with pytest.raises(InputError, match="the test texts: expected at least one, got none"):
        fit(config, Parts(examples, None, []))
    assert "dev" not in fit(config, Parts(examples, [])).metrics, "without dev texts the last epoch is the best"


def test_max_words_truncates_and_is_reported() -> None:
    notes: list[str] = []

    class Listener(Silent):
        def note(self, sentence: str) -> None:
            notes.append(sentence)

    examples = [Example("one two three four", "a"), Example("five six", "b")]
    trained = fit(Config().override({**SMALL, "epochs": 1, "max_words": 3}), Parts(examples), Run(Listener()))
    assert any("1 of 2 texts are longer than max_words = 3 words and were truncated" in note for note in notes)
    assert "four" not in trained.tokenizer.vocabulary
    assert len(trained.tokenizer.encode("one two three four five").ids) == 3
