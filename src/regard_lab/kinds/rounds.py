"""A look at a model after each round of purified attention: accuracy of both heads on the texts measured on, and text vectors.

Training itself tells dev scores alone, and keeps the best round's weights alone; this recorder holds the model and looks at
it while it learns. Round 0 is seen as round 1 begins, when its best epoch has been taken up again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Recorder
from regard.records import Example
from regard_lab.tables.context import Training

if TYPE_CHECKING:
    from regard.models.classifier import Classifier
    from regard.models.tasks import Task
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard.training.torch_engine import Texts


FIRST_ROUND = "round 1/"  # how the title of the phase begins that follows round 0


class RoundRecorder:
    """Passes everything on."""

    def __init__(self, recorder: Recorder, model: Classifier, task: Task, texts: Texts, vectors: int):
        self.recorder, self.model, self.task, self.texts, self.vectors = recorder, model, task, texts, vectors
        self.accuracy: dict[int, float] = {}  # by round, of the learner's head
        self.compressed: dict[int, float] = {}  # of the compressor's, which round 0 has not taught
        self.seen: dict[int, NDArray[np.float64]] = {}  # (texts, D)

    def note(self, sentence: str) -> None:
        self.recorder.note(sentence)

    def enter(self, phase: str) -> None:
        self.recorder.enter(phase)
        if phase.startswith(FIRST_ROUND) and 0 not in self.accuracy:
            self.look(0)

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.recorder.begin(epoch, epochs, steps)

    def step(self, loss: float | None) -> None:
        self.recorder.step(loss)

    def end(self, record: Mapping[str, Any]) -> None:
        self.recorder.end(record)
        if record.get("phase") == "compressor":  # of several epochs in a phase the last one stays
            self.look(record["round"])

    def look(self, number: int) -> None:
        from regard.training.torch_engine import evaluate

        scores, statistics = evaluate(self.model, self.task, self.texts)
        self.accuracy[number] = scores["accuracy"]
        if number:
            self.compressed[number] = statistics.heads["compressed"]["accuracy"]
        if self.vectors:
            self.seen[number] = vectors_of(self.model, self.texts.indexed[: self.vectors])


def train_by_round(
    config: Config, parts: Parts, examples: Sequence[Example], seeds: Sequence[int], recorder: Recorder, vectors: int
) -> Iterator[tuple[Training, RoundRecorder | None]]:
    """As `trainings`, one seed after the other, each with what was seen of it on these texts."""
    from regard.training.fit import Run
    from regard.training.fit_torch import encode_texts, make_inputs, make_model, prepare_torch, train_model

    for seed in seeds:
        begun, looks = time.perf_counter(), None
        result: Trained | InputError
        try:
            given = prepare_torch(config.override({"seed": seed}), parts, recorder)
            learned = make_inputs(given, recorder)
            model = make_model(given, learned, seed).to(given.device)
            texts = encode_texts(learned.tokenizer, given.task, examples, "texts")
            looks = RoundRecorder(recorder, model, given.task, texts, vectors)
            result = train_model(model, given, learned, Run(looks))
        except InputError as error:
            result = error
        yield Training(result, {"seed": seed, "seconds": time.perf_counter() - begun}), looks


def vectors_of(model: Classifier, indexed: Sequence[Any]) -> NDArray[np.float64]:
    """(texts, D) the vectors R that the learner's head reads."""
    from regard.models.trained import outputs

    found: dict[int, NDArray[np.float64]] = {}
    for rows, _, output in outputs(model, indexed):
        own = output.traces[-1].pooled.vector.double().cpu().numpy()
        found |= {int(row): own[place] for place, row in enumerate(rows)}
    return np.stack([found[row] for row in range(len(indexed))])


Doubles = NDArray[np.float64]


def closeness(vectors: Doubles, labels: NDArray[np.int64]) -> float:
    """The mean distance of two texts of one class over that of two texts of different classes: below 1 classes lie apart."""
    squares = (vectors**2).sum(1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * vectors @ vectors.T, 0))
    pairs = np.triu(np.ones(apart.shape, dtype=bool), 1)
    same = labels[:, None] == labels
    within, between = apart[pairs & same], apart[pairs & ~same]
    return float(within.mean() / between.mean()) if len(within) and len(between) and between.mean() else float("nan")


def plane(vectors: Doubles) -> list[list[float]]:
    """Two coordinates a text, to two digits."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    made = TSNE(2, perplexity=perplexity, init="pca", learning_rate="auto", random_state=0).fit_transform(vectors)
    return [[round(float(x), 2), round(float(y), 2)] for x, y in made]
