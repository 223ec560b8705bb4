"""A model from its options."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders import ENCODERS
from regard.errors import InputError
from regard.models.classifier import Classifier, Level
from regard.poolings import POOLINGS


def build(config: Model, words: int, outputs: int, dropout: float = 0.0, vectors: Tensor | None = None) -> Classifier:
    """A fresh model for this many word ids (0 is padding). Vectors, where given, are what the embeddings start from."""
    config = config.filled()
    embedding = nn.Embedding(words, config.embedding if vectors is None else vectors.size(1), padding_idx=0)
    with torch.no_grad():
        embedding.weight.uniform_(-config.embedding_range, config.embedding_range)
        if vectors is not None:
            embedding.weight.copy_(torch.where(vectors.isnan(), embedding.weight, vectors))
        embedding.weight[0] = 0
    embedding.weight.requires_grad_(not config.freeze_embeddings)
    width, levels = embedding.embedding_dim, []
    encoders = names_a_level(config.encoder, ENCODERS, "encoder", config.levels)
    poolings = names_a_level(config.pooling, POOLINGS, "pooling", config.levels)
    for encoder_name, pooling_name in zip(encoders, poolings, strict=True):
        encoder = ENCODERS[encoder_name].configured(width, config)
        pooling = POOLINGS[pooling_name].configured(encoder.dim, encoder.directions, config)
        levels.append(Level(encoder, pooling, dropout))
        width = encoder.dim
    head = nn.Linear(width, outputs, bias=config.head_bias)
    return Classifier(embedding, levels, head, dropout)


def names_a_level(given: str, known: Collection[str], option: str, levels: int) -> list[str]:
    """ "attention" for every level, or "cnn,bilstm": one a level, words first."""
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in known:
            raise InputError(f"{option} = {given!r}: {name!r} is unknown; accepted are {', '.join(known)}")
    if len(names) not in (1, levels):
        raise InputError(f"{option} = {given!r}: one name, or one for each of the {levels} levels, is accepted")
    return names * levels if len(names) == 1 else names
