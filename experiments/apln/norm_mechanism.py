"""In which direction of p the pooled vector grows, before training, for the models of `apln/norm_form`.

    REGARD_DATA=… python experiments/apln/norm_mechanism.py          # about a minute

For LSTM and CNN on the four corpora and each form of equation 5: the derivative of the mean log ‖r‖ with respect to log p at the
initial weights of each seed, on 256 training texts. Written to norm_mechanism.json next to this file; docs/norms.md shows it
against log p after training.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch

from regard.data.collate import collate
from regard.recorder import Silent
from regard.training.fit_torch import environment, make_model, prepare_torch
from regard_lab.claims.formula import CORPORA, FORMS
from regard_lab.fit_stacked import EncodedCache
from regard_lab.kinds.norm_form import KEYS
from regard_lab.reading.locations import find_table
from regard_lab.tables.corpora import Corpora
from regard_lab.tables.table import Cell, training_config

HERE = Path(__file__).parent
TEXTS, SEEDS = 256, range(5)
NORM = "levels.0.pooling.log_norm"


def observe(cell: Cell, corpora: Corpora, cache: EncodedCache) -> list[float]:
    """d log ‖r‖ / d log p, by seed."""
    options = cell.without(KEYS).options
    parts = corpora.prepare(cell.corpus, options).parts
    prepared = prepare_torch(training_config(options, device="cpu"), parts, Silent())
    inputs, _ = cache.encode(prepared, Silent())
    batch = collate(inputs.texts.indexed[:TEXTS], 1, inputs.texts.labels[:TEXTS])
    slopes = []
    for seed in SEEDS:
        model = make_model(prepared, inputs, seed).eval()
        vector = model(batch).traces[0].pooled.vector  # (N, D)
        norm = dict(model.named_parameters())[NORM]
        (slope,) = torch.autograd.grad(vector.norm(dim=1).clamp(min=1e-12).log().mean(), norm)
        slopes.append(round(float(slope), 6))
    return slopes


def main() -> None:
    corpora, cache, results, start = Corpora(), EncodedCache(), {}, time.perf_counter()
    for cell in find_table("apln/norm_form").cells():
        encoder, _, form = cell.method.partition("-")
        if cell.corpus.name in CORPORA and encoder in ("lstm", "cnn") and form in FORMS:
            results[f"{cell.method}/{cell.corpus.name}"] = observe(cell, corpora, cache)
            print(cell.name, results[f"{cell.method}/{cell.corpus.name}"], flush=True)
    content = {
        "measure": "d log |r| / d log p at the initial weights, by seed",
        "texts": TEXTS,
        "environment": environment(torch.device("cpu")),
        "seconds": round(time.perf_counter() - start),
        "slopes": results,
    }
    (HERE / "norm_mechanism.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
