"""Training with PyTorch: find the task, turn words into ids, build the model, train, measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.analysis.dynamics import Dynamics
from regard.config import Config
from regard.data.labels import Labels
from regard.data.splitting import held_rows
from regard.data.stored_examples import StoredExamples
from regard.data.stored_texts import store_texts
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import Vocabulary
from regard.data.wordpieces import AnyTokenizer
from regard.data.words import forms
from regard.encoders import BERT
from regard.encoders.pretrained import Pretrained, read_pretrained
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.device import choose_device
from regard.models.tasks import Classes, Task, encoded, strata
from regard.models.trained import Trained, logits
from regard.poolings.perceptron import Perceptron
from regard.process_group import ALONE, ProcessGroup
from regard.recorder import Recorder
from regard.records import Example
from regard.training.before_after import compare_texts, note_scores
from regard.training.checkpoint import Checkpoint
from regard.training.continuation import Mixture, continued_task, vector_files, with_task
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fine_tuning import apply_pretrained, digest_pretrained, load_word_pieces, note_windows
from regard.training.loop import train
from regard.training.metrics import measure
from regard.training.preparation import (
    Parts,
    Run,
    check_not_empty,
    common_metrics,
    digest,
    find_task,
    fingerprint,
    note_held_out,
    note_threshold,
    note_truncated,
    versions,
)
from regard.training.temperature import fit_temperature
from regard.training.thresholds import chooses_thresholds, with_thresholds
from regard.training.torch_engine import Texts, TorchEngine, answers_together, evaluate
from regard.training.torch_growth import grow, grown_vocabulary
from regard.training.weighting import text_weights


@dataclass(frozen=True)
class PreparedTorch:
    """The texts that were read and what follows from them, before anything is trained."""

    config: Config  # with nothing left open
    task: Task
    device: torch.device
    train: StoredExamples
    dev: StoredExamples | None
    test: StoredExamples | None
    names: tuple[str, str, str]
    truth: NDArray[np.float64]  # encoded labels of the test texts
    pretrained: Pretrained | None = None  # the initial encoder
    mixture: Mixture | None = None  # of new and old texts, if training continues
    group: ProcessGroup = ALONE

    @cached_property
    def identity(self) -> str:
        """Computed on first use: it hashes all texts."""
        size = self.group.size
        return fingerprint(self.config, self.digests, str(self.device) if size == 1 else f"{size} × {self.device.type}")

    @property
    def digests(self) -> list[str]:
        parts = [digest(part) for part in (self.train, self.dev) if part is not None]
        if self.mixture is not None:
            parts.append(self.mixture.origin.digest)
        return parts if self.pretrained is None else [*parts, digest_pretrained(self.pretrained)]

    @property
    def versions(self) -> dict[str, str]:
        return {} if self.pretrained is None else {"transformers": self.pretrained.version}

    @property
    def encoder_config(self) -> Mapping[str, object] | None:
        return None if self.pretrained is None else self.pretrained.encoder_config

    def fit(self, run: Run) -> Trained:
        inputs = make_inputs(self, run.recorder)
        model = make_model(self, inputs, self.config.training.seed).to(self.device)
        return train_model(model, self, inputs, run)


def prepare_torch(config: Config, parts: Parts, recorder: Recorder, group: ProcessGroup = ALONE) -> PreparedTorch:
    mixture = None if parts.origin is None else Mixture(parts.train, parts.origin, config.training.seed)
    examples = StoredExamples(mixture or parts.train)
    dev = None if parts.dev is None else StoredExamples(parts.dev)
    test = None if parts.test is None else StoredExamples(parts.test)
    labels = examples.labels
    labels.declare(parts.classes)
    if mixture is None:
        task = find_task(config, labels, recorder, parts.names[0], parts.column)
    else:
        check_not_empty(mixture.new, parts.names[0])
        task = continued_task(mixture.origin.trained.task, labels, config, parts.names[0], recorder)
    if test is not None:
        check_not_empty(len(test), parts.names[2])
    # refuse a label that cannot be scored before training, not after hours of it
    encoded(task, Labels() if dev is None else dev.labels, parts.names[1], parts.column)
    truth = encoded(task, Labels() if test is None else test.labels, parts.names[2], parts.column)
    pretrained = None
    if config.model.reads_pieces:
        assert config.model.pretrained is not None  # the config requires it
        pretrained = read_pretrained(config.model.pretrained)
        config = apply_pretrained(config, pretrained, recorder)
    examples = weighted(task, examples, config.training.class_weight, recorder)
    config = fill_defaults(with_task(config, task, recorder), DataSize(len(examples), 0))
    device = choose_device(config.training.device, group.local_rank)
    return PreparedTorch(config, task, device, examples, dev, test, parts.names, truth, pretrained, mixture, group)


def weighted(task: Task, examples: StoredExamples, class_weight: str | None, recorder: Recorder) -> StoredExamples:
    """The examples with how much they count, 1 on average."""
    weights = text_weights(task, examples.labels, examples.weights, class_weight, recorder)
    return examples.weighted(weights)


class TorchInputs(NamedTuple):
    """Vocabulary, initial word vectors, and the texts as ids."""

    tokenizer: AnyTokenizer
    vectors: torch.Tensor | None
    texts: Texts
    dev: Texts | None
    compared: dict[str, Sequence[Example]]  # if training continues: texts that old and new model are scored on


def make_inputs(prepared: PreparedTorch, recorder: Recorder) -> TorchInputs:
    """Hold texts out if there is no dev part, and turn words into ids."""
    config, task, mixture = prepared.config, prepared.task, prepared.mixture
    examples, dev = prepared.train, prepared.dev
    train_name, dev_name, test_name = prepared.names
    is_scored = np.zeros(len(examples), dtype=bool) if mixture is None else mixture.is_scored
    compared: dict[str, Sequence[Example]] = {
        "new" if dev is None else "dev": dev or [],
        "old": examples.take(is_scored),
    }
    is_held = np.zeros(len(examples), dtype=bool)
    if dev is None:
        dev_name, new = train_name, examples if mixture is None else examples[: mixture.new]
        is_held[: len(new)] = held_rows(strata(task, new.labels), config.data.dev_fraction, config.training.seed)
        compared["new"] = dev = examples.take(is_held)
        note_held_out(len(dev), config, recorder)
    examples = examples.take(~is_held & ~is_scored)
    tokenizer: AnyTokenizer
    if prepared.pretrained is None:
        tokenizer, vectors = learn_vocabulary(config, examples, recorder, mixture)
    else:
        tokenizer, vectors = load_word_pieces(config, prepared.pretrained, examples, recorder)
    texts = encode_texts(tokenizer, task, examples, train_name)
    if examples.weights is not None:
        texts = texts._replace(weights=examples.weights.astype(np.float32))
    dev_texts = encode_texts(tokenizer, task, dev, dev_name) if dev else None
    if config.model.window:
        note_windows(texts.indexed, config.model.window, recorder)
    elif prepared.test is not None and prepared.pretrained is not None:
        # refuse a text that is too long before training, not after
        store_texts(tokenizer, prepared.test, test_name)
    return TorchInputs(tokenizer, vectors, texts, dev_texts, compared)


def make_model(prepared: PreparedTorch, inputs: TorchInputs, seed: int) -> Classifier:
    torch.manual_seed(seed)
    dropout, model = prepared.config.training.dropout, prepared.config.model
    encoder = None if prepared.pretrained is None else BERT.from_pretrained(prepared.pretrained, model)
    built = build(model, len(inputs.tokenizer), prepared.task.out_dim, dropout, inputs.vectors, encoder)
    if prepared.mixture is not None:
        grow(built, prepared.mixture.origin.trained, prepared.task)
    return built


def train_model(model: Classifier, prepared: PreparedTorch, inputs: TorchInputs, run: Run) -> Trained:
    """Train a new model in place and measure it."""
    config, task, identity = prepared.config, prepared.task, prepared.identity
    dynamics = make_dynamics(model, prepared, inputs, run.recorder)
    group = prepared.group
    group.start_from_first(model)
    checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint, identity, writes=group.is_first)
    with TorchEngine(model, task, inputs.texts, inputs.dev, config.training, group) as engine:
        progress = train(engine, run.recorder, checkpoint, dynamics)
    metrics = common_metrics(task, len(inputs.texts.labels), progress, identity)
    metrics["engine"] = "torch"
    metrics["environment"] = environment(prepared.device) | prepared.versions
    if inputs.dev and config.training.calibrate:
        prior = 1.0 if prepared.mixture is None else prepared.mixture.origin.temperature
        metrics["temperature"] = calibrate(model, task, inputs.dev, prior)
    if inputs.dev:
        labels = np.asarray(inputs.dev.labels, dtype=np.float64)
        if chooses_thresholds(task, config.training.threshold):
            answers = task.answers(logits(model, task, inputs.dev.indexed))
            task = with_thresholds(task, config.training.threshold, answers, labels)
        metrics["dev"] = evaluate(model, task, inputs.dev, group=group)[0]
    note_threshold(task, inputs.dev is not None, config.training.threshold, run.recorder)
    recorded = None if dynamics is None else dynamics.recorded()
    trained = Trained(
        config, inputs.tokenizer, task, metrics, model=model, dynamics=recorded, encoder_config=prepared.encoder_config
    )
    if prepared.mixture is not None:
        mixture, tokenizer = prepared.mixture, inputs.tokenizer
        scores = compare_texts(mixture.origin.trained, trained, inputs.compared)
        metrics["continued"] = mixture.continued(task, len(tokenizer), scores)
        note_scores(metrics["continued"], mixture.missing(prepared.train.labels), run.recorder)
    if prepared.test is not None:
        trained.test_answers = answers_together(trained, prepared.test, prepared.names[2], group)
        metrics["test"] = measure(task, trained.test_answers, prepared.truth)
    return trained


@torch.no_grad()
def calibrate(model: Classifier, task: Task, dev: Texts, prior: float = 1.0) -> float:
    """Divide the last layer of the head by the temperature that suits the dev texts, and return it."""
    labels = np.asarray(dev.labels, dtype=np.float64)
    temperature = fit_temperature(task, logits(model, task, dev.indexed), labels, prior)
    last = model.head.out if isinstance(model.head, Perceptron) else model.head
    for weight in last.parameters():
        weight /= temperature
    return temperature


def make_dynamics(
    model: Classifier, prepared: PreparedTorch, inputs: TorchInputs, recorder: Recorder
) -> Dynamics | None:
    """The recorder of the training dynamics, if asked for."""
    if prepared.config.training.record == "no":
        return None
    assert isinstance(prepared.task, Classes)  # `find_task` refuses others
    assert isinstance(inputs.tokenizer, Tokenizer)  # the config refuses others
    texts = UnitTexts.of_indexed(inputs.texts.indexed, len(inputs.tokenizer), inputs.texts.labels)
    dynamics = Dynamics(prepared.config, inputs.tokenizer, prepared.task, texts, model)
    recorder.note(dynamics.note)
    return dynamics


def learn_vocabulary(
    config: Config, examples: Sequence[Example], recorder: Recorder, mixture: Mixture | None = None
) -> tuple[Tokenizer, torch.Tensor | None]:
    """The vocabulary of the training texts, and the initial word vectors: NaN for words that have none."""
    data = config.data
    truncated = 0

    def words_of(text: str) -> list[str]:
        nonlocal truncated
        words = forms(text, data.lowercase)
        truncated += data.max_words is not None and len(words) > data.max_words
        return words[: data.max_words]

    files = vector_files(data, mixture, recorder)
    texts = (words_of(example.text) for example in examples)
    keep = set() if files is None else {*files.words}
    vocabulary = Vocabulary.build(texts, data.min_count, data.max_vocabulary, keep)
    note_truncated(truncated, len(examples), data.max_words, recorder)
    if mixture is not None:
        known = mixture.origin.trained.tokenizer
        assert isinstance(known, Tokenizer)  # `check_origin` refuses others
        vocabulary = grown_vocabulary(known.vocabulary, vocabulary, data.max_vocabulary)
        recorder.note(mixture.summary(len(vocabulary)))
    tokenizer = Tokenizer(vocabulary, config.model.levels, data.lowercase, data.max_words)
    if files is None and mixture is not None and data.vectors is not None:
        return tokenizer, torch.from_numpy(mixture.no_vectors(len(vocabulary)))
    if files is None:
        return tokenizer, None
    return tokenizer, torch.from_numpy(files.initial(vocabulary.words, recorder))


def encode_texts(tokenizer: AnyTokenizer, task: Task, examples: Sequence[Example], where: str) -> Texts:
    labels = examples.labels if isinstance(examples, StoredExamples) else Labels.of(examples)
    return Texts(store_texts(tokenizer, examples, where), encoded(task, labels, where))


def environment(device: torch.device) -> dict[str, str]:
    threads = torch.get_num_threads()
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{threads} thread{'s' * (threads != 1)}"
    # unless PyTorch was told otherwise, for example by TORCH_ALLOW_TF32_CUBLAS_OVERRIDE, they have full precision
    products: Any = torch.backends.cuda.matmul
    tf32 = {"matrix products": "tf32"} if device.type == "cuda" and products.fp32_precision == "tf32" else {}
    return {**versions(), "torch": torch.__version__, device.type: name, **tf32}
