"""Classifiers of model2vec: static vectors with a small network on top."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.adapters.libraries import imported
from regard.adapters.predictor import Predictor
from regard.errors import InputError

HEAD = "head.safetensors"  # older versions saved the classifier as a pipeline of scikit-learn


def model2vec_predictor(model: Any, name: str | None = None, batch_size: int = 1024) -> Predictor:
    """`model`: a StaticModelPipeline, a StaticModelForClassification, or the folder of a saved pipeline."""
    if isinstance(model, str | os.PathLike):
        folder = Path(model)
        if not (folder / HEAD).is_file():
            raise InputError(f"{folder}: expected the folder of a model2vec classifier, with a file {HEAD}")
        pipeline = imported("model2vec.inference", "model2vec").StaticModelPipeline.from_pretrained(folder)
        return model2vec_predictor(pipeline, name or folder.resolve().name, batch_size)
    classes = getattr(model, "classes_", None)
    if classes is None or not hasattr(model, "predict_proba"):
        raise InputError(f"model: expected a classifier of model2vec, got {type(model).__name__} without classes")

    def predict_proba(texts: list[str]) -> NDArray[np.float64]:
        return np.asarray(model.predict_proba(texts), dtype=np.float64)

    return Predictor(predict_proba, list(classes), name or "model2vec", batch_size)
