"""A model trained to make the run's predictions with different attention (Wiegreffe & Pinter 2019, §4): the TVD–JSD curve.

    loss = TVD(predictions, the run's) − λ JSD(attention, the run's)      for several λ

An adversary for single texts may mix the run's states as no model would; one that has to do it with its parameters, on texts
that it has not seen, is harder to find. If its predictions stay close while its attention is far away, another model explains the
same predictions differently. **Choices**: JSD instead of the paper's KL, which is unbounded; it starts as the run with the
parameters of its highest attention redrawn, because at the run itself the divergence has no gradient; attention is that of the
highest level; the learning rate falls to 0, and the last epoch is taken, not the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from regard.audit.adam import Adam
from regard.audit.given_weights import attention_weights, distances, divergences, probabilities
from regard.audit.intervals import mean_interval
from regard.audit.retraining import Audited, Retraining
from regard.data.tokenizer import Indexed
from regard.explain.reading import read
from regard.facts.audit import AdversaryPoint, TrainedAdversary
from regard.models.tasks import Task
from regard.models.trained import BATCH, Trained, to_device

if TYPE_CHECKING:
    from torch import Tensor

    from regard.models.classifier import Classifier, Level
    from regard.values import Batch

Doubles = NDArray[np.float64]
# λ; with 0 it only imitates the run, which shows how close predictions get, and how far attention is then
FACTORS = (0.0, 0.01, 0.1, 1.0)
TEXTS, EPOCHS, STEP, RATE = 2000, 5, 32, 0.003


def trained_adversary(audited: Audited, retraining: Retraining) -> TrainedAdversary:
    """Measured on the audited texts."""
    trained, labels, seed = audited.trained, audited.labels, audited.seed
    texts = [reading.indexed for reading in read(trained, [x.text for x in retraining.examples[:TEXTS]])]
    audited_texts = [reading.indexed for reading in read(trained, audited.texts)]
    points = []
    for factor in FACTORS:
        audited.recorder.note(f"training an adversary on {len(texts)} texts: λ = {factor:g}")
        model = train_adversary(trained, texts, factor, seed)
        distance, divergence, decided = compare(trained, model, audited_texts)
        accuracy = None if labels is None else mean_interval((decided == labels).astype(np.float64), seed)
        points.append(AdversaryPoint(factor, mean_interval(distance, seed), mean_interval(divergence, seed), accuracy))
    return TrainedAdversary(len(texts), EPOCHS, tuple(points))


def train_adversary(trained: Trained, texts: Sequence[Indexed], factor: float, seed: int) -> Classifier:
    import torch
    from torch import nn

    from regard.data.collate import shuffled

    base = trained.model.eval()
    for weight in base.parameters():
        weight.grad = None
    model = deepcopy(base).eval()
    for module in model.modules():
        if isinstance(module, nn.RNNBase):  # cuDNN refuses the backward pass of an RNN in eval mode
            module.train()
            module.flatten_parameters()  # otherwise cuDNN would gather the scattered weights of a copy in every step
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        cast("Level", model.levels[-1]).pooling.redraw_attention(trained.config.model.query_range)
        adam = Adam(model, model.embedding, RATE)
        for epoch in range(1, EPOCHS + 1):
            batches = shuffled(texts, STEP, seed, epoch)
            for number, rows in enumerate(batches):
                batch = make_batch(model, texts, rows)
                with torch.no_grad():
                    target, attention, _ = read_batch(base, trained.task, batch)
                answers, weights, _ = read_batch(model, trained.task, batch)
                loss = (distances(answers, target) - factor * divergences(weights, attention)).mean()
                # the gradient of TVD does not shrink near the predictions of the run: with a constant rate it never settles
                adam.step(loss, 1 - (epoch - 1 + number / len(batches)) / EPOCHS)
    return model.eval()


def read_batch(model: Classifier, task: Task, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Probabilities (B, classes), and the highest level's weights and mask (B, L)."""
    output = model(batch)
    return probabilities(task, output.logits.double()), attention_weights(output.traces[-1]), output.traces[-1].mask


def compare(
    trained: Trained, model: Classifier, texts: Sequence[Indexed]
) -> tuple[Doubles, Doubles, NDArray[np.int64]]:
    """(texts,) TVD of predictions, JSD of weights (NaN for one position), and the classes that the adversary predicts."""
    import torch

    from regard.data.collate import in_order

    distance, divergence = np.zeros(len(texts)), np.zeros(len(texts))
    decided = np.zeros(len(texts), dtype=np.int64)
    for rows in in_order(texts, BATCH):
        with torch.no_grad():
            batch = make_batch(model, texts, rows)
            target, attention, mask = read_batch(trained.model, trained.task, batch)
            answers, weights, _ = read_batch(model, trained.task, batch)
            distance[rows] = distances(answers, target).cpu().numpy()
            jsd = divergences(weights, attention)
            divergence[rows] = torch.where(mask.sum(1) > 1, jsd, torch.nan).cpu().numpy()
            decided[rows] = answers.argmax(1).cpu().numpy()
    return distance, divergence, decided


def make_batch(model: Classifier, texts: Sequence[Indexed], rows: NDArray[np.int64]) -> Batch:
    from regard.data.collate import collate

    return to_device(collate([texts[row] for row in rows], len(model.levels)), model.embedding.weight.device)
