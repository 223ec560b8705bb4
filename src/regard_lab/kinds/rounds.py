"""Evaluation of a model after each round of purified attention: accuracy of both heads on test texts, and text vectors.

Training reports dev scores only and keeps only the weights of the best round; this recorder has the model and evaluates it
during training. Round 0 is evaluated when round 1 starts, after the weights of its best epoch were restored.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Recorder
from regard.records import Example
from regard.run_metrics import EpochRecord
from regard_lab.tables.context import Training

if TYPE_CHECKING:
    from regard.models.classifier import Classifier
    from regard.models.tasks import Task
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard.training.torch_engine import Texts


FIRST_ROUND = "round 1/"  # the title of the phase after round 0 starts with this


class RoundRecorder:
    """Evaluates the model after each round, and passes everything on to another recorder."""

    def __init__(self, recorder: Recorder, model: Classifier, task: Task, texts: Texts, vectors: int):
        self.recorder, self.model, self.task, self.texts, self.vectors = recorder, model, task, texts, vectors
        self.accuracy: dict[int, float] = {}  # by round, of the learner's head
        self.compressed: dict[int, float] = {}  # of the compressor's head, which is not trained in round 0
        self.vectors_by_round: dict[int, NDArray[np.float64]] = {}  # (texts, D)

    def note(self, sentence: str) -> None:
        self.recorder.note(sentence)

    def enter(self, phase: str) -> None:
        self.recorder.enter(phase)
        if phase.startswith(FIRST_ROUND) and 0 not in self.accuracy:
            self.evaluate(0)

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.recorder.begin(epoch, epochs, steps)

    def step(self, loss: float | None) -> None:
        self.recorder.step(loss)

    def end(self, record: EpochRecord) -> None:
        self.recorder.end(record)
        if record.get("phase") == "compressor":  # if a phase has several epochs, the last one is kept
            self.evaluate(record["round"])

    def evaluate(self, number: int) -> None:
        from regard.training.torch_engine import evaluate

        scores, statistics = evaluate(self.model, self.task, self.texts)
        self.accuracy[number] = scores["accuracy"]
        if number:
            self.compressed[number] = statistics.heads["compressed"]["accuracy"]
        if self.vectors:
            self.vectors_by_round[number] = vectors_of(self.model, self.texts.indexed[: self.vectors])


def train_by_round(
    config: Config, parts: Parts, examples: Sequence[Example], seeds: Sequence[int], recorder: Recorder, vectors: int
) -> Iterator[tuple[Training, RoundRecorder | None]]:
    """Like `trainings`, one seed after the other, each with its evaluations on these texts."""
    from regard.training.fit import Run
    from regard.training.fit_torch import encode_texts, make_inputs, make_model, prepare_torch, train_model

    for seed in seeds:
        start, rounds = time.perf_counter(), None
        result: Trained | InputError
        try:
            prepared = prepare_torch(config.override({"seed": seed}), parts, recorder)
            inputs = make_inputs(prepared, recorder)
            model = make_model(prepared, inputs, seed).to(prepared.device)
            texts = encode_texts(inputs.tokenizer, prepared.task, examples, "texts")
            rounds = RoundRecorder(recorder, model, prepared.task, texts, vectors)
            result = train_model(model, prepared, inputs, Run(rounds))
        except InputError as error:
            result = error
        yield Training(result, {"seed": seed, "seconds": time.perf_counter() - start}), rounds


def vectors_of(model: Classifier, indexed: Sequence[Any]) -> NDArray[np.float64]:
    """(texts, D): the vectors R, the input of the learner's head."""
    from regard.models.trained import outputs

    by_row: dict[int, NDArray[np.float64]] = {}
    for rows, _, output in outputs(model, indexed):
        vectors = output.traces[-1].pooled.vector.double().cpu().numpy()
        by_row |= {int(row): vectors[index] for index, row in enumerate(rows)}
    return np.stack([by_row[row] for row in range(len(indexed))])


Doubles = NDArray[np.float64]


def closeness(vectors: Doubles, labels: NDArray[np.int64]) -> float:
    """Mean distance of two texts of the same class divided by that of two texts of different classes."""
    squares = (vectors**2).sum(1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * vectors @ vectors.T, 0))
    pairs = np.triu(np.ones(distances.shape, dtype=bool), 1)
    same = labels[:, None] == labels
    within, between = distances[pairs & same], distances[pairs & ~same]
    return float(within.mean() / between.mean()) if len(within) and len(between) and between.mean() else float("nan")


def tsne(vectors: Doubles) -> list[list[float]]:
    """t-SNE: two coordinates per text, with two decimals."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    points = TSNE(2, perplexity=perplexity, init="pca", learning_rate="auto", random_state=0).fit_transform(vectors)
    return [[round(float(x), 2), round(float(y), 2)] for x, y in points]
