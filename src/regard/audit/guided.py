"""A context-free model with given weights (Wiegreffe & Pinter 2019, §3.3): does the attention help another model?

Each word by itself goes through an embedding and a tanh layer; the states are mixed by fixed weights, and a linear head
predicts. The weights are the run's attention ("guided"), uniform ("even"), or learned by this model itself ("learned"). If
the run's attention makes it better than uniform weights do, attention carries information about the task that does not depend on
the run's own states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from regard.audit.adam import Adam
from regard.audit.intervals import mean_interval, paired_difference
from regard.audit.retraining import Audited, Retraining
from regard.data.tokenizer import Indexed
from regard.explain.reading import batches, read
from regard.facts.audit import Guided
from regard.models.trained import Trained, to_device

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
WIDTH, EPOCHS, BATCH, RATE, DROPOUT = 64, 8, 32, 0.003, 0.2
KINDS = ("guided", "even", "learned")


class Weighed(NamedTuple):
    """Texts in the units of the run, and the weight that the run gives to each unit."""

    texts: list[Indexed]
    weights: list[Doubles]


def guided(audited: Audited, retraining: Retraining) -> Guided:
    trained, seed, classes = audited.trained, audited.seed, retraining.classes
    labels = np.array([classes.index(str(example.label)) for example in retraining.examples], dtype=np.int64)
    training = weigh(trained, [example.text for example in retraining.examples])
    evaluated = weigh(trained, retraining.texts)
    right = {}
    for kind in KINDS:
        audited.recorder.note(f"training a context-free model on {len(labels)} texts: {kind} weights")
        sizes = (len(trained.tokenizer), len(classes))
        model = train_guided(training, labels, kind, *sizes, seed, trained.model.embedding.weight.device)
        right[kind] = np.asarray(answer(model, evaluated, kind) == retraining.labels, dtype=np.float64)
    return Guided(
        replace(retraining.facts(), epochs=EPOCHS),
        guided=mean_interval(right["guided"], seed),
        even=mean_interval(right["even"], seed),
        learned=mean_interval(right["learned"], seed),
        guided_less_even=paired_difference(right["guided"], right["even"], seed),
        guided_less_learned=paired_difference(right["guided"], right["learned"], seed),
    )


def weigh(trained: Trained, texts: Sequence[str]) -> Weighed:
    """The product of the weights of all levels, for each unit."""
    import torch

    readings = read(trained, texts)
    weights: list[Doubles] = [np.empty(0)] * len(texts)
    for rows, batch in batches(trained, readings):
        with torch.no_grad():
            products = trained.model(batch).word_weights.double().cpu().numpy()
        mask = batch.mask.cpu().numpy()
        for index, row in enumerate(rows):
            weights[row] = products[index][mask[index]]
    return Weighed([Indexed(reading.indexed.ids) for reading in readings], weights)


def make_model(units: int, classes: int) -> nn.ModuleDict:
    from torch import nn

    from regard.poolings.attention import Attention

    return nn.ModuleDict(
        {
            "embedding": nn.Embedding(units, WIDTH, padding_idx=0),
            "layer": nn.Sequential(nn.Dropout(DROPOUT), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Dropout(DROPOUT)),
            "attention": Attention(WIDTH, query=WIDTH),
            "head": nn.Linear(WIDTH, classes),
        }
    )


def train_guided(
    weighed: Weighed, labels: Ints, kind: str, units: int, classes: int, seed: int, device: torch.device | str
) -> nn.ModuleDict:
    import torch
    from torch.nn import functional

    from regard.data.collate import shuffled

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make_model(units, classes).to(device)
        adam = Adam(model, cast("nn.Embedding", model["embedding"]), RATE)
        for epoch in range(1, EPOCHS + 1):
            for rows in shuffled(weighed.texts, BATCH, seed, epoch):
                truth = torch.from_numpy(labels[rows]).to(device)
                adam.step(functional.cross_entropy(logits(model, weighed, rows, kind), truth))
    return model.eval()


def logits(model: nn.ModuleDict, weighed: Weighed, rows: Ints, kind: str) -> Tensor:
    """(rows, classes)"""
    import torch

    from regard.data.collate import collate
    from regard.masking import uniform, weighted_sum

    device = cast("nn.Embedding", model["embedding"]).weight.device
    batch = to_device(collate([weighed.texts[row] for row in rows], 1), device)
    states = model["layer"](model["embedding"](batch.ids))  # (B, L, D)
    if kind == "learned":
        vector = model["attention"](states, batch.mask).vector
    elif kind == "even":
        vector = weighted_sum(uniform(batch.mask, states.dtype), states)
    else:
        weights = torch.zeros(batch.mask.shape, device=device)
        flat = torch.from_numpy(np.concatenate([weighed.weights[row] for row in rows]))
        weights[batch.mask] = flat.float().to(device)
        vector = weighted_sum(weights, states)
    return cast("Tensor", model["head"](vector))


def answer(model: nn.ModuleDict, weighed: Weighed, kind: str) -> Ints:
    import torch

    from regard.data.collate import in_order

    predicted = np.zeros(len(weighed.texts), dtype=np.int64)
    with torch.no_grad():
        for rows in in_order(weighed.texts, BATCH):
            predicted[rows] = logits(model, weighed, rows, kind).argmax(1).cpu().numpy()
    return predicted
