"""Encoders read one axis of a text: (embedded (N, L, E), mask (N, L)) -> Encoded: states (N, L, D), zero on padding.

To add one: a file, a line in `ENCODERS`, and tests of whatever the contract tests do not cover.
"""

from __future__ import annotations

from regard.encoders.bert import BERT
from regard.encoders.cnn import CNN
from regard.encoders.encoder import Encoder
from regard.encoders.flat import Affine, Embedding
from regard.encoders.gru import GRU, BiGRU
from regard.encoders.lstm import LSTM, BiLSTM

ENCODERS: dict[str, type[Encoder]] = {
    "embedding": Embedding,
    "affine": Affine,
    "cnn": CNN,
    "lstm": LSTM,
    "bilstm": BiLSTM,
    "gru": GRU,
    "bigru": BiGRU,
    "bert": BERT,
}

__all__ = ["BERT", "CNN", "ENCODERS", "GRU", "LSTM", "Affine", "BiGRU", "BiLSTM", "Embedding", "Encoder"]
