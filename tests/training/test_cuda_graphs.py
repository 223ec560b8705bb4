"""Steps through CUDA graphs: on a GPU the same weights as ordinary steps, also with dropout; what follows without memory."""

from __future__ import annotations

from contextlib import nullcontext
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
from regard.training.cuda_graphs import GraphedStep, GraphPool, make_step
from regard.training.defaults import DataSize, fill_defaults
from regard.training.optimizers import make_optimizer
from regard.training.step import Step
from regard.training.torch_engine import Texts
from regard.values import Batch
from torch_training import train_torch

TASK = Binary(("no", "yes"))
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def make_texts(count: int, longest: int = 30, levels: int = 1) -> Texts:
    rng = np.random.default_rng(0)
    indexed = []
    for _ in range(count):
        lengths = rng.integers(1, longest + 1, 1 if levels == 1 else rng.integers(1, 9))
        shape = ((), (lengths,), (lengths, np.array([len(lengths)])))[levels - 1]
        indexed.append(Indexed(rng.integers(2, 50, lengths.sum()).astype(np.int32), shape))
    return Texts(indexed, np.array([float(text.ids[0] % 2) for text in indexed]))


def make_model(device: str = "cuda", dropout: float = 0.2, **options: Any) -> Classifier:
    torch.manual_seed(3)
    return build(Model(embedding=8, hidden=8, query=8, **options), 50, 1, dropout).to(device)


def test_steps_on_a_cpu_are_not_captured() -> None:
    model, options = make_model("cpu"), config(device="cpu")
    step = Step(model, TASK, options, make_optimizer(model.named_parameters(), options))
    assert make_step(step) is step


@pytest.fixture
def fake_graphs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Graphs on a CPU that take ordinary steps, and what happens to them."""
    events: list[str] = []

    class Captured:
        def __init__(self, step: Step, batch: Batch, pool: GraphPool) -> None:
            if events.count("captured") == 2:
                raise torch.OutOfMemoryError("no memory for a third graph")
            events.append("captured")
            self.step = step

        def __call__(self, batch: Batch) -> Tensor:
            events.append("replayed")
            return self.step(batch)

    monkeypatch.setattr(cuda_graphs, "CapturedStep", Captured)
    monkeypatch.setattr(cuda_graphs, "record_synchronisations", lambda: nullcontext([]))
    return events


def test_ordinary_steps_follow_when_a_graph_finds_no_memory(fake_graphs: list[str]) -> None:
    model, options = make_model("cpu", 0.0), config(device="cpu")
    take = GraphedStep(Step(model, TASK, options, make_optimizer(model.named_parameters(), options)))
    batches = [collate([Indexed(np.full(width, 2, dtype=np.int32))], 1, np.array([1.0])) for width in (8, 16, 24)]
    losses = [float(take(batch)) for _ in range(3) for batch in batches]
    assert fake_graphs == ["captured", "replayed", "captured", "replayed"]
    assert take.cannot_capture
    assert not take.graphs
    assert losses == sorted(losses, reverse=True)  # every step trained


@pytest.mark.parametrize("after", ["gradients", "update"])
def test_a_step_without_memory_is_taken_again_without_graphs(fake_graphs: list[str], after: str) -> None:
    """Unless some weights have changed already: then a second step would change them twice."""
    model, options = make_model("cpu"), config(device="cpu", optimizer="sgd", lr=0.1)
    optimizer = make_optimizer(model.named_parameters(), options)
    failures: list[str] = []

    class Failing(Step):
        def __call__(self, batch: Batch, share: float = 1.0) -> Tensor:
            fails = batch.ids.size(1) == 16 and not failures
            if fails:
                failures.append(after)
                if after == "gradients":
                    raise torch.OutOfMemoryError("no memory")
            loss = super().__call__(batch, share)
            if fails:
                raise torch.OutOfMemoryError("no memory")
            return loss

    take = GraphedStep(Failing(model, TASK, options, optimizer))
    narrow, wide = (collate([Indexed(np.full(width, 2, dtype=np.int32))], 1, np.array([1.0])) for width in (8, 16))
    take(narrow)
    take(narrow)
    assert take.graphs
    if after == "gradients":
        take(wide)
        assert not take.graphs
        assert take.cannot_capture
    else:
        with pytest.raises(torch.OutOfMemoryError):
            take(wide)
    assert failures == [after]


def trained(
    monkeypatch: pytest.MonkeyPatch, plain: bool, texts: Texts, config: Training, **options: Any
) -> tuple[dict[str, Tensor], list[float], GraphedStep]:
    """The weights and losses of a run, and its step."""
    with monkeypatch.context() as patch:
        steps: list[GraphedStep] = []

        def make(step: Step, pool: GraphPool) -> GraphedStep:
            steps.append(GraphedStep(step, pool))
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
@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("pooling", ["attention", "apln"])
def test_several_levels_are_captured(monkeypatch: pytest.MonkeyPatch, levels: int, pooling: str) -> None:
    texts, options = make_texts(16 * 20 + 5, levels=levels), {"encoder": "bilstm", "pooling": pooling, "levels": levels}
    weights, losses, graphed = trained(monkeypatch, False, texts, config(), **options)
    assert graphed.graphs
    assert not graphed.cannot_capture
    other, others, _ = trained(monkeypatch, True, texts, config(), **options)
    assert losses == pytest.approx(others, rel=1e-5)
    for name, value in weights.items():
        torch.testing.assert_close(value, other[name], rtol=1e-4, atol=1e-5, msg=name)


@gpu
def test_phases_share_memory_also_if_the_graphs_of_one_are_dropped_before_the_next_are_captured() -> None:
    pool, texts, losses, used = GraphPool(), make_texts(64, 64), [], []
    model = make_model(encoder="bilstm")
    batch = collate(texts.indexed, 1, texts.labels)
    for _ in range(3):
        take = make_step(Step(model, TASK, config(), make_optimizer(model.named_parameters(), config())), pool)
        assert isinstance(take, GraphedStep)
        losses += [take(batch) for _ in range(3)]  # whose memory is still in use when the graphs are dropped
        assert len(take.graphs) == 1
        used.append(torch.cuda.memory_reserved())
        take.graphs.clear()
    assert used[2] == used[1]
    assert all(bool(loss.isfinite()) for loss in losses)


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
