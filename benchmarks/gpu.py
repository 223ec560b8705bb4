"""One GPU: the fused APLN pooling compared with the memory-bandwidth limit, and training steps with and without CUDA graphs.

    PYTHONPATH=src python benchmarks/gpu.py [--save]

Pooling: forward and backward of 256 texts of 512 words and 768 features, relative to the time of three passes over the states
(one read forward, one read and one write backward; a device copy is two passes). Ragged texts have 128 to 512 words; their
passes are those of the real words. Times are of replayed graphs, as in training; called from Python, the two launches of the
fused form take longer than its work. Errors are relative norms of float32 gradients against the plain form in float64.

Steps: BiLSTM-attention, 300 and 2 × 200 wide, 50,000 words, Adam. "before" is regard's loop before graphs: an eager step,
reversed texts differentiated by autograd, new memory filled with zeros. "plain" is the current step without graphs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from figures import gpu_machine, save_figures
from torch import Tensor
from torch.nn import functional
from triton.testing import do_bench

from regard.config import Config
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.encoders import lstm
from regard.kernels.attended_power_mean import attended_power_mean
from regard.kernels.power_mean import power_mean
from regard.masking import at_least_float32, reverse
from regard.models.build import build
from regard.models.device import choose_device
from regard.models.tasks import Binary
from regard.recorder import Silent
from regard.training.cuda_graphs import make_step
from regard.training.defaults import DataSize, fill_defaults
from regard.training.loop import EpochPlan
from regard.training.optimizers import make_optimizer
from regard.training.step import Step
from regard.training.torch_engine import StepRunner, Texts, TorchEngine
from regard.values import Batch

RESULTS = Path(__file__).parent / "results" / "gpu.json"
SHAPE = (256, 512, 768)
CONFIG = fill_defaults(
    Config().override({"encoder": "bilstm", "pooling": "attention", "embedding": 300, "hidden": 400, "device": "cuda"}),
    DataSize(100_000, 0),
)
WORDS, STEPS, EPOCHS = 50_000, 50, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    choose_device("cuda")
    figures: dict[str, Any] = {
        "pooling": {
            f"{name} {kind}": shown(pooling(dtype, kind == "ragged"), f"pooling, {name}, {kind}")
            for name, dtype in (("float32", torch.float32), ("bf16", torch.bfloat16))
            for kind in ("full", "ragged")
        },
        "gradient errors": {
            str(norm): shown(errors(norm), f"gradients, p = {norm}") for norm in (0.5, 1.0, 2.0, 8.0, 64.0)
        },
        "steps": {f"64 × {width}": shown(steps(width), f"steps, 64 × {width}") for width in (256, 40)},
        "machine": gpu_machine(),
    }
    print(json.dumps(figures["machine"]))
    if arguments.save:
        save_figures(RESULTS, figures)


def shown(row: dict[str, Any], name: str) -> dict[str, Any]:
    print(f"{name}: {json.dumps(row)}", flush=True)
    return row


def plain_form(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    scaled = functional.hardtanh(weights.unsqueeze(-1) * at_least_float32(states), 0, 1)
    return power_mean(scaled, weights, norm, mask)


def make_inputs(
    shape: tuple[int, int, int], dtype: torch.dtype, ragged: bool, norm: float
) -> tuple[list[Tensor], Tensor, Tensor]:
    """(states, weights, norm), mask, and a gradient for the backward pass."""
    rows, length, dim = shape
    torch.manual_seed(0)
    lengths = torch.full((rows,), length, device="cuda")
    if ragged:
        lengths = torch.randint(length // 4, length + 1, (rows,), device="cuda")
    mask = torch.arange(length, device="cuda") < lengths.unsqueeze(1)
    states = torch.randn(shape, device="cuda").to(dtype).requires_grad_()
    alpha = torch.randn(rows, length, device="cuda").masked_fill(~mask, -1e30).softmax(1).requires_grad_()
    return (
        [states, alpha, torch.tensor(norm, device="cuda", requires_grad=True)],
        mask,
        torch.randn(rows, dim, device="cuda"),
    )


def pooling(dtype: torch.dtype, ragged: bool) -> dict[str, Any]:
    inputs, mask, gradient = make_inputs(SHAPE, dtype, ragged, 0.9)
    size = inputs[0].numel() * inputs[0].element_size()
    share = float(mask.float().mean())
    passes = three_passes(inputs[0].detach())

    def both(form: Callable[..., Tensor]) -> Callable[[], None]:
        def run() -> None:
            for value in inputs:
                value.grad = None
            form(*inputs, mask).backward(gradient)

        return run

    fused, eager = milliseconds(both(attended_power_mean)), milliseconds(both(plain_form))
    row = {
        "three_passes_ms": round(passes, 4),
        "fused_ms": round(fused, 4),
        "eager_ms": round(eager, 4),
        "fused_called_from_python_ms": round(do_bench(both(attended_power_mean), return_mode="median"), 4),
        "fused_over_three_passes": round(fused / passes, 3),
        "eager_over_three_passes": round(eager / passes, 3),
        "eager_over_fused": round(eager / fused, 2),
        "fused_extra_memory_share": round(extra_memory(both(attended_power_mean), inputs) / size, 4),
        "eager_extra_memory_share": round(extra_memory(both(plain_form), inputs) / size, 4),
    }
    if ragged:  # two reads of the real words and a write of every position: the zero gradient of padding is written too
        row["real_share"] = round(share, 3)
        row["fused_over_passes_of_real_words"] = round(fused / (passes * share), 3)
        row["fused_over_needed_passes"] = round(fused / (passes * (2 * share + 1) / 3), 3)
    return row


def three_passes(states: Tensor) -> float:
    target = torch.empty_like(states)
    return 1.5 * milliseconds(lambda: target.copy_(states))


def milliseconds(run: Callable[[], Any], repeats: int = 10) -> float:
    """GPU time of replayed graphs, as in training. The data are several times larger than the caches."""
    current, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        run()
        run()
    current.wait_stream(side)
    graph, times = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            run()
    graph.replay()
    for _ in range(9):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / repeats)
    return statistics.median(times)


def extra_memory(run: Callable[[], None], inputs: list[Tensor]) -> int:
    """Peak bytes beyond the states and their gradient."""
    for value in inputs:
        value.grad = None
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before - inputs[0].numel() * inputs[0].element_size()


def errors(norm: float) -> dict[str, float]:
    """‖float32 − float64‖ / ‖float64‖ of the gradients of states, weights and p: fused form and plain form."""
    inputs, mask, gradient = make_inputs((64, *SHAPE[1:]), torch.float32, True, norm)
    exact = [value.detach().double().requires_grad_() for value in inputs]
    plain_form(*exact, mask).backward(gradient.double())
    row = {}
    for name, form in (("fused", attended_power_mean), ("eager", plain_form)):
        for value in inputs:
            value.grad = None
        form(*inputs, mask).backward(gradient)
        for part, value, other in zip(("states", "weights", "p"), inputs, exact, strict=True):
            assert value.grad is not None
            assert other.grad is not None
            row[f"{name}_{part}"] = float(f"{(value.grad - other.grad).norm() / other.grad.norm():.2e}")
    # cancellation: how much larger the terms of p's gradient, each rounded, are than their sum
    per_feature = torch.full((SHAPE[2],), norm, device="cuda", dtype=torch.float64, requires_grad=True)
    plain_form(exact[0].detach(), exact[1].detach(), per_feature, mask).backward(gradient.double())
    assert per_feature.grad is not None
    row["p_terms_over_sum"] = round(float(per_feature.grad.abs().sum() / per_feature.grad.sum().abs()), 1)
    return row


@contextmanager
def without_speedups() -> Iterator[None]:
    """The settings that made steps slower before graphs were introduced."""
    reverse_rows = lstm.reverse_rows
    lstm.reverse_rows = reverse
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    try:
        yield
    finally:
        lstm.reverse_rows = reverse_rows
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def steps(width: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    indexed = [Indexed(rng.integers(2, WORDS, width).astype(np.int32)) for _ in range(64 * STEPS)]
    texts = Texts(indexed, np.array([float(text.ids[0] % 2) for text in indexed]))
    with without_speedups():
        before = rate(texts, lambda step: step)
    plain, graphs = rate(texts, lambda step: step), rate(texts, make_step)
    row: dict[str, Any] = {
        "before_steps_a_second": round(before, 1),
        "plain_steps_a_second": round(plain, 1),
        "graphs_steps_a_second": round(graphs, 1),
        "graphs_over_before": round(graphs / before, 2),
        "graphs_over_plain": round(graphs / plain, 2),
    }
    for dropout in (0.0, 0.2):
        with without_speedups():
            old = curve(texts, lambda step: step, dropout)
        new = curve(texts, make_step, dropout)
        row[f"largest_loss_difference_dropout_{dropout}"] = float((old - new).abs().max())
        row[f"first_and_last_loss_dropout_{dropout}"] = [round(float(new[0]), 4), round(float(new[-1]), 4)]
    return row


def make(dropout: float) -> Step:
    torch.manual_seed(0)
    model = build(CONFIG.model, WORDS, 1, dropout).to("cuda")
    return Step(
        model, Binary(("no", "yes")), CONFIG.training, make_optimizer(model.named_parameters(), CONFIG.training)
    )


def rate(texts: Texts, wrap: Callable[[Step], Callable[[Batch], Tensor]]) -> float:
    """Steps per second over whole epochs: the median after a warm-up epoch."""
    step = make(CONFIG.training.dropout)
    engine = TorchEngine(step.model, step.task, texts, None, CONFIG.training)
    phase, seconds = engine.phases[0], []
    engine.runners[phase.name] = StepRunner(wrap(step), None)
    for epoch in range(1, EPOCHS + 2):
        torch.cuda.synchronize()
        started = time.perf_counter()
        engine.run_epoch(EpochPlan(phase, epoch, epoch), Silent(), None)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return STEPS / statistics.median(seconds[1:])


def curve(texts: Texts, wrap: Callable[[Step], Callable[[Batch], Tensor]], dropout: float) -> Tensor:
    """The loss of every step in two passes over the texts."""
    step = make(dropout)
    take, losses = wrap(step), []
    step.model.train()
    torch.manual_seed(1)
    for start in [*range(0, 64 * STEPS, 64)] * 2:
        batch = collate(texts.indexed[start : start + 64], 1, texts.labels[start : start + 64])
        losses.append(take(batch).clone())
    return torch.stack(losses).cpu()


if __name__ == "__main__":
    main()
