"""A trained model with everything needed to process texts: tokenizer, task, options and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from regard.config import Config, Data
from regard.data.kept_texts import KeptTexts
from regard.data.packing import Packed, pack
from regard.data.tokenizer import Indexed, Tokenizer, Units
from regard.data.wordpieces import AnyTokenizer
from regard.errors import InputError
from regard.kernels.attention import attend
from regard.models.capabilities import Capabilities, capabilities
from regard.models.flat import EMBEDDING, State, Tables, finite_tables, is_flat
from regard.models.tasks import Task
from regard.models.training_record import TrainingRecord
from regard.ordered_threads import ordered

if TYPE_CHECKING:  # a flat model on a CPU answers without PyTorch, which takes a second to import
    import torch

    from regard.encoders import Encoder
    from regard.kernels.answering import Answering
    from regard.models.classifier import Classifier
    from regard.run_metrics import RunMetrics
    from regard.values import Batch, Output

Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])

BATCH = 64
READ = {"cuda": 256}  # texts read together without gradients; elsewhere BATCH
CHUNK = 4096  # texts encoded at a time
PIECE = 1024  # texts answered at a time: what is known about their words stays in a core's cache


class Trained:
    """Created from weights or from a model; each is built from the other on demand."""

    def __init__(
        self,
        config: Config,
        tokenizer: AnyTokenizer,
        task: Task,
        metrics: RunMetrics | None = None,  # what training measured: metrics.json
        *,
        weights: State | None = None,
        model: Classifier | None = None,
        device: str = "cpu",  # where the model is built
        dynamics: TrainingRecord | None = None,  # quantities recorded during training
        accumulators: State | None = None,  # of the optimiser, from which training can continue
        kept: KeptTexts | None = None,  # training texts that the run keeps for later training
        encoder_config: Mapping[str, object] | None = None,  # configuration of a pretrained encoder, as JSON
        digests: Mapping[str, str] | None = None,  # SHA-256 of files that the options name; None: trained just now
        test_answers: NDArray[np.float64] | None = None,  # of the PyTorch engine: those behind metrics["test"]
    ) -> None:
        self.config, self.tokenizer, self.task = config, tokenizer, task
        self.metrics: RunMetrics = {} if metrics is None else metrics
        self.device, self.dynamics, self.encoder_config = device, dynamics, encoder_config
        self.test_answers, self.accumulators, self.kept = test_answers, accumulators, kept
        self.digests = digests
        self._weights, self._model = weights, model

    @property
    def model(self) -> Classifier:
        if self._model is None:
            import torch

            assert self._weights is not None
            tensors = {name: torch.from_numpy(value) for name, value in self._weights.items()}
            self._model = self.untrained(tensors)
            self._model.load_state_dict(tensors)
            self._model.to(self.device).eval()
        return self._model

    def untrained(self, tensors: Mapping[str, torch.Tensor]) -> Classifier:
        """A model whose weights are loaded next; only their shapes matter here."""
        from regard.models.build import build

        arguments = (self.config.model, len(self.tokenizer), self.task.out_dim, self.config.training.dropout or 0.0)
        # embeddings may have the width of a vectors file, which the config does not state
        return build(*arguments, vectors=tensors[EMBEDDING], reader=self.reader(tensors))

    def check_form(self) -> None:
        """Compare the names, shapes and types of the weights with the options, before memory is allocated by the options."""
        import torch

        tensors = {name: torch.from_numpy(value) for name, value in self.weights.items()}
        if EMBEDDING not in tensors or tensors[EMBEDDING].dim() != 2:
            raise InputError(f"weights.safetensors: {EMBEDDING}: expected a table")
        with torch.device("meta"):
            form = self.untrained({name: value.to("meta") for name, value in tensors.items()}).state_dict()
        for name in {**form, **tensors}:
            expected, actual = form.get(name), tensors.get(name)
            if expected is None or actual is None or (expected.shape, expected.dtype) != (actual.shape, actual.dtype):
                shown = [None if one is None else (tuple(one.shape), one.dtype) for one in (expected, actual)]
                raise InputError(f"weights.safetensors: {name[:100]}: expected {shown[0]}, got {shown[1]}")

    def reader(self, tensors: Mapping[str, torch.Tensor]) -> Encoder | None:
        """The pretrained encoder, if any, whose weights are loaded next."""
        if self.encoder_config is None:
            return None
        from regard.encoders.bert import BERT

        before, after = (tensors[f"levels.0.encoder.{name}"] for name in ("before", "after"))
        return BERT.from_saved(self.encoder_config, before, after, self.config.model)

    @property
    def weights(self) -> State:
        if self._weights is not None:
            return self._weights
        assert self._model is not None
        state = self._model.state_dict()
        return {name: value.detach().cpu().contiguous().numpy() for name, value in state.items()}

    @property
    def is_flat(self) -> bool:
        """Whether predictions can be looked up in tables of the scores and polarities of units."""
        return is_flat(self.config.model) and self.device == "cpu"

    @property
    def is_opaque(self) -> bool:
        return False

    @property
    def title(self) -> str:
        return f"{self.config.model.encoder}-{self.config.model.pooling}"

    @property
    def description(self) -> str:
        model = self.config.model.filled()
        return f"{model.encoder}, {model.pooling} pooling, {model.levels} level{'s' * (model.levels > 1)}"

    @property
    def levels(self) -> int:
        return self.config.model.levels

    @property
    def data(self) -> Data:
        return self.config.data

    @property
    def encoder_weights(self) -> int:
        """The number of weights of a pretrained encoder; 0 if there is none."""
        if not self.config.model.reads_pieces:
            return 0
        return sum(value.size for name, value in self.weights.items() if name.startswith("levels.0.encoder."))

    @cached_property
    def capabilities(self) -> list[Capabilities]:
        """What the pooling of each level can do, words first."""
        return capabilities(self.config.model.pooling, self.config.model.levels)

    @cached_property
    def tables(self) -> Tables:
        model = self.config.model.filled()
        return finite_tables(self.weights, model.scale or 1.0, model.members)

    def answers(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities (texts, classes), or values (texts, 1), in the order of the texts."""
        if not self.is_flat:
            return self.task.answers(self.logits(self.tokenizer.encode_each(texts)))
        return self.flat_answers(texts)

    def flat_answers(self, texts: Sequence[str] | Packed) -> NDArray[np.float64]:
        """The same of a flat model, also for texts whose bytes are packed already, such as those of an Arrow column.

        From CHUNK texts on, the numbers that are summed are computed in advance, which changes the logits by 1e-6 or so.
        """
        count = len(texts.offsets) - 1 if isinstance(texts, Packed) else len(texts)
        parts = [self.task.answers(np.zeros((0, self.task.out_dim)))]
        if count < CHUNK:
            parts += [self.task.answers(logits) for _, logits, _ in self.attended(texts, weighed=False)]
        else:
            parts += [self.task.answers(logits) for logits in self.answered(texts, count)]
        return np.concatenate(parts)

    @cached_property
    def answering(self) -> Answering:
        from regard.kernels.answering import Answering

        tokenizer = self.tokenizer
        assert isinstance(tokenizer, Tokenizer)
        dictionaries, pairs = (tokenizer._words, tokenizer._beginnings), tokenizer.pair_table
        return Answering.of(self.tables, dictionaries, tokenizer.letters, pairs, not tokenizer.has_units)

    def answered(self, texts: Sequence[str] | Packed, count: int) -> Iterator[NDArray[np.float32]]:
        """Per chunk of texts of a flat model: logits, by sums of numbers that were computed in advance."""
        tokenizer, answering = self.tokenizer, self.answering
        assert isinstance(tokenizer, Tokenizer)

        def read(start: int) -> NDArray[np.float32]:
            if isinstance(texts, Packed):
                packed = texts.part(start, min(start + PIECE, count))
            else:
                packed = pack(texts[start : start + PIECE], tokenizer.lowercase)
            found = tokenizer.find_words(packed)
            logits = np.empty((len(found.counts), self.task.out_dim), dtype=np.float32)
            left = answering.answer(packed.data, *found, logits)
            if len(left):
                logits[left] = self.attend(tokenizer.encode_packed(packed.only(left)), weighed=False)[0]
            return checked_finite(logits)

        return ordered(read, range(0, count, PIECE))

    def logits(self, texts: Sequence[Indexed]) -> NDArray[np.float64]:
        """(texts, outputs), in the order of the texts"""
        if not self.is_flat:
            return checked_finite(logits(self.model, self.task, texts))
        lookup, result = self.tables, np.empty((len(texts), self.task.out_dim), dtype=np.float32)
        ids = np.concatenate([np.empty(0, dtype=np.int32), *(text.ids for text in texts)])
        offsets = np.cumsum([0, *(len(text.ids) for text in texts)])
        unused = np.empty(0, dtype=np.float32)  # the weights
        attend(ids, offsets, lookup.scores, lookup.polarity, lookup.bias, result, unused)
        return checked_finite(result.astype(np.float64))

    def attended(
        self, texts: Sequence[str] | Packed, weighed: bool = True
    ) -> Iterator[tuple[Units, NDArray[np.float32], NDArray[np.float32]]]:
        """For a flat model, per chunk of texts: units, logits and, if `weighed`, the weight of each unit."""

        def read(start: int) -> tuple[Units, NDArray[np.float32], NDArray[np.float32]]:
            if isinstance(texts, Packed):
                assert isinstance(self.tokenizer, Tokenizer)
                units = self.tokenizer.encode_packed(texts.part(start, min(start + CHUNK, count)))
            else:
                units = self.tokenizer.encode_all(texts[start : start + CHUNK])
            return units, *self.attend(units, weighed)

        _ = self.tables  # made once, before the threads need it
        count = len(texts.offsets) - 1 if isinstance(texts, Packed) else len(texts)
        yield from ordered(read, range(0, count, CHUNK))

    def attend(self, units: Units, weighed: bool = True) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Of texts that are read already: logits (texts, outputs), and weights (units,), which are empty if not `weighed`."""
        lookup = self.tables
        logits = np.empty((len(units.words), self.task.out_dim), dtype=np.float32)
        weights = np.empty(len(units.ids) if weighed else 0, dtype=np.float32)
        attend(units.ids, units.offsets, lookup.scores, lookup.polarity, lookup.bias, logits, weights)
        return checked_finite(logits), weights


def checked_finite(logits: Floats) -> Floats:
    if not np.isfinite(logits).all():
        raise InputError("the weights of the model are too large: its predictions are not finite numbers")
    return logits


def answers(model: Classifier, task: Task, texts: Sequence[Indexed]) -> NDArray[np.float64]:
    return task.answers(logits(model, task, texts))


def logits(model: Classifier, task: Task, texts: Sequence[Indexed]) -> NDArray[np.float64]:
    """(texts, outputs), in the order of the texts"""
    result = np.empty((len(texts), task.out_dim))
    for rows, _, output in outputs(model, texts):
        result[rows] = output.logits.double().cpu().numpy()
    return result


def outputs(model: Classifier, texts: Sequence[Indexed]) -> Iterator[tuple[NDArray[np.int64], Batch, Output]]:
    """Every text once, in batches of similar length, without gradients: (row indices, batch, output)."""
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
    def move(value: torch.Tensor) -> torch.Tensor:
        return value.to(device, non_blocking=True)

    groups = tuple(tuple((move(rows), width) for rows, width in level) for level in batch.groups)
    labels = None if batch.labels is None else move(batch.labels)
    weights = None if batch.weights is None else move(batch.weights)
    return batch._replace(ids=move(batch.ids), mask=move(batch.mask), labels=labels, groups=groups, weights=weights)
