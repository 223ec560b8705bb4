"""Ten seeds trained together on one GPU compared with one: time per step, and numerical differences from training each alone.

    PYTHONPATH=src python benchmarks/stacked.py [--save]

Times are of whole epochs of equally long texts (including collating and copying), the median after a warm-up epoch. "plain" is
one model with eager steps, "graphs" one model as regard trains it, "stacked" ten at once. Differences are measured in float32
(no TF32 on either side), without dropout, each of the ten against a model trained alone: the gradients of the first step, and
the losses of the first twenty steps. The BiLSTM at 64 × 256 and 64 × 40 is 300 and 2 × 200 wide over 50,000 words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from figures import gpu_machine, save_figures
from torch import Tensor

from regard.config import Config
from regard.data.collate import collate, shuffled, shuffled_together
from regard.data.tokenizer import Indexed
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.device import choose_device
from regard.models.tasks import Binary
from regard.training.cuda_graphs import make_step
from regard.training.defaults import DataSize, fill_defaults
from regard.training.optimizers import make_optimizer
from regard.training.step import Step
from regard.training.torch_engine import Texts
from regard_lab.fit_stacked import side_by_side
from regard_lab.stack import Stack, StackedStep

RESULTS = Path(__file__).parent / "results" / "stacked.json"
SEEDS, WORDS, STEPS, EPOCHS, TASK = range(10), 50_000, 30, 3, Binary(("no", "yes"))
CELLS: dict[str, tuple[int, dict[str, Any]]] = {
    "BiLSTM-attention, 64 × 256": (256, {"encoder": "bilstm"}),
    "BiLSTM-attention, 64 × 40": (40, {"encoder": "bilstm"}),
    "BiLSTM-APLN, 64 × 256": (256, {"encoder": "bilstm", "pooling": "apln"}),
    "CNN-APLN, 64 × 40": (40, {"encoder": "cnn", "pooling": "apln"}),
    "HAN, 64 × 8 sentences of 32": (256, {"encoder": "bilstm", "levels": 2}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    parser.add_argument("--only", default="", help="only cells whose name contains this")
    arguments = parser.parse_args()
    choose_device("cuda")
    figures: dict[str, Any] = {}
    for name, (width, options) in CELLS.items():
        if arguments.only in name:
            figures[name] = {**times(width, options), **differences(width, options)}
            print(name, json.dumps(figures[name]), flush=True)
    figures["machine"] = gpu_machine()
    print(json.dumps(figures["machine"]))
    if arguments.save:
        save_figures(RESULTS, figures)


def configured(options: dict[str, Any]) -> Config:
    return fill_defaults(
        Config().override({"embedding": 300, "hidden": 400, "pooling": "attention", "device": "cuda", **options}),
        DataSize(100_000, 0),
    )


def make_texts(width: int, levels: int, count: int) -> Texts:
    rng = np.random.default_rng(0)
    ids = rng.integers(2, WORDS, (count, width)).astype(np.int32)
    shape = (np.full(width // 32, 32),) if levels == 2 else ()
    return Texts([Indexed(row, shape) for row in ids], (ids[:, 0] % 2).astype(np.float64))


def make_model(config: Config, seed: int, dropout: float) -> Classifier:
    torch.manual_seed(seed)
    return build(config.model, WORDS, 1, dropout)


def alone(config: Config, seed: int = 0, dropout: float = 0.2) -> Step:
    model = make_model(config, seed, dropout).to("cuda")
    return Step(model, TASK, config.training, make_optimizer(model.named_parameters(), config.training))


def together(config: Config, dropout: float = 0.2) -> StackedStep:
    stack = Stack([make_model(config, seed, dropout) for seed in SEEDS], torch.device("cuda"))
    return StackedStep(stack, TASK.loss, config.training, make_optimizer(stack.weights.items(), config.training))


def times(width: int, options: dict[str, Any]) -> dict[str, float]:
    config = configured(options)
    texts = make_texts(width, config.model.levels, 64 * STEPS)

    def one(take: Callable[..., Tensor]) -> Callable[[int], None]:
        def epoch(number: int) -> None:
            for rows in shuffled(texts.indexed, 64, 0, number):
                take(collate([texts.indexed[row] for row in rows], config.model.levels, texts.labels[rows]))

        return epoch

    def ten(take: Callable[..., Tensor]) -> Callable[[int], None]:
        def epoch(number: int) -> None:
            for rows in shuffled_together(texts.indexed, 64, SEEDS, number):
                take(side_by_side(texts, rows, config.model.levels))

        return epoch

    plain, graphs = milliseconds(one(alone(config))), milliseconds(one(make_step(alone(config))))
    stacked = milliseconds(ten(make_step(together(config))))
    return {
        "plain_ms": round(plain, 2),
        "graphs_ms": round(graphs, 2),
        "ten_stacked_ms": round(stacked, 2),
        "ten_over_one_plain": round(stacked / plain, 2),
        "ten_over_one_with_graphs": round(stacked / graphs, 2),
    }


def milliseconds(epoch: Callable[[int], None]) -> float:
    seconds = []
    for number in range(1, EPOCHS + 2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        epoch(number)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:]) / STEPS * 1000


def differences(width: int, options: dict[str, Any]) -> dict[str, float]:
    """The largest differences over ten seeds: of the first gradients (also relative to the largest), and of twenty losses."""
    precise: Any = torch.backends.cudnn
    precise.rnn.fp32_precision = precise.conv.fp32_precision = "ieee"
    try:
        config = configured(options)
        config = replace(config, training=replace(config.training, clip=0.0))
        texts = make_texts(width, config.model.levels, 64 * 20)
        batches = shuffled_together(texts.indexed, 64, SEEDS, 1)
        stacked, losses, gradients = together(config, 0.0), [], {}
        for rows in batches:
            losses.append(stacked(side_by_side(texts, rows, config.model.levels)).clone())
            gradients = gradients or {name: weight.grad.clone() for name, weight in stacked.stack.weights.items()}  # type: ignore[union-attr]
        largest, relative, curve = 0.0, 0.0, 0.0
        for index, seed in enumerate(SEEDS):
            step = alone(config, seed, 0.0)
            for number, rows in enumerate(batches):
                batch = [texts.indexed[row] for row in rows[index]]
                loss = step(collate(batch, config.model.levels, texts.labels[rows[index]]))
                curve = max(curve, float((loss - losses[number][index]).abs()))
                if number == 0:
                    for name, weight in step.model.named_parameters():
                        assert weight.grad is not None
                        difference = float((weight.grad - gradients[name][index]).abs().max())
                        largest = max(largest, difference)
                        relative = max(relative, difference / float(weight.grad.abs().max()))
        return {
            "first_gradients_apart": float(f"{largest:.1e}"),
            "first_gradients_apart_of_largest": float(f"{relative:.1e}"),
            "twenty_losses_apart": float(f"{curve:.1e}"),
        }
    finally:
        precise.rnn.fp32_precision = precise.conv.fp32_precision = "tf32"


if __name__ == "__main__":
    main()
