"""Defaults of options that the user left open, by engine, and for the sparse engine also by the size of the data.

The rules for the sparse engine were found by five-fold cross-validation on the training and dev texts of sst2, sst1, trec,
subj and mr, and on one fold of ag_news, imdb and 20newsgroups; `benchmarks/accuracy.py` tests them on other corpora.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from regard.config import Config, Model, level_names
from regard.errors import InputError
from regard.extras import require
from regard.models.flat import is_flat

MAX_WORDS, MAX_PAIRS = 1 << 20, 1 << 20  # rows of the sparse engine's embedding
FEW = 0.2  # new texts are few up to this share of earlier ones
SCALE = 3.0  # λ of the sparse engine
SPELLED = 1_000_000  # number of words below which one member reads letters
LOCK_FREE = 20_000_000  # number of words above which the sparse engine's threads do not wait for each other


class DataSize(NamedTuple):
    """The size of the training part."""

    texts: int
    words: int
    outputs: int = 1  # of the head: 1 for binary classification and regression


def sparse_obstacles(config: Config) -> list[str]:
    """The reasons why the sparse engine cannot train with these options."""
    model, training = config.model, config.training
    return [
        reason
        for reason, true in (
            ("it does not support head_hidden", model.head_hidden),
            (
                "it supports only encoder = 'embedding' or 'affine' with pooling = 'attention' on one level",
                not is_flat(model),
            ),
            ("it runs only on the CPU", training.device not in ("auto", "cpu")),
            ("it supports only the optimizers adagrad and sgd", training.optimizer in ("adam", "amsgrad")),
            ("it does not support clip", bool(training.clip)),
            ("it does not support bf16", training.bf16),
            ("it supports the penalty vtw but not vtw_mapped", bool(training.vtw_mapped)),
            ("it does not support freeze_embeddings", model.freeze_embeddings),
        )
        if true
    ]


def choose_engine(config: Config) -> Config:
    """The options with engine = "sparse" or "torch"; an error if the sparse engine was asked for but cannot be used."""
    engine, obstacles = config.training.engine, sparse_obstacles(config)
    if engine == "sparse" and obstacles:
        raise InputError(f"engine = 'sparse': {obstacles[0]}; use engine = 'auto' or 'torch'")
    if engine == "auto":
        engine = "torch" if obstacles else "sparse"
    if engine == "torch":
        because = f" ({obstacles[0].replace('it ', 'the fast engine ', 1)})" if obstacles else ""
        require("torch", f"training with these options{because}")
    return config.override({"engine": engine})


def fill_defaults(config: Config, size: DataSize) -> Config:
    """The options with an engine and a value for every open option."""
    config = choose_engine(config)
    values = {**vars(config.data), **vars(config.model), **vars(config.training)}
    for name in ("decay", "pairs", "beginnings"):
        if config.training.engine == "torch" and values[name]:
            reason = next(iter(sparse_obstacles(config)), "engine = 'torch' was asked for")
            raise InputError(f"{name} needs the sparse engine, which cannot be used with the other options: {reason}")
    defaults = sparse_defaults(config, size) if config.training.engine == "sparse" else torch_defaults(config, size)
    return config.override({name: value for name, value in defaults.items() if values[name] is None})


def has_bottleneck(model: Model) -> bool:
    return level_names(model.pooling)[-1] == "bottleneck"


# Default learning rates of PyTorch's optimisers. They are not written into the options, because the identity of a run
# depends on those: checkpoints of earlier versions could no longer be resumed.
LEARNING_RATES = {"adam": 3e-3, "amsgrad": 3e-3, "adagrad": 0.05, "sgd": 0.1}


def torch_defaults(config: Config, size: DataSize) -> dict[str, object]:
    """Defaults for PyTorch: more epochs for few texts, because the size of a step does not depend on their number."""
    batch_size = config.training.batch_size or (32 if config.model.reads_pieces else 64)
    steps = max(1, math.ceil(size.texts / batch_size))
    return {
        "min_count": 2,
        "pairs": False,
        "beginnings": 0,
        "embedding": 100,
        "attention": "additive",
        "members": 1,
        "spelling": False,
        "linear": False,
        "scale": 1.0,
        "epochs": min(100, max(20, math.ceil(500 / steps))),
        "patience": min(20, max(3, math.ceil(100 / steps))),
        "batch_size": batch_size,
        "optimizer": "adam",
        "dropout": 0.2,
        "clip": 5.0,
        "decay": False,
        "select": "accuracy",
        "calibrate": config.training.record == "no",
        "deterministic": True,
        **(fine_tuning_defaults(steps) if config.model.reads_pieces else {}),
        **({"beta": 0.1, "rounds": 3, "phase_epochs": 1} if has_bottleneck(config.model) else {}),
    }


def fine_tuning_defaults(steps: int) -> dict[str, object]:
    """Defaults for fine-tuning a pretrained encoder: small steps and few epochs."""
    return {
        "lr": 3e-5,
        "min_count": None,  # its word pieces are fixed
        "dropout": 0.1,
        "clip": 1.0,
        "epochs": min(20, max(4, math.ceil(300 / steps))),
        "patience": min(5, max(2, math.ceil(100 / steps))),
    }


def sparse_defaults(config: Config, size: DataSize) -> dict[str, object]:
    pairs = config.data.pairs is not False
    linear, members = has_linear_member(config, size), config.model.members
    spelling = has_spelling_member(config, size)
    if members is None:
        members = committee_size(config, size) + linear + spelling
    patience = 0 if config.training.decay is not False else 3
    optimizer = config.training.optimizer or "adagrad"
    return {
        "min_count": (1 if size.words < 1_000_000 else 2 if size.words < 30_000_000 else 5) if pairs else 2,
        "max_vocabulary": MAX_WORDS,
        "pairs": True,
        "beginnings": 5 if pairs else 0,
        "embedding": sparse_width(size),
        "attention": "dot",
        "members": members,
        "spelling": spelling,
        "linear": linear,
        "scale": SCALE,
        "epochs": sparse_epochs(size),
        "patience": patience,
        # patience needs a score to wait for
        "select": "accuracy" if members == 1 or (config.training.patience or patience) else "last",
        "calibrate": config.training.record == "no",
        "batch_size": min(32, max(1, size.texts // 200)),
        "optimizer": optimizer,
        "lr": adagrad_rate(size) if optimizer == "adagrad" else 1.0,
        "decay": True,
        "dropout": 0.1,
        "clip": 0.0,
        "deterministic": size.words <= LOCK_FREE,
    }


def committee_size(config: Config, size: DataSize) -> int:
    """Five models for few texts, three for more, one where that takes long, and where the papers describe one."""
    model, training = config.model, config.training
    plain = model.encoder == "embedding" and model.attention != "additive" and not training.vtw
    if not plain or training.record != "no" or size.words > LOCK_FREE:
        return 1
    return 5 if size.texts < 5000 and size.words < 1_000_000 else 3


def has_linear_member(config: Config, size: DataSize) -> bool:
    """Whether vectors are read by a linear member; otherwise the vectors of the attention models start from them."""
    if config.model.linear is not None:
        return config.model.linear
    if config.data.task == "multilabel":
        return False  # it has one class per text
    members = config.model.members or committee_size(config, size)
    return config.data.vectors is not None and members > 1 and config.model.head_bias


def has_spelling_member(config: Config, size: DataSize) -> bool:
    """Whether one more member reads the letters of words: for few words, most of which are rare."""
    if config.model.spelling is not None:
        return config.model.spelling
    is_committee = config.model.members is None and committee_size(config, size) > 1
    is_open = config.data.vectors is None and not config.model.linear and config.model.head_bias
    width = config.model.embedding or sparse_width(size)
    return (
        is_committee and is_open and config.data.task != "regression" and size.words < SPELLED and size.outputs < width
    )


def sparse_width(size: DataSize) -> int:
    return 16 if size.outputs == 1 else 32 if size.outputs < 10 else 64


def adagrad_rate(size: DataSize) -> float:
    """Larger for long texts, in which each word has little weight, and for many classes, each of which has few texts."""
    length = size.words / max(size.texts, 1)
    classes = size.outputs if size.outputs > 1 else 0
    return float(min(0.3, 0.1 * max(1.0, length / 20) ** 0.2 * (1 + classes / 20)))


def sparse_epochs(size: DataSize) -> int:
    """More for few texts, so that there are about a thousand steps, and fewer for many words."""
    if size.texts < 500:
        return min(50, max(10, math.ceil(1000 / max(size.texts, 1))))
    return 5 if size.words < 1_000_000 else 3 if size.words < 30_000_000 else 1


def continued_defaults(config: Config, size: DataSize, share: float) -> Config:
    """The options of a run of the sparse engine that continues another; `share`: of new texts in earlier ones.

    One epoch, unless there are many new texts; the learning rate stays that of the old run. `benchmarks/growing.py` compares.
    """
    values = vars(config.training)
    epochs = 1 if share <= FEW else min(3, sparse_epochs(size))
    defaults = {"epochs": epochs, "patience": 0, "select": "last"}
    config = config.override({name: value for name, value in defaults.items() if values[name] is None})
    return config.override({"spelling": False})  # a member that read letters is continued like the others


def provisional_defaults(config: Config) -> Config:
    """Options from which a model can be built before any text is read."""
    chosen = fill_defaults(config, DataSize(1000, 20_000))
    return chosen.override({"scale": 1.0}) if chosen.model.is_scale_open else chosen
