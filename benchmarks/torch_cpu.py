"""One epoch of a PyTorch model on the CPU, on imdb: regard's loop beside one that pads each random batch to its longest text.

    REGARD_DATA=… python benchmarks/torch_cpu.py [bilstm han] [--texts 2500] [--no-compile] [--save]

Model, optimizer, batch size and texts are the same. Then regard's loop with bf16 autocast and with `torch.compile`, each after an
epoch that is not timed, because compiling takes longer than it. Padded positions are counted along with the real words. Time
drops by more than the number of positions does: wide batches also miss the caches. `--save` writes results/torch_cpu.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from figures import machine, save_figures, source_commit
from torch import nn

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.collate import collate, shuffled
from regard.data.labels import Labels
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import Task, make_task
from regard.recorder import Silent
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fit_torch import encode_texts, learn_vocabulary
from regard.training.loop import EpochPlan
from regard.training.torch_engine import Texts, TorchEngine
from regard.values import Batch, Groups

RESULTS = Path(__file__).parent / "results" / "torch_cpu.json"
MODELS = {
    "bilstm": {"encoder": "bilstm", "pooling": "attention", "hidden": 200},
    "han": {"encoder": "bilstm", "pooling": "attention", "hidden": 200, "levels": 2},
}
SEEN = 5  # batches before the clock starts


def measure(name: str, count: int, with_compile: bool) -> dict[str, Any]:
    corpus = read(resolve("imdb", "train"), ReadOptions("text", "label")).examples
    examples = corpus[:: max(len(corpus) // count, 1)][:count]
    size = DataSize(len(examples), 280 * len(examples))
    config = fill_defaults(Config().override({**MODELS[name], "task": "binary", "device": "cpu"}), size)
    tokenizer, _ = learn_vocabulary(config, examples, Silent())
    task = make_task("binary", Labels.of(examples), "imdb")
    texts, levels = encode_texts(tokenizer, task, examples, "imdb"), config.model.levels
    batch_size, clip = config.training.batch_size, config.training.clip
    assert batch_size is not None
    assert clip is not None

    def new_model() -> Classifier:
        torch.manual_seed(0)
        return build(config.model, len(tokenizer.vocabulary), task.out_dim, config.training.dropout)

    def regard_epoch(bf16: bool = False, compiled: bool = False, warm: bool = False) -> float:
        model = new_model()
        if compiled:
            model.forward = torch.compile(model.forward, dynamic=True)  # type: ignore[method-assign]
        engine = TorchEngine(model, task, texts, None, replace(config.training, bf16=bf16))
        engine.begin_phase(0, Silent())
        if warm:
            engine.run_epoch(EpochPlan(engine.phases[0], 1, 1), Silent(), None)
        begin = time.perf_counter()
        engine.run_epoch(EpochPlan(engine.phases[0], 1, 1), Silent(), None)
        return time.perf_counter() - begin

    ours, plain = shuffled(texts.indexed, batch_size, 0, 1), plain_batches(len(examples), batch_size)
    runs: dict[str, Callable[[], float]] = {
        "plain": lambda: plain_epoch(new_model(), task, texts, plain, levels, clip),
        "regard": regard_epoch,
        "regard, bf16": lambda: regard_epoch(bf16=True, warm=True),
    }
    if with_compile:
        runs["regard, torch.compile"] = lambda: regard_epoch(compiled=True, warm=True)
    plain_epoch(new_model(), task, texts, plain[:SEEN], levels, clip)  # libraries are loaded
    row: dict[str, Any] = {
        "texts": len(examples),
        "words": int(sum(collate([text], levels).mask.sum() for text in texts.indexed)),
        "positions": {"plain": positions(texts, plain, levels), "regard": positions(texts, ours, levels)},
        "seconds": {},
    }
    for system, run in runs.items():
        row["seconds"][system] = round(run(), 2)
        print(f"{name}, {system}: {row['seconds'][system]} s", flush=True)
    row["times_faster"] = round(row["seconds"]["plain"] / row["seconds"]["regard"], 2)
    return row | {"threads": torch.get_num_threads(), "machine": machine("torch"), "commit": source_commit()}


def plain_batches(count: int, size: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(count)
    return [order[start : start + size] for start in range(0, count, size)]


def plain_epoch(
    model: Classifier, task: Task, texts: Texts, batches: Sequence[np.ndarray], levels: int, clip: float
) -> float:
    """What most training scripts do: with sentences, the words of all of them in one tensor, also of missing ones."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    begin = time.perf_counter()
    for rows in batches:
        batch = collate([texts.indexed[row] for row in rows], levels, texts.labels[rows])
        loss = task.loss(model(batch._replace(groups=whole(batch))).logits, batch.labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return time.perf_counter() - begin


def whole(batch: Batch) -> tuple[Groups, ...]:
    """All rows below the top level as one group of full width."""
    mask = batch.mask
    if mask.ndim == 2:
        return ()
    return (((torch.arange(mask.size(0) * mask.size(1)), mask.size(2)),),)


def positions(texts: Texts, batches: Sequence[np.ndarray], levels: int) -> int:
    """Of padded tensors of words, before regard leaves out the padding of sentences."""
    return sum(collate([texts.indexed[row] for row in rows], levels).mask.numel() for rows in batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=[*MODELS], metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--texts", type=int, default=2500, help="number of training texts, evenly spaced")
    parser.add_argument("--no-compile", action="store_true", help="leave out torch.compile, which needs a C++ compiler")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    for name in arguments.models:
        row = measure(name, arguments.texts, not arguments.no_compile)
        print(json.dumps(row, indent=1))
        if arguments.save:
            save_figures(RESULTS, {f"{name}, {arguments.texts:,} texts": row})


if __name__ == "__main__":
    main()
