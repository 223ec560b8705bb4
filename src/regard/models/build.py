"""A model from its options."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn

from regard.config import Model, level_names
from regard.encoders import BERT, ENCODERS, Encoder
from regard.errors import InputError
from regard.models.classifier import Classifier, Level
from regard.models.heads import make_heads
from regard.poolings import POOLINGS


def build(
    config: Model,
    words: int,
    outputs: int,
    dropout: float = 0.0,
    vectors: Tensor | None = None,
    reader: Encoder | None = None,
) -> Classifier:
    """A fresh model for this many word ids (0 is padding). Vectors, where given, are what the embeddings start from.
    `reader` is the lowest level's encoder, where it is there already: a pretrained one, which else is read from its folder."""
    config = config.filled()
    encoders = names_a_level(config.encoder, ENCODERS, "encoder", config.levels)
    poolings = names_a_level(config.pooling, POOLINGS, "pooling", config.levels)
    pretrained = config.reads_pieces
    reader = BERT.configured(0, config) if pretrained and reader is None else reader
    width = reader.width if isinstance(reader, BERT) else config.embedding
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
                f"pooling = {config.pooling!r}: encoder {encoder_name!r} gives no summary of a text; 'bert' alone does"
            )
        pooling = POOLINGS[pooling_name].configured(encoder.dim, encoder.directions, config)
        levels.append(Level(encoder, pooling, dropout))
        width = encoder.dim
    head, others = make_heads(levels[-1].pooling, width, outputs, config.head_bias, config.head_hidden)
    # a pretrained encoder drops of its input itself, as it was trained to
    return Classifier(embedding, levels, head, 0.0 if pretrained else dropout, others)


def names_a_level(given: str, known: Collection[str], option: str, levels: int) -> list[str]:
    """ "attention" for every level, or "cnn,bilstm": one a level, words first."""
    names = level_names(given)
    for name in names:
        if name not in known:
            raise InputError(f"{option} = {given!r}: {name!r} is unknown; accepted are {', '.join(known)}")
    if len(names) not in (1, levels):
        raise InputError(f"{option} = {given!r}: one name, or one for each of the {levels} levels, is accepted")
    return names * levels if len(names) == 1 else names
