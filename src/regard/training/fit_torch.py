"""Fitting with PyTorch: task, words, vectors, model, loop."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import torch

from regard.config import Config
from regard.data.datasets import resolve
from regard.data.labels import Labels
from regard.data.splitting import hold_out
from regard.data.tokenizer import Tokenizer
from regard.data.vectors import vector_words
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms
from regard.models.build import build
from regard.models.tasks import Classes, Task, encoded
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.records import Example
from regard.training.choices import Size, choose
from regard.training.device import choose_device
from regard.training.fit import (
    Parts,
    Run,
    find_task,
    fingerprint,
    first_metrics,
    starting_vectors,
    tell_cut,
    tell_held_out,
    versions,
)
from regard.training.loop import Texts, evaluate, train
from regard.training.metrics import measure


def fit_torch(config: Config, parts: Parts, run: Run) -> Trained:
    examples, recorder = list(parts.train), run.recorder
    dev = None if parts.dev is None else list(parts.dev)
    test = None if parts.test is None else list(parts.test)
    task = find_task(config, Labels.of(examples), recorder, parts.names[0])
    # a label that cannot be scored is told now, not after hours of training
    truth = [
        encoded(task, Labels.of(part), name, parts.column)
        for part, name in zip((dev or (), test or ()), parts.names[1:], strict=True)
    ]
    config = choose(config.override({"task": task.kind}), Size(len(examples), 0))
    device = choose_device(config.training.device)
    identity = fingerprint(config, [digest(examples), *([] if dev is None else [digest(dev)])], str(device))
    if done := run.finished(identity):
        return done
    if dev is None:
        examples, dev = hold_out(examples, config.data.dev_fraction, config.training.seed, isinstance(task, Classes))
        tell_held_out(len(dev), recorder)
    tokenizer, vectors = learn_words(config, examples, recorder)
    torch.manual_seed(config.training.seed)
    model = build(config.model, len(tokenizer), task.out_dim, config.training.dropout or 0.0, vectors).to(device)
    texts = indexed(tokenizer, task, examples, parts.names[0])
    held = indexed(tokenizer, task, dev, parts.names[1]) if dev else None
    progress = train(model, task, texts, held, config.training, recorder, run.checkpoint, identity)
    metrics = first_metrics(task, len(examples), progress, identity)
    metrics |= {"engine": "torch", "environment": environment(device)}
    if held:
        metrics["dev"] = evaluate(model, task, held)[0]
    trained = Trained(config, tokenizer, task, metrics, model=model)
    if test is not None:
        metrics["test"] = measure(task, trained.answers([example.text for example in test]), truth[1])
    return trained


def learn_words(
    config: Config, examples: Sequence[Example], recorder: Recorder
) -> tuple[Tokenizer, torch.Tensor | None]:
    """The vocabulary of the training texts, and the vectors to start from: NaN for words that have none."""
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
    vocabulary = Vocabulary.build(texts, data.min_count or 2, data.max_vocabulary, keep)
    tell_cut(cut, len(examples), data.max_words, recorder)
    tokenizer = Tokenizer(vocabulary, config.model.levels, data.lowercase, data.max_words)
    if path is None:
        return tokenizer, None
    return tokenizer, torch.from_numpy(starting_vectors(data, vocabulary.words, path, recorder))


def indexed(tokenizer: Tokenizer, task: Task, examples: Sequence[Example], where: str) -> Texts:
    return Texts([tokenizer.encode(example.text) for example in examples], encoded(task, Labels.of(examples), where))


def digest(examples: Iterable[Example]) -> str:
    told = hashlib.sha256()
    for example in examples:
        told.update(f"\0{example.label}\0{example.text}".encode("utf-8", "replace"))
    return told.hexdigest()


def environment(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} threads"
    return {**versions(), "torch": torch.__version__, device.type: name}
