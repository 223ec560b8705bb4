"""Steps through CUDA graphs: widths of batches; on a GPU the same weights as ordinary steps, also with dropout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.config import Config, Model, Training
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import Binary
from regard.recorder import Silent
from regard.training import cuda_graphs, torch_engine
from regard.training.cuda_graphs import GraphedStep, make_step, padded, padded_width
from regard.training.defaults import DataSize, fill_defaults
from regard.training.optimizers import make_optimizer
from regard.training.step import Step
from regard.training.torch_engine import Texts
from torch_training import train_torch

TASK = Binary(("no", "yes"))
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def make_texts(count: int, longest: int = 30, levels: int = 1) -> Texts:
    rng = np.random.default_rng(0)
    indexed = []
    for _ in range(count):
        ids = rng.integers(2, 50, rng.integers(1, longest + 1)).astype(np.int32)
        shape = () if levels == 1 else (np.array([len(ids)]),)
        indexed.append(Indexed(ids, shape))
    return Texts(indexed, np.array([float(text.ids[0] % 2) for text in indexed]))


def make_model(device: str = "cuda", dropout: float = 0.2, **options: Any) -> Classifier:
    torch.manual_seed(3)
    return build(Model(embedding=8, hidden=8, query=8, **options), 50, 1, dropout).to(device)


@pytest.mark.parametrize(
    ("longest", "expected"),
    [(1, 8), (8, 8), (9, 16), (40, 40), (64, 64), (65, 72), (129, 144), (256, 256), (257, 288), (2000, 2048)],
)
def test_widths(longest: int, expected: int) -> None:
    assert padded_width(longest) == expected


def test_there_are_few_widths_with_little_padding() -> None:
    assert len({padded_width(longest) for longest in range(1, 2049)}) <= cuda_graphs.MAX_GRAPHS
    assert max(padded_width(longest) / longest for longest in range(64, 10_000)) < 1.125


def test_padding_does_not_change_the_logits() -> None:
    texts = [Indexed(np.arange(2, 2 + count, dtype=np.int32)) for count in (9, 4, 1, 0)]
    batch, model = collate(texts, 1), make_model("cpu", encoder="bilstm").eval()
    wide = padded(batch)
    assert wide.ids.shape == (4, 16)
    torch.testing.assert_close(model(wide).logits, model(batch).logits)


def test_steps_on_a_cpu_are_not_captured() -> None:
    model, options = make_model("cpu"), config(device="cpu")
    step = Step(model, TASK, options, make_optimizer(model.named_parameters(), options))
    assert make_step(step) is step


def trained(
    monkeypatch: pytest.MonkeyPatch, plain: bool, texts: Texts, config: Training, **options: Any
) -> tuple[dict[str, Tensor], list[float], GraphedStep]:
    """The weights and losses of a run, and its step."""
    with monkeypatch.context() as patch:
        steps: list[GraphedStep] = []

        def make(step: Step) -> GraphedStep:
            steps.append(GraphedStep(step))
            steps[0].cannot_capture = plain
            return steps[0]

        patch.setattr(torch_engine, "make_step", make)
        model = make_model(**options)
        progress = train_torch(model, TASK, texts, None, config, Silent())
    return model.state_dict(), [record["loss"] for record in progress.history], steps[0]


def config(**options: Any) -> Training:
    values = {"epochs": 3, "batch_size": 16, "device": "cuda", "engine": "torch", **options}
    return fill_defaults(Config(training=Training(**values)), DataSize(320, 5000)).training


@gpu
@pytest.mark.parametrize("optimizer", ["adam", "amsgrad", "adagrad", "sgd"])
@pytest.mark.parametrize("encoder", ["embedding", "affine", "cnn", "lstm", "bilstm"])
def test_graphs_and_ordinary_steps_give_the_same_weights(
    monkeypatch: pytest.MonkeyPatch, encoder: str, optimizer: str
) -> None:
    """With dropout, and with batches that are not full."""
    texts, options = make_texts(16 * 20 + 5), {"encoder": encoder}
    weights, losses, graphed = trained(monkeypatch, False, texts, config(optimizer=optimizer), **options)
    assert graphed.graphs
    assert not graphed.cannot_capture
    other, others, _ = trained(monkeypatch, True, texts, config(optimizer=optimizer), **options)
    assert losses == pytest.approx(others, rel=1e-5)
    for name, value in weights.items():
        torch.testing.assert_close(
            value, other[name], rtol=1e-4, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}"
        )
    again, _, _ = trained(monkeypatch, False, texts, config(optimizer=optimizer), **options)
    assert all(torch.equal(value, again[name]) for name, value in weights.items()), "same seed, same weights"


@gpu
@pytest.mark.parametrize("pooling", ["average", "max", "last", "attention", "apln", "norm_unit", "bottleneck"])
@pytest.mark.parametrize("bf16", [False, True])
def test_every_pooling_can_be_captured(monkeypatch: pytest.MonkeyPatch, pooling: str, bf16: bool) -> None:
    _, losses, graphed = trained(
        monkeypatch, False, make_texts(16 * 20), config(bf16=bf16), pooling=pooling, encoder="cnn"
    )
    _, others, _ = trained(monkeypatch, True, make_texts(16 * 20), config(bf16=bf16), pooling=pooling, encoder="cnn")
    assert graphed.graphs
    assert losses == pytest.approx(others, rel=1e-4)


@gpu
@pytest.mark.parametrize("optimizer", ["adam", "amsgrad", "adagrad", "sgd"])
def test_a_resumed_run_has_the_same_weights(tmp_path: Path, optimizer: str) -> None:
    texts, models = make_texts(16 * 20 + 5), (make_model(encoder="bilstm"), make_model(encoder="bilstm"))
    train_torch(models[0], TASK, texts, None, config(optimizer=optimizer), Silent())
    path = tmp_path / "checkpoint"
    train_torch(models[1], TASK, texts, None, config(optimizer=optimizer, epochs=1), Silent(), path)
    models = (models[0], make_model(encoder="bilstm"))
    train_torch(models[1], TASK, texts, None, config(optimizer=optimizer), Silent(), path)
    for name, value in models[0].state_dict().items():
        assert torch.equal(value, models[1].state_dict()[name]), name


@gpu
def test_several_levels_are_not_captured() -> None:
    model = make_model(levels=2)
    step = Step(model, TASK, config(), make_optimizer(model.named_parameters(), config()))
    assert make_step(step) is step


@gpu
def test_a_model_that_waits_for_the_gpu_is_not_captured() -> None:
    class Waiting(torch.nn.Dropout):
        def forward(self, values: Tensor) -> Tensor:
            return super().forward(values) if float(values.detach().sum()) < 1e30 else values

    model, texts = make_model(), make_texts(16)
    model.dropout = Waiting(0.2)
    take = make_step(Step(model, TASK, config(), make_optimizer(model.named_parameters(), config())))
    assert isinstance(take, GraphedStep)
    for _ in range(4):
        take(collate(texts.indexed, 1, texts.labels))
    assert take.cannot_capture
    assert not take.graphs


@gpu
def test_frozen_embeddings_do_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_model(freeze_embeddings=True).state_dict()["embedding.weight"].clone()
    weights, _, graphed = trained(monkeypatch, False, make_texts(16 * 20), config(), freeze_embeddings=True)
    assert graphed.graphs
    assert torch.equal(weights["embedding.weight"], before)


@gpu
def test_the_number_of_graphs_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graphs, "MAX_GRAPHS", 2)
    _, _, graphed = trained(monkeypatch, False, make_texts(16 * 20), config())
    assert len(graphed.graphs) == 2


@gpu
def test_divergence_is_reported() -> None:
    with pytest.raises(InputError, match=r"training diverged: .* try a smaller lr"):
        train_torch(make_model(), TASK, make_texts(16 * 20), None, config(lr=1e30, epochs=20), Silent())
