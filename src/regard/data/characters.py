"""The tokenizer of a model that is given the text itself: ids are its characters, and only regard sees words in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.erasing import delete
from regard.data.tokenizer import Indexed, Outline, outline
from regard.records import Span

CODE = "utf-32-le"
NO_WORDS = np.empty((0, 2), dtype=np.int32)


class Characters:
    """Words and sentences are those that regard's tokenizer finds; the model may divide the text in other ways."""

    levels = 2
    lowercase = True
    max_words: int | None = None

    def encode(self, text: str) -> Indexed:
        return Indexed(np.frombuffer(text.encode(CODE, "surrogatepass"), dtype=np.int32), (), NO_WORDS)

    def encode_each(self, texts: Sequence[str]) -> list[Indexed]:
        return [self.encode(text) for text in texts]

    def decode(self, indexed: Indexed) -> str:
        return indexed.ids.tobytes().decode(CODE, "surrogatepass")

    def outline(self, text: str) -> Outline:
        return outline(text, self.levels, self.max_words)

    def known(self, text: str, words: Sequence[Span], indexed: Indexed | None = None) -> list[bool]:
        """All of them: which words the model knows cannot be seen from outside."""
        return [True] * len(words)

    def without(self, text: str, words: Sequence[Span], kept: NDArray[np.bool_]) -> list[Indexed]:
        """(versions, words) -> the text of each version, with only the words that its row keeps."""
        return [self.encode(delete(text, words, np.flatnonzero(~row).tolist())) for row in kept]
