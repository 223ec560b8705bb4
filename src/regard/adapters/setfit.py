"""Classifiers of SetFit (Tunstall et al. 2022): a sentence transformer with a logistic regression on top."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.adapters.predictor import Predictor
from regard.errors import InputError


def setfit_predictor(model: Any, name: str | None = None, batch_size: int = 64) -> Predictor:
    """`model`: a trained SetFitModel. Load it yourself: its head may be a pickle, and loading that runs its code."""
    classes = model.labels or getattr(model.model_head, "classes_", None)
    if classes is None:
        raise InputError(
            "model: expected a trained SetFitModel, got one without classes; train it, or pass labels to it"
        )
    if model.multi_target_strategy is not None:
        raise InputError(
            f"model: expected one label per text, got multi_target_strategy {model.multi_target_strategy!r}"
        )

    def predict_proba(texts: list[str]) -> NDArray[np.float64]:
        found = model.predict_proba(texts, batch_size=batch_size, as_numpy=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float64)

    size = sum(one.numel() for one in model.model_body.parameters())
    return Predictor(predict_proba, list(classes), name or "SetFit", batch_size, size)
