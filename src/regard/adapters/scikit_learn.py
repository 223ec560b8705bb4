"""Text classifiers of scikit-learn: a pipeline from texts to probabilities, such as TfidfVectorizer + LogisticRegression."""

from __future__ import annotations

from typing import Any

from regard.adapters.predictor import Predictor
from regard.errors import InputError
from regard.models.wrapped import BATCH


def sklearn_predictor(pipeline: Any, name: str | None = None, batch_size: int = BATCH) -> Predictor:
    """`pipeline` takes texts, and is fitted. One that was saved as a pickle is loaded by you: loading it runs its code."""
    final = pipeline[-1] if hasattr(pipeline, "steps") else pipeline
    kind = type(final).__name__
    if not hasattr(pipeline, "predict_proba"):
        raise InputError(
            f"pipeline: expected a classifier with predict_proba, got {kind}; CalibratedClassifierCV adds probabilities"
        )
    if not hasattr(pipeline, "classes_"):
        raise InputError(f"pipeline: expected a fitted classifier, got {kind} before fit")
    return Predictor(pipeline.predict_proba, list(pipeline.classes_), name or kind, batch_size)
