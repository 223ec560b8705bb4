"""Models of other libraries by name, `hf:FOLDER` or `fasttext:FILE`: those that can be loaded without running code in them."""

from __future__ import annotations

from collections.abc import Callable

from regard.adapters.fast_text import fasttext_predictor
from regard.adapters.predictor import Predictor
from regard.adapters.transformers import transformers_predictor
from regard.models.wrapped import WrappedModel

SOURCES: dict[str, Callable[[str, str], Predictor]] = {
    "fasttext": lambda path, device: fasttext_predictor(path),
    "hf": lambda path, device: transformers_predictor(path, device=device),
}


def load_wrapped(source: str, device: str = "cpu") -> WrappedModel:
    kind, _, path = source.partition(":")
    return WrappedModel(*SOURCES[kind](path, device))
