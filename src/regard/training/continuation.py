"""Training that continues from a finished run with new texts: the task that both have, and old texts among the new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Config, Data, level_names
from regard.data.labels import Labels, natural_order, written_twice
from regard.data.read_options import ColumnPair
from regard.data.sampling import sample
from regard.errors import InputError, quoted
from regard.models.flat import EMBEDDING
from regard.models.tasks import Binary, Classes, Multiclass, MultiLabel, Regression, Task, number
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.records import Example
from regard.run_metrics import Ancestor, BeforeAfter, Continued
from regard.training.binary_threshold import with_given_threshold
from regard.training.vector_files import VectorFiles

LEAST = 1000  # old texts that are drawn even if there are fewer new ones
FEWEST = 20  # old texts to score; a score of fewer says nothing


class Origin(NamedTuple):
    """What training continues from."""

    trained: Trained
    name: str = "the fitted model"  # for messages
    replay: Iterable[Example] | None = None  # old texts to learn from again
    replay_name: str = "the replayed texts"
    columns: ColumnPair = (None, None)  # of text and label that it was trained on

    def is_in(self, folder: Path) -> bool:
        """Whether it is the run in this folder."""
        return Path(self.name).exists() and folder.exists() and folder.samefile(self.name)

    @property
    def title(self) -> str:
        """Its name without folders, which describe this machine."""
        return self.name if self.name.startswith("hf://") else Path(self.name).absolute().name

    @property
    def texts(self) -> int:
        """The number of texts that it learned from, in all runs."""
        return sum(ancestor["texts"] for ancestor in self.ancestors)

    @property
    def ancestors(self) -> list[Ancestor]:
        """All runs up to this one, oldest first."""
        metrics = self.trained.metrics
        earlier = metrics["continued"]["ancestors"] if "continued" in metrics else []
        texts = metrics.get("texts", 0) - (metrics["continued"]["replayed"] if "continued" in metrics else 0)
        return [*earlier, {"fingerprint": metrics.get("fingerprint", ""), "texts": texts}]

    @property
    def temperature(self) -> float:
        """By which its output layer was divided."""
        return self.trained.metrics.get("temperature", 1.0)

    @property
    def digest(self) -> str:
        """Identifies the model. Every step of training changes its small weights, so that the large ones need not be read."""
        hashed = sha256(self.trained.metrics.get("fingerprint", "").encode())
        for name, value in sorted(self.trained.weights.items()):
            if name != EMBEDDING:
                hashed.update(np.ascontiguousarray(value).tobytes())
        return hashed.hexdigest()


class Mixture:
    """New texts, then old ones to learn from again, then old ones to score only, which show what is forgotten.

    As many old texts as there are new ones, but at least `LEAST`, are drawn at random; a tenth is set aside for scoring.
    """

    def __init__(self, new: Iterable[Example], origin: Origin, seed: int) -> None:
        self.texts, self.origin, self.seed = new, origin, seed
        self.new = self.replayed = self.scored = 0  # what was read of each

    def __iter__(self) -> Iterator[Example]:
        self.new = 0
        for example in self.texts:
            self.new += 1
            yield example
        if self.origin.replay is None:
            return
        drawn = sample(self.origin.replay, max(self.new, LEAST), self.seed)
        if isinstance(self.origin.trained.task, Regression):
            for example in drawn:  # an error about a label names the right file
                number(example.label, f"{self.origin.replay_name}, row {example.row}")
        self.scored = len(drawn) // 10 if len(drawn) >= 10 * FEWEST else 0
        self.replayed = len(drawn) - self.scored
        rows = np.random.default_rng((self.seed, 32452843)).permutation(len(drawn)).tolist()
        yield from (drawn[row] for row in rows)

    @property
    def is_new(self) -> NDArray[np.bool_]:
        return np.arange(self.new + self.replayed + self.scored) < self.new

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        return np.arange(self.new + self.replayed + self.scored) >= self.new + self.replayed

    def continued(self, task: Task, units: int, scores: dict[str, BeforeAfter]) -> Continued:
        """What the metrics of the new run say."""
        old, classes = self.origin.trained.task, task.classes if isinstance(task, Classes) else ()
        return {
            "origin": self.origin.title,
            "ancestors": self.origin.ancestors,
            "replayed": self.replayed,
            "new_units": units - len(self.origin.trained.tokenizer),
            "new_classes": [name for name in classes if isinstance(old, Classes) and name not in old.classes],
            "scores": scores,
        }

    def missing(self, labels: Labels) -> list[str]:
        """The old classes that do not occur among these labels."""
        task = self.origin.trained.task
        return [name for name in task.classes if name not in labels.rows] if isinstance(task, Classes) else []

    def summary(self, units: int) -> str:
        origin, added = self.origin, units - len(self.origin.trained.tokenizer)
        again = f" and {self.replayed:,} old ones again" if self.replayed else ""
        return (
            f"continuing {origin.name} ({origin.texts:,} texts) with {self.new:,} new texts{again}; {added:,} new units"
        )

    def no_vectors(self, units: int) -> NDArray[np.float32]:
        """NaN for every word, in the width of the old model."""
        width = self.origin.trained.weights[EMBEDDING].shape[1]
        return np.full((units, width), np.nan, dtype=np.float32)


def vector_files(data: Data, mixture: Mixture | None, recorder: Recorder) -> VectorFiles | None:
    """The pretrained vectors. A run that continues another does without if they are not there any more."""
    if data.vectors is None:
        return None
    try:
        return VectorFiles(data.vectors)
    except InputError:
        if mixture is None:
            raise
        recorder.note(f"{data.vectors}, the vectors of the old run, cannot be found: new words start from random ones")
        return None


def check_origin(trained: Trained, name: str) -> None:
    """Refuse models that cannot be continued."""
    if isinstance(trained.task, MultiLabel):
        raise InputError(
            f"{name}: expected a run with one class or number per text, got several labels, which cannot be continued yet; "
            "train anew on all texts"
        )
    if trained.config.model.reads_pieces:
        raise InputError(
            f"{name}: encoder = 'bert' is fine-tuned from its pretrained weights, and cannot be continued; "
            "train a new run on all texts"
        )
    if trained.config.model.linear:
        raise InputError(
            f"{name}: a committee with a linear model over word vectors keeps its scores and not its weights, and cannot be "
            "continued; train a new run on all texts, or the first run with --no-linear"
        )
    if level_names(trained.config.model.pooling)[-1] == "bottleneck":
        raise InputError(
            f"{name}: pooling = 'bottleneck' is trained in rounds that start from the beginning, and cannot be continued; "
            "train a new run on all texts"
        )


def with_task(config: Config, task: Task, recorder: Recorder) -> Config:
    """The options with the kind of the task, and without a threshold that a third class has made impossible."""
    if task.kind != "binary" and config.data.task == "binary" and config.training.threshold is not None:
        recorder.note("the threshold is left out: it needs two classes")
    only_two = {} if task.kind == "binary" else {"threshold": None, "positive": None}
    return config.override({"task": task.kind, **only_two})


def continued_task(old: Task, labels: Labels, config: Config, where: str, recorder: Recorder) -> Task:
    """Old classes keep their order and new ones follow; a regression keeps mean and scale, and its range widens."""
    if isinstance(old, Classes):
        added = sorted(set(labels.names) - set(old.classes), key=natural_order)
        if not added:
            return with_given_threshold(old, config.training.threshold, where) if isinstance(old, Binary) else old
        if alike := written_twice([*old.classes, *added]):
            recorder.note(f"{where}: labels {quoted(alike)} differ only in case or number format")
        recorder.note(f"new class{'es' * (len(added) > 1)}: {quoted(added)}")
        return Multiclass((*old.classes, *added))
    assert isinstance(old, Regression)
    try:
        values = [number(name, f"{where}, row {row}") for name, row in labels.rows.items()]
    except InputError as error:
        raise InputError(f"{error}, because the run that training continues from predicts numbers") from None
    if not old.has_limits:
        return old
    return Regression(old.mean, old.scale, min(old.low, *values), max(old.high, *values))
