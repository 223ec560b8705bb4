"""Encoders read one axis of a text: (embedded (N, L, E), mask (N, L)) -> Encoded: states (N, L, D), zero on padding.

To add one: a file, a line in `ENCODERS`, and tests of whatever the contract tests do not cover.
"""

from __future__ import annotations

from regard.encoders.affine import Affine
from regard.encoders.bert import BERT
from regard.encoders.bilstm import BiLSTM
from regard.encoders.cnn import CNN
from regard.encoders.embedding import Embedding
from regard.encoders.encoder import Encoder
from regard.encoders.lstm import LSTM

ENCODERS: dict[str, type[Encoder]] = {
    "embedding": Embedding,
    "affine": Affine,
    "cnn": CNN,
    "lstm": LSTM,
    "bilstm": BiLSTM,
    "bert": BERT,
}

__all__ = ["BERT", "CNN", "ENCODERS", "LSTM", "Affine", "BiLSTM", "Embedding", "Encoder"]
