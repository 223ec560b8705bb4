"""From examples to a trained model: task, words, vectors, model, loop."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.config import Config
from regard.data.datasets import resolve
from regard.data.guess import guess_task
from regard.data.splitting import hold_out
from regard.data.tokenizer import Tokenizer
from regard.data.vectors import read_vectors, vector_words
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms
from regard.errors import InputError
from regard.models.build import build
from regard.models.tasks import Classes, Task, make_task
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.records import Example
from regard.training.device import choose_device
from regard.training.loop import Texts, evaluate, train


def fit(
    config: Config,
    examples: Sequence[Example],
    dev: Sequence[Example] | None,
    recorder: Recorder,
    checkpoint: Path | None = None,
    where: str = "the training texts",
) -> Trained:
    """Train on examples; a part of them is held out where no dev examples are given."""
    task = find_task(config, examples, recorder, where)
    config = config.override({"task": task.kind})
    device = choose_device(config.training.device)
    identity = fingerprint(config, examples, dev)
    if dev is None:
        examples, dev = hold_out(examples, config.data.dev_fraction, config.training.seed, isinstance(task, Classes))
        recorder.note(f"{len(dev)} of the texts held out to stop early by" if dev else "too few texts to hold any out")
    tokenizer, vectors = learn_words(config, examples, recorder)
    torch.manual_seed(config.training.seed)
    model = build(config.model, len(tokenizer.vocabulary), task.out_dim, config.training.dropout, vectors).to(device)
    texts = indexed(tokenizer, task, examples, where)
    held = indexed(tokenizer, task, dev, "the dev texts") if dev else None
    progress = train(model, task, texts, held, config.training, recorder, checkpoint, identity)
    metrics: dict[str, Any] = {
        "task": task.kind,
        "texts": len(examples),
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "seconds": sum(record["seconds"] for record in progress.history),
        "environment": environment(device),
        "fingerprint": identity,
        "history": progress.history,
    }
    if held:
        metrics["dev"] = evaluate(model, task, held)[0]
    return Trained(config, tokenizer, task, model, metrics)


def find_task(config: Config, examples: Sequence[Example], recorder: Recorder, where: str) -> Task:
    kind: str = config.data.task
    if kind == "auto":
        try:
            kind, reason = guess_task([str(example.label) for example in examples])
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        recorder.note(reason)
    return make_task(kind, examples, where)


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
    vocabulary = Vocabulary.build(texts, data.min_count, data.max_vocabulary, keep)
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
    labels = [task.encode(example.label, f"{where}, row {example.row}") for example in examples]
    return Texts([tokenizer.encode(example.text) for example in examples], np.array(labels, dtype=np.float64))


def fingerprint(config: Config, examples: Sequence[Example], dev: Sequence[Example] | None) -> str:
    """Tells whether two runs would go the same way: options (but not how long), texts, labels and device."""
    data = replace(config.data, train=None, dev=None, test=None)
    training = replace(config.training, epochs=1, device=str(choose_device(config.training.device)))
    digest = hashlib.sha256(Config(data, config.model, training).to_toml().encode("utf-8", "replace"))
    digest.update(f"{len(examples)}\0".encode())  # where dev begins
    for example in (*examples, *(dev or ())):
        digest.update(f"\0{example.label}\0{example.text}".encode("utf-8", "replace"))
    return digest.hexdigest()


def environment(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} threads"
    return {"python": platform.python_version(), "torch": torch.__version__, device.type: name}
