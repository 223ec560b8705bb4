"""A model with all that is needed to read a text and say something about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.tokenizer import Indexed, Units
from regard.data.wordpieces import AnyTokenizer
from regard.kernels.attention import attend
from regard.models.capabilities import Capabilities, capabilities
from regard.models.flat import State, Tables, is_flat, tables
from regard.models.recorded import Recorded
from regard.models.tasks import Task

if TYPE_CHECKING:  # a flat model on a CPU answers without PyTorch, which takes a second to import
    import torch

    from regard.encoders import Encoder
    from regard.models.classifier import Classifier
    from regard.values import Batch, Output

BATCH = 64
READ = {"cuda": 256}  # texts that are read together, without gradients; elsewhere as many as a batch has
CHUNK = 4096  # texts read at a time


class Trained:
    """Given by its weights or by its model; each is made from the other when it is asked for."""

    def __init__(
        self,
        config: Config,
        tokenizer: AnyTokenizer,
        task: Task,
        metrics: dict[str, Any] | None = None,  # what training measured and found: metrics.json
        *,
        weights: State | None = None,
        model: Classifier | None = None,
        device: str = "cpu",  # where the model is put when it is made
        dynamics: Recorded | None = None,  # what was seen along its training, where it was recorded
        make: Mapping[str, Any] | None = None,  # of a pretrained encoder inside: its configuration, as JSON
    ) -> None:
        self.config, self.tokenizer, self.task = config, tokenizer, task
        self.metrics: dict[str, Any] = {} if metrics is None else metrics
        self.device, self.dynamics, self.make = device, dynamics, make
        self._weights, self._model = weights, model

    @property
    def model(self) -> Classifier:
        if self._model is None:
            import torch

            from regard.models.build import build

            assert self._weights is not None
            tensors = {name: torch.from_numpy(value) for name, value in self._weights.items()}
            given = (self.config.model, len(self.tokenizer), self.task.out_dim, self.config.training.dropout or 0.0)
            # embeddings may be as wide as a vectors file was, which the config does not say
            self._model = build(*given, vectors=tensors["embedding.weight"], reader=self.reader(tensors))
            self._model.load_state_dict(tensors)
            self._model.to(self.device).eval()
        return self._model

    def reader(self, tensors: Mapping[str, torch.Tensor]) -> Encoder | None:
        """A pretrained encoder as it was, its weights still to be loaded."""
        if self.make is None:
            return None
        from regard.encoders.bert import BERT

        before, after = (tensors[f"levels.0.encoder.{name}"] for name in ("before", "after"))
        return BERT.again(self.make, before, after, self.config.model)

    @property
    def weights(self) -> State:
        if self._weights is not None:
            return self._weights
        assert self._model is not None
        state = self._model.state_dict()
        return {name: value.detach().cpu().contiguous().numpy() for name, value in state.items()}

    @property
    def is_flat(self) -> bool:
        """Whether it can answer by tables: what each unit weighs and says, whatever the text."""
        return is_flat(self.config.model) and self.device == "cpu"

    @cached_property
    def capabilities(self) -> list[Capabilities]:
        """What the pooling of each level can do, words first."""
        return capabilities(self.config.model.pooling, self.config.model.levels)

    @cached_property
    def tables(self) -> Tables:
        return tables(self.weights, self.config.model.filled().scale or 1.0)

    def answers(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities (texts, classes), or values (texts, 1), in the order of the texts."""
        if not self.is_flat:
            return answers(self.model, self.task, self.tokenizer.encode_each(texts))
        parts = [self.task.answers(np.zeros((0, self.task.out_dim)))]
        parts += [self.task.answers(logits) for _, logits, _ in self.attended(texts, weighed=False)]
        return np.concatenate(parts)

    def attended(
        self, texts: Sequence[str], weighed: bool = True
    ) -> Iterator[tuple[Units, NDArray[np.float32], NDArray[np.float32]]]:
        """Of a flat model: units, logits and, where `weighed`, each unit's weight, for some texts after the others."""

        def read(start: int) -> tuple[Units, NDArray[np.float32], NDArray[np.float32]]:
            units = self.tokenizer.encode_all(texts[start : start + CHUNK])
            logits = np.empty((len(units.words), self.task.out_dim), dtype=np.float32)
            weights = np.empty(len(units.ids) if weighed else 0, dtype=np.float32)
            attend(units.ids, units.offsets, made.scores, made.polarity, made.bias, logits, weights)
            return units, logits, weights

        made = self.tables
        starts = range(0, len(texts), CHUNK)
        if len(starts) < 2:
            yield from map(read, starts)
            return
        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(read, starts)


def answers(model: Classifier, task: Task, texts: Sequence[Indexed]) -> NDArray[np.float64]:
    return task.answers(logits(model, task, texts))


def logits(model: Classifier, task: Task, texts: Sequence[Indexed]) -> NDArray[np.float64]:
    """(texts, outputs), in the order of the texts"""
    found = np.empty((len(texts), task.out_dim))
    for rows, _, output in outputs(model, texts):
        found[rows] = output.logits.double().cpu().numpy()
    return found


def outputs(model: Classifier, texts: Sequence[Indexed]) -> Iterator[tuple[NDArray[np.int64], Batch, Output]]:
    """Every text once, in batches of like length, without gradients: (row numbers, batch, output)."""
    import torch

    from regard.data.collate import collate, in_order

    device, levels = model.embedding.weight.device, len(model.levels)
    model.eval()
    for rows in in_order(texts, READ.get(device.type, BATCH)):
        batch = to_device(collate([texts[row] for row in rows], levels), device)
        with torch.inference_mode():
            output = model(batch)
        yield rows, batch, output


def to_device(batch: Batch, device: torch.device) -> Batch:
    def put(value: torch.Tensor) -> torch.Tensor:
        return value.to(device, non_blocking=True)

    groups = tuple(tuple((put(rows), width) for rows, width in level) for level in batch.groups)
    labels = None if batch.labels is None else put(batch.labels)
    return batch._replace(ids=put(batch.ids), mask=put(batch.mask), labels=labels, groups=groups)
