"""Build a model from its options."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn

from regard.config import Model, level_names
from regard.encoders import BERT, ENCODERS, Encoder
from regard.errors import InputError
from regard.models.classifier import Classifier, Level
from regard.models.tasks import COMPRESSED
from regard.poolings import POOLINGS, Pooling
from regard.poolings.perceptron import Perceptron


def build(
    config: Model,
    words: int,
    outputs: int,
    dropout: float = 0.0,
    vectors: Tensor | None = None,
    reader: Encoder | None = None,
) -> Classifier:
    """An untrained model for this many word ids (0 is padding). Embeddings start from `vectors`, if given. `reader` is the
    encoder of the lowest level, if it is loaded already: a pretrained one, which is otherwise read from its folder."""
    config = config.filled()
    encoders = names_per_level(config.encoder, ENCODERS, "encoder", config.levels)
    poolings = names_per_level(config.pooling, POOLINGS, "pooling", config.levels)
    pretrained = config.reads_pieces
    reader = BERT.configured(0, config) if pretrained and reader is None else reader
    width = reader.width if isinstance(reader, BERT) else config.embedding * config.members
    embedding = nn.Embedding(words, width if vectors is None else vectors.size(1), padding_idx=0)
    with torch.no_grad():
        embedding.weight.uniform_(-config.embedding_range, config.embedding_range)
        if vectors is not None:
            embedding.weight.copy_(torch.where(vectors.isnan(), embedding.weight, vectors))
        embedding.weight[0] = 0
    embedding.weight.requires_grad_(not (config.freeze_embeddings or config.frozen_layers))
    width = embedding.embedding_dim
    levels: list[Level] = []
    for encoder_name, pooling_name in zip(encoders, poolings, strict=True):
        encoder = reader if reader and not levels else ENCODERS[encoder_name].configured(width, config)
        if POOLINGS[pooling_name].reads_summary and not encoder.summarises:
            raise InputError(
                f"pooling = {config.pooling!r}: expected encoder 'bert', which summarises texts, got {encoder_name!r}"
            )
        pooling = POOLINGS[pooling_name].configured(encoder.dim, encoder.directions, config)
        levels.append(Level(encoder, pooling, dropout))
        width = encoder.dim
    head, others = make_heads(levels[-1].pooling, width, outputs, config.head_bias, config.head_hidden)
    # a pretrained encoder has dropout on its input already
    return Classifier(embedding, levels, head, 0.0 if pretrained else dropout, others)


def names_per_level(value: str, allowed: Collection[str], option: str, levels: int) -> list[str]:
    """ "attention" for all levels, or "cnn,bilstm": one per level, words first."""
    names = level_names(value)
    for name in names:
        if name not in allowed:
            raise InputError(f"{option} = {value!r}: expected one of {', '.join(allowed)}, got {name!r}")
    if len(names) not in (1, levels):
        raise InputError(f"{option} = {value!r}: expected one name, or one for each of the {levels} levels")
    return names * levels if len(names) == 1 else names


def make_heads(
    top: Pooling, width: int, outputs: int, bias: bool, hidden: bool = False
) -> tuple[nn.Linear | Perceptron, dict[str, nn.Module]]:
    """The head for the labels (linear, or a perceptron), and other heads by name: a bottleneck has one on z too."""
    if not top.compresses:
        return Perceptron(width, outputs, bias) if hidden else nn.Linear(width, outputs, bias=bias), {}
    return Perceptron(width, outputs, bias), {COMPRESSED: Perceptron(width, outputs, bias)}
