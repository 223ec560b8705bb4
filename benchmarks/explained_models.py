"""What benchmarks/explanations.py explains: texts of public corpora, and models trained on them.

The fast engine has the defaults of `regard train`. The other models are small, start from GloVe vectors and see only part of
the training texts, so that a CPU trains each within a minute; they were not tuned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from regard.config import Config
from regard.corpora.lookup import companion, resolve
from regard.data.readers import read
from regard.data.words import spans
from regard.models.folder import load
from regard.models.run_files import is_run
from regard.models.saving import save
from regard.models.trained import Trained
from regard.records import Example
from regard.training.fit import Parts, fit

SEED = 0
TRAINING_TEXTS = {
    "sst2": 8000,
    "ag_news": 8000,
    "yelp_small": 3000,
}  # at most, of the models other than the fast engine
SMALL: dict[str, Any] = {
    "encoder": "bilstm",
    "engine": "torch",
    "device": "cpu",
    "vectors": "glove100",
    "hidden": 100,
    "query": 100,
    "lr": 1e-3,
    "epochs": 6,
}
MODELS: dict[str, dict[str, Any]] = {
    "fast engine": {},
    "BiLSTM, attention": {**SMALL, "pooling": "attention"},
    "BiLSTM, APLN": {**SMALL, "pooling": "apln"},
    "HAN": {**SMALL, "pooling": "attention", "levels": 2},
}


def examples(corpus: str, part: str) -> list[Example]:
    path = resolve(corpus) if part == "train" else companion(corpus, part)
    return [] if path is None else read(path).examples


def sample(corpus: str, part: str, texts: int, most_words: int) -> list[Example]:
    """Random texts that are not empty and not too long, in their order."""
    suitable = [one for one in examples(corpus, part) if 0 < len(spans(one.text)) <= most_words]
    rows = np.random.default_rng(SEED).permutation(len(suitable))[:texts]
    return [suitable[row] for row in np.sort(rows).tolist()]


def trained_model(name: str, corpus: str, folder: Path | None = None) -> Trained:
    """A model trained on the corpus; one that the folder already has is not trained again."""
    kept = None if folder is None else folder / f"{corpus} {name}"
    if kept is not None and is_run(kept):
        return load(kept)
    train, dev = examples(corpus, "train"), examples(corpus, "dev")
    if MODELS[name]:
        train = [train[row] for row in np.random.default_rng(SEED).permutation(len(train))[: TRAINING_TEXTS[corpus]]]
    trained = fit(Config().override({"seed": SEED, **MODELS[name]}), Parts(train, dev or None))
    if kept is not None:
        save(trained, kept)
    return trained
