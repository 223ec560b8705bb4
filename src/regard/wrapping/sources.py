"""Models of other libraries by name, `hf:FOLDER` or `fasttext:FILE`: those that can be loaded without running code in them."""

from __future__ import annotations

from collections.abc import Callable

from regard.wrapping.fast_text import wrap_fasttext
from regard.wrapping.transformers import wrap_transformers
from regard.wrapping.wrap import Wrapped

SOURCES: dict[str, Callable[[str, str], Wrapped]] = {
    "fasttext": lambda path, device: wrap_fasttext(path),
    "hf": lambda path, device: wrap_transformers(path, device=device),
}


def load_wrapped(source: str, device: str = "cpu") -> Wrapped:
    kind, _, path = source.partition(":")
    return SOURCES[kind](path, device)
