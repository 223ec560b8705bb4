"""What an adapter makes of a model of another library: the arguments of `WrappedModel`, and of `regard.wrap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regard.models.wrapped import BATCH, PredictProba


class Predictor(NamedTuple):
    predict_proba: PredictProba
    classes: Sequence[object]
    name: str = "model"
    batch_size: int = BATCH
    encoder_weights: int = 0
