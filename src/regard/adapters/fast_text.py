"""Supervised models of fastText (Joulin et al. 2017), as `.bin` files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.adapters.libraries import imported
from regard.adapters.predictor import Predictor
from regard.errors import InputError
from regard.models.wrapped import BATCH
from regard.records import FASTTEXT_PREFIX

NORMALISED = ("softmax", "hs")  # losses whose probabilities are of one class among all


def fasttext_predictor(model: Any, name: str | None = None, batch_size: int = BATCH) -> Predictor:
    """`model`: a `.bin` file, or what `fasttext.load_model` returns."""
    if isinstance(model, str | os.PathLike):
        path = os.fspath(model)
        fasttext = imported("fasttext", "fasttext-wheel")
        if not os.path.isfile(path):
            raise InputError(f"{path}: there is no such file; expected a fastText model, .bin")
        try:
            loaded = fasttext.FastText._FastText(model_path=path)  # load_model prints a warning about itself
        except ValueError as error:
            raise InputError(f"{path}: expected a fastText model, .bin ({error})") from None
        return fasttext_predictor(loaded, name or Path(path).stem, batch_size)
    options = model.f.getArgs()
    if options.model.name != "supervised" or options.loss.name not in NORMALISED:
        got = f"{options.model.name}, loss {options.loss.name}"
        raise InputError(f"model: expected a supervised model with one label per text (softmax or hs), got {got}")
    labels: list[str] = model.get_labels()
    columns = {label: column for column, label in enumerate(labels)}

    def predict_proba(texts: list[str]) -> NDArray[np.float64]:
        probabilities = np.zeros((len(texts), len(labels)))
        for row, text in enumerate(texts):
            line = " ".join(text.split()).encode("utf-8", "replace").decode()  # fastText reads one line
            # not model.predict: in 0.9.2 it fails with NumPy 2, and repeats one probability if it is given a list
            for probability, label in model.f.predict(f"{line}\n", -1, 0.0, "strict"):
                probabilities[row, columns[label]] = probability
        totals = probabilities.sum(1, keepdims=True)  # fastText adds 1e-5 to each
        return np.where(totals > 0, probabilities / np.where(totals > 0, totals, 1), 1 / len(labels))

    return Predictor(
        predict_proba, [label.removeprefix(FASTTEXT_PREFIX) for label in labels], name or "fastText", batch_size
    )
