"""One epoch of BiLSTM-attention on imdb: regard's loop compared with one that pads each random batch to its longest text.

    REGARD_DATA=… python benchmarks/bucketing.py [--texts 25000] [--save]

Model, optimizer, batch size and texts are the same; only the composition of batches differs. Padded positions are counted
along with the real words. Time drops by more than the number of positions does: wide batches also miss the caches.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
import torch
from figures import save_figures
from torch import nn

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.collate import collate, shuffled
from regard.data.labels import Labels
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import make_task
from regard.recorder import Silent
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fit_torch import encode_texts, learn_vocabulary
from regard.training.loop import EpochPlan
from regard.training.torch_engine import Texts, TorchEngine

RESULTS = Path(__file__).parent / "results" / "bucketing.json"
CONFIG = fill_defaults(
    Config().override({"encoder": "bilstm", "pooling": "attention", "hidden": 200, "task": "binary"}),
    DataSize(25_000, 7_000_000),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=25_000, help="number of training texts, evenly spaced")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    corpus = read(resolve("imdb", "train"), ReadOptions("text", "label")).examples
    examples = corpus[:: max(len(corpus) // arguments.texts, 1)][: arguments.texts]
    tokenizer, _ = learn_vocabulary(CONFIG, examples, Silent())
    task = make_task("binary", Labels.of(examples), "imdb")
    texts = encode_texts(tokenizer, task, examples, "imdb")
    words = sum(len(text.ids) for text in texts.indexed)

    def new_model() -> Classifier:
        torch.manual_seed(0)
        return build(CONFIG.model, len(tokenizer.vocabulary), task.out_dim, CONFIG.training.dropout)

    model = new_model()
    begin = time.perf_counter()
    engine = TorchEngine(model, task, texts, None, CONFIG.training)
    engine.begin_phase(0, Silent())
    (ours_loss,) = engine.run_epoch(EpochPlan(engine.phases[0], 1, 1), Silent(), None)
    ours = time.perf_counter() - begin
    print(f"regard: {ours:.1f} s, mean loss {ours_loss:.4f}", flush=True)

    model = new_model()
    begin = time.perf_counter()
    plain_loss = plain_epoch(model, task, texts)
    plain = time.perf_counter() - begin
    print(f"plain:  {plain:.1f} s, mean loss {plain_loss:.4f}", flush=True)

    row = {
        "texts": len(examples),
        "words": words,
        "places_regard": padded_positions(texts, shuffled(texts.indexed, CONFIG.training.batch_size, 0, 1)),
        "places_plain": padded_positions(texts, plain_batches(len(examples))),
        "seconds_regard": round(ours, 2),
        "seconds_plain": round(plain, 2),
        "times_faster": round(plain / ours, 2),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "threads_spin": os.environ.get("GOMP_SPINCOUNT", "OpenMP's default"),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    print(json.dumps(row, indent=1))
    if arguments.save:
        save_figures(RESULTS, row)


def plain_batches(count: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(count)
    size = CONFIG.training.batch_size
    return [order[start : start + size] for start in range(0, count, size)]


def plain_epoch(model: Classifier, task, texts: Texts) -> float:  # type: ignore[no-untyped-def]
    """What most training scripts do."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    total = 0.0
    for rows in plain_batches(len(texts.labels)):
        batch = collate([texts.indexed[row] for row in rows], 1, texts.labels[rows])
        loss = task.loss(model(batch).logits, batch.labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CONFIG.training.clip)
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(texts.labels)


def padded_positions(texts: Texts, batches: list[np.ndarray]) -> int:
    return sum(len(rows) * max(len(texts.indexed[row].ids) for row in rows) for rows in batches)


if __name__ == "__main__":
    main()
