"""Training with PyTorch: task, words, vectors, model, loop."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.analysis.dynamics import Dynamics
from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.examples import encode_examples
from regard.data.labels import Labels
from regard.data.splitting import hold_out
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vectors import vector_words
from regard.data.vocabulary import Vocabulary
from regard.data.wordpieces import AnyTokenizer
from regard.data.words import forms
from regard.encoders import BERT
from regard.encoders.pretrained import Pretrained, read_pretrained
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import Classes, Task, encoded
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.records import Example
from regard.training.checkpoint import Checkpoint
from regard.training.choices import Size, choose
from regard.training.device import choose_device
from regard.training.loop import train
from regard.training.metrics import measure
from regard.training.pieces import digest_of, learn_pieces, settled, tell_windows
from regard.training.preparation import (
    Parts,
    Run,
    check_some,
    find_task,
    fingerprint,
    first_metrics,
    starting_vectors,
    tell_cut,
    tell_held_out,
    versions,
)
from regard.training.torch_engine import Texts, TorchEngine, evaluate


@dataclass(frozen=True)
class Material:
    """The texts that were read and what follows from them, before anything is trained."""

    config: Config  # with nothing left open
    task: Task
    device: torch.device
    train: list[Example]
    dev: list[Example] | None
    test: list[Example] | None
    names: tuple[str, str, str]
    truth: NDArray[np.float64]  # encoded labels of the test texts
    pretrained: Pretrained | None = None  # the initial encoder

    @cached_property
    def identity(self) -> str:
        """Takes a pass over all texts."""
        return fingerprint(self.config, self.digests, str(self.device))

    @property
    def digests(self) -> list[str]:
        parts = [digest(part) for part in (self.train, self.dev) if part is not None]
        return parts if self.pretrained is None else [*parts, digest_of(self.pretrained)]

    @property
    def versions(self) -> dict[str, str]:
        return {} if self.pretrained is None else {"transformers": self.pretrained.version}

    @property
    def encoder_config(self) -> Mapping[str, Any] | None:
        return None if self.pretrained is None else self.pretrained.encoder_config

    def fit(self, run: Run) -> Trained:
        learned = index(self, run.recorder)
        model = make_model(self, learned, self.config.training.seed).to(self.device)
        return teach(model, self, learned, run)


def gather(config: Config, parts: Parts, recorder: Recorder) -> Material:
    examples = list(parts.train)
    dev = None if parts.dev is None else list(parts.dev)
    test = None if parts.test is None else list(parts.test)
    task = find_task(config, Labels.of(examples), recorder, parts.names[0])
    if test is not None:
        check_some(len(test), parts.names[2])
    # refuse a label that cannot be scored before training, not after hours of it
    encoded(task, Labels.of(dev or ()), parts.names[1], parts.column)
    truth = encoded(task, Labels.of(test or ()), parts.names[2], parts.column)
    pretrained = None
    if config.model.reads_pieces:
        assert config.model.pretrained is not None  # the config asks for it
        pretrained = read_pretrained(config.model.pretrained)
        config = settled(config, pretrained, recorder)
    config = choose(config.override({"task": task.kind}), Size(len(examples), 0))
    device = choose_device(config.training.device)
    return Material(config, task, device, examples, dev, test, parts.names, truth, pretrained)


class Learned(NamedTuple):
    """Vocabulary, word vectors, and the texts as ids."""

    tokenizer: AnyTokenizer
    vectors: torch.Tensor | None
    texts: Texts
    held: Texts | None


def index(given: Material, recorder: Recorder) -> Learned:
    """Hold texts out if there is no dev part, and turn words into ids."""
    config, task, examples, dev = given.config, given.task, given.train, given.dev
    train_name, dev_name, test_name = given.names
    if dev is None:
        dev_name = train_name
        examples, dev = hold_out(examples, config.data.dev_fraction, config.training.seed, isinstance(task, Classes))
        tell_held_out(len(dev), config.data.dev_fraction, recorder)
    tokenizer: AnyTokenizer
    if given.pretrained is None:
        tokenizer, vectors = learn_words(config, examples, recorder)
    else:
        tokenizer, vectors = learn_pieces(config, given.pretrained, examples, recorder)
    texts = indexed(tokenizer, task, examples, train_name)
    held = indexed(tokenizer, task, dev, dev_name) if dev else None
    if config.model.window:
        tell_windows(texts.indexed, config.model.window, recorder)
    elif given.test is not None and given.pretrained is not None:
        encode_examples(tokenizer, given.test, test_name)  # refuse a text that is too long before training, not after
    return Learned(tokenizer, vectors, texts, held)


def make_model(given: Material, learned: Learned, seed: int) -> Classifier:
    torch.manual_seed(seed)
    dropout, model = given.config.training.dropout, given.config.model
    reader = None if given.pretrained is None else BERT.from_pretrained(given.pretrained, model)
    return build(model, len(learned.tokenizer), given.task.out_dim, dropout, learned.vectors, reader)


def teach(model: Classifier, given: Material, learned: Learned, run: Run) -> Trained:
    """Train a new model in place and measure it."""
    config, task, identity = given.config, given.task, given.identity
    dynamics = watch(model, given, learned, run.recorder)
    checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint, identity)
    with TorchEngine(model, task, learned.texts, learned.held, config.training) as engine:
        progress = train(engine, run.recorder, checkpoint, dynamics)
    metrics = first_metrics(task, len(learned.texts.labels), progress, identity)
    metrics |= {"engine": "torch", "environment": environment(given.device) | given.versions}
    if learned.held:
        metrics["dev"] = evaluate(model, task, learned.held)[0]
    recorded = None if dynamics is None else dynamics.recorded()
    trained = Trained(
        config, learned.tokenizer, task, metrics, model=model, dynamics=recorded, encoder_config=given.encoder_config
    )
    if given.test is not None:
        metrics["test"] = measure(task, trained.answers([example.text for example in given.test]), given.truth)
    return trained


def watch(model: Classifier, given: Material, learned: Learned, recorder: Recorder) -> Dynamics | None:
    """The recorder of the training dynamics, if asked for."""
    if given.config.training.record == "no":
        return None
    assert isinstance(given.task, Classes)  # `find_task` refuses others
    assert isinstance(learned.tokenizer, Tokenizer)  # the config refuses others
    texts = UnitTexts.of_indexed(learned.texts.indexed, len(learned.tokenizer), learned.texts.labels)
    dynamics = Dynamics(given.config, learned.tokenizer, given.task, texts, model)
    recorder.note(dynamics.note)
    return dynamics


def learn_words(
    config: Config, examples: Sequence[Example], recorder: Recorder
) -> tuple[Tokenizer, torch.Tensor | None]:
    """The vocabulary of the training texts, and the initial word vectors: NaN for words that have none."""
    data = config.data
    cut = 0

    def words_of(text: str) -> list[str]:
        nonlocal cut
        words = forms(text, data.lowercase)
        cut += data.max_words is not None and len(words) > data.max_words
        return words[: data.max_words]

    path = None if data.vectors is None else resolve(data.vectors, "vectors")
    texts = (words_of(example.text) for example in examples)
    keep = set() if path is None else vector_words(path)
    vocabulary = Vocabulary.build(texts, data.min_count, data.max_vocabulary, keep)
    tell_cut(cut, len(examples), data.max_words, recorder)
    tokenizer = Tokenizer(vocabulary, config.model.levels, data.lowercase, data.max_words)
    if path is None:
        return tokenizer, None
    return tokenizer, torch.from_numpy(starting_vectors(data, vocabulary.words, path, recorder))


def indexed(tokenizer: AnyTokenizer, task: Task, examples: Sequence[Example], where: str) -> Texts:
    return Texts(encode_examples(tokenizer, examples, where), encoded(task, Labels.of(examples), where))


def digest(examples: Iterable[Example]) -> str:
    hashed = hashlib.sha256()
    for example in examples:
        hashed.update(f"\0{example.label}\0{example.text}".encode("utf-8", "replace"))
    return hashed.hexdigest()


def environment(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} threads"
    return {**versions(), "torch": torch.__version__, device.type: name}
