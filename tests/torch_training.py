"""Training of a PyTorch model as in `fit`, without files and texts, for tests of the loop and its torch engine."""

from __future__ import annotations

from pathlib import Path

from regard.config import Training
from regard.models.classifier import Classifier
from regard.models.tasks import Task
from regard.recorder import Recorder, Silent
from regard.training.checkpoint import Checkpoint, Progress
from regard.training.loop import train
from regard.training.torch_engine import Texts, TorchEngine


def train_torch(
    model: Classifier,
    task: Task,
    texts: Texts,
    dev: Texts | None,
    config: Training,
    recorder: Recorder | None = None,
    checkpoint: Path | None = None,
) -> Progress:
    """Train a model in place and leave it with the weights of its best epoch."""
    with TorchEngine(model, task, texts, dev, config) as engine:
        return train(engine, recorder or Silent(), None if checkpoint is None else Checkpoint(checkpoint))
