"""Small models with random weights, for tests of explainers. They are not trained; float64 makes small errors visible."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from regard.config import Config
from regard.data.reviews import reviews
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms
from regard.models.build import build
from regard.models.tasks import Binary, Multiclass, Regression, Task
from regard.models.trained import Trained

TEXTS = [
    "I don't like it. Not at all!",
    "good",
    "",
    "One is good. Two is not.\n\nThree is bad. Four is bad, bad, bad.",
    "nothing of this is known: qwerty asdf",
    *(example.text for example in reviews(4, seed=3)),
]
TASKS: dict[str, Task] = {
    "binary": Binary(("no", "yes")),
    "multiclass": Multiclass(("low", "middle", "high")),
    "regression": Regression(mean=3.0, scale=2.0),
}
WORDS = Vocabulary.build([forms(text) for text in TEXTS[:4] + TEXTS[5:]], min_count=1)
PAIRS = np.array([(WORDS.ids(["is"])[0], WORDS.ids([word])[0]) for word in ("good", "bad", "not")], dtype=np.int64)
SMALL = {"embedding": 6, "hidden": 6, "query": 5, "embedding_range": 1.0, "query_range": 1.0}
VARIANTS: dict[str, dict[str, Any]] = {
    "embedding": {"encoder": "embedding", "attention": "dot"},
    "units": {"encoder": "embedding", "attention": "dot"},  # with pairs and beginnings of words
    "affine": {"encoder": "affine"},
    "average": {"encoder": "embedding", "pooling": "average"},
    "cnn": {"encoder": "cnn", "windows": (2, 3)},
    "cnn-max": {"encoder": "cnn", "pooling": "max"},
    "lstm-last": {"encoder": "lstm", "pooling": "last"},
    "bilstm": {"encoder": "bilstm"},
    "norm_unit": {"encoder": "lstm", "pooling": "norm_unit"},
    "apln": {"encoder": "bilstm", "pooling": "apln", "norm_init": 2.0},
    "bottleneck": {"encoder": "lstm", "pooling": "bottleneck"},
    "han": {"encoder": "bilstm", "levels": 2},
    "han-apln": {"encoder": "cnn,bilstm", "pooling": "apln", "levels": 2, "norm_init": 3.0},
    "three": {"encoder": "lstm", "levels": 3},
}


def make(variant: str = "bilstm", task: str = "multiclass", seed: int = 0, **options: Any) -> Trained:
    config = Config().override({**SMALL, **VARIANTS[variant], **options})
    words = Tokenizer(WORDS, config.model.levels, max_words=config.data.max_words)
    if variant == "units":
        words = Tokenizer(WORDS, letters=3, beginnings=("thr", "not", "goo"), pairs=PAIRS)
    torch.manual_seed(seed)
    model = build(config.model, len(words), TASKS[task].out_dim)
    if model.head.__class__ is torch.nn.Linear:
        torch.nn.init.normal_(model.head.weight)
    return Trained(config, words, TASKS[task], model=model.double().eval())
