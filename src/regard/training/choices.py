"""The defaults of options that the user left open, by engine, and for the sparse engine by the size of the data.

The sparse engine's rules were fixed by five-fold cross-validation within the training and dev texts of sst2, sst1, trec,
subj and mr, and on one such fold of ag_news, imdb and 20newsgroups; `benchmarks/accuracy.py` tries them on other corpora.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from regard.config import Config, Model, level_names
from regard.errors import InputError
from regard.models.flat import is_flat

MOST_WORDS, MOST_PAIRS = 1 << 20, 1 << 20  # rows of the sparse engine's table at most
LOCK_FREE = 20_000_000  # words above which the sparse engine's threads no longer wait for each other


class Size(NamedTuple):
    """The size of the training part."""

    texts: int
    words: int
    outputs: int = 1  # of the head: 1 for two classes and for numbers


def against_sparse(config: Config) -> list[str]:
    """The reasons why the sparse engine cannot train this."""
    model, training = config.model, config.training
    return [
        reason
        for reason, true in (
            ("it has no hidden layer in its head", model.head_hidden),
            ("it reads encoder = 'embedding' or 'affine' with pooling = 'attention' on one level", not is_flat(model)),
            ("it runs on the CPU", training.device not in ("auto", "cpu")),
            ("it takes the steps of adagrad and sgd", training.optimizer == "adam"),
            ("it clips no gradient", bool(training.clip)),
            ("it knows no bf16", training.bf16),
            ("it knows the penalty vtw but not vtw_mapped", bool(training.vtw_mapped)),
            ("it learns the word vectors, and freeze_embeddings leaves them", model.freeze_embeddings),
        )
        if true
    ]


def with_engine(config: Config) -> Config:
    """The options with engine = "sparse" or "torch"; an error if the sparse engine was asked for and cannot train this."""
    engine, against = config.training.engine, against_sparse(config)
    if engine == "sparse" and against:
        raise InputError(f"engine = 'sparse': {against[0]}; engine = 'auto' or 'torch' is accepted")
    if engine != "auto":
        return config
    return config.override({"engine": "torch" if against else "sparse"})


def choose(config: Config, size: Size) -> Config:
    """The options with nothing left open."""
    config = with_engine(config)
    given = {**vars(config.data), **vars(config.model), **vars(config.training)}
    for name in ("decay", "pairs", "beginnings"):
        if config.training.engine == "torch" and given[name]:
            reason = next(iter(against_sparse(config)), "engine = 'torch' was asked for")
            raise InputError(f"{name} needs the sparse engine, which the other options rule out: {reason}")
    defaults = by_size(config, size) if config.training.engine == "sparse" else plain(config, size)
    return config.override({name: value for name, value in defaults.items() if given[name] is None})


def has_bottleneck(model: Model) -> bool:
    return level_names(model.pooling)[-1] == "bottleneck"


# learning rates of PyTorch's optimisers. They are not written into the options: a run's identity depends on those, and
# checkpoints of earlier versions could no longer be resumed
RATES = {"adam": 3e-3, "adagrad": 0.05, "sgd": 0.1}


def plain(config: Config, size: Size) -> dict[str, Any]:
    """Defaults for PyTorch: more epochs over few texts, because the size of a step does not depend on their number."""
    batch_size = config.training.batch_size or (32 if config.model.reads_pieces else 64)
    steps = max(1, math.ceil(size.texts / batch_size))
    return {
        "min_count": 2,
        "pairs": False,
        "beginnings": 0,
        "embedding": 100,
        "attention": "additive",
        "scale": 1.0,
        "epochs": min(100, max(20, math.ceil(500 / steps))),
        "patience": min(20, max(3, math.ceil(100 / steps))),
        "batch_size": batch_size,
        "optimizer": "adam",
        "dropout": 0.2,
        "clip": 5.0,
        "decay": False,
        "deterministic": True,
        **(pretrained(steps) if config.model.reads_pieces else {}),
        **({"beta": 0.1, "rounds": 3, "phase_epochs": 1} if has_bottleneck(config.model) else {}),
    }


def pretrained(steps: int) -> dict[str, Any]:
    """Defaults for fine-tuning a pretrained encoder: small steps and few epochs."""
    return {
        "lr": 3e-5,
        "min_count": None,  # its word pieces are fixed
        "dropout": 0.1,
        "clip": 1.0,
        "epochs": min(20, max(4, math.ceil(300 / steps))),
        "patience": min(5, max(2, math.ceil(100 / steps))),
    }


def by_size(config: Config, size: Size) -> dict[str, Any]:
    """Defaults for the sparse engine."""
    pairs = config.data.pairs is not False
    optimizer = config.training.optimizer or "adagrad"
    return {
        "min_count": (1 if size.words < 1_000_000 else 2 if size.words < 30_000_000 else 5) if pairs else 2,
        "max_vocabulary": MOST_WORDS,
        "pairs": True,
        "beginnings": 5 if pairs else 0,
        "embedding": 16 if size.outputs == 1 else 32 if size.outputs < 10 else 64,
        "attention": "dot",
        "scale": 3.0,
        "epochs": epochs(size),
        "patience": 0 if config.training.decay is not False else 3,
        "batch_size": min(32, max(1, size.texts // 200)),
        "optimizer": optimizer,
        "lr": rate(size) if optimizer == "adagrad" else 1.0,
        "decay": True,
        "dropout": 0.1,
        "clip": 0.0,
        "deterministic": size.words <= LOCK_FREE,
    }


def rate(size: Size) -> float:
    """Larger for long texts, where each word has little weight, and for many classes, each of which has few texts."""
    length = size.words / max(size.texts, 1)
    classes = size.outputs if size.outputs > 1 else 0
    return float(min(0.3, 0.1 * max(1.0, length / 20) ** 0.2 * (1 + classes / 20)))


def epochs(size: Size) -> int:
    """More for few texts, which would make fewer than a thousand steps, and fewer for many words."""
    if size.texts < 200:
        return min(50, math.ceil(1000 / max(size.texts, 1)))
    return 5 if size.words < 1_000_000 else 3 if size.words < 30_000_000 else 1


def probe(config: Config) -> Config:
    """Options that a model can be built with before any text is read."""
    chosen = choose(config, Size(1000, 20_000))
    return chosen.override({"scale": 1.0}) if chosen.model.is_scale_open else chosen
