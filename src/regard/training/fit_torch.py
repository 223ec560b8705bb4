"""Fitting with PyTorch: task, words, vectors, model, loop."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from regard.config import Config
from regard.data.datasets import resolve
from regard.data.labels import Labels
from regard.data.splitting import hold_out
from regard.data.tokenizer import Tokenizer
from regard.data.vectors import read_vectors, vector_words
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms
from regard.models.build import build
from regard.models.tasks import Classes, Task, encoded
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.records import Example
from regard.training.choices import Size, choose
from regard.training.device import choose_device
from regard.training.fit import Parts, Run, find_task, fingerprint, versions
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
        recorder.note(f"{len(dev)} of the texts held out to stop early by" if dev else "too few texts to hold any out")
    tokenizer, vectors = learn_words(config, examples, recorder)
    torch.manual_seed(config.training.seed)
    model = build(config.model, len(tokenizer), task.out_dim, config.training.dropout or 0.0, vectors).to(device)
    texts = indexed(tokenizer, task, examples, parts.names[0])
    held = indexed(tokenizer, task, dev, parts.names[1]) if dev else None
    progress = train(model, task, texts, held, config.training, recorder, run.checkpoint, identity)
    metrics: dict[str, Any] = {
        "task": task.kind,
        "texts": len(examples),
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "seconds": sum(record["seconds"] for record in progress.history),
        "engine": "torch",
        "environment": environment(device),
        "fingerprint": identity,
        "history": progress.history,
    }
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
    if cut:
        recorder.note(f"{cut} of {len(examples)} texts are longer than max_words = {data.max_words} words and were cut")
    tokenizer = Tokenizer(vocabulary, config.model.levels, data.lowercase, data.max_words)
    if path is None:
        return tokenizer, None
    table, found = read_vectors(path, vocabulary.words)
    width = table.shape[1]
    recorder.note(f"{int(found.sum())} of {len(found)} words have a vector in {data.vectors} ({width} numbers each)")
    vectors = np.full((len(vocabulary), width), np.nan, dtype=np.float32)
    vectors[2:][found] = table[found]
    return tokenizer, torch.from_numpy(vectors)


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
