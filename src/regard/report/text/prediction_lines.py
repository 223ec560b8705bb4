"""Predictions as lines of JSON, written from the numbers of many texts: the bytes of one record after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from json.encoder import encode_basestring as quoted
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from regard.records import Example
from regard.report.text.explanation_lines import dumped, written
from regard.report.text.predictions import Layout, prediction_json

encoded = msgspec.json.Encoder().encode  # in UTF-8, as `quoted` writes it; several times as fast


class Block(NamedTuple):
    """Some texts with their answers."""

    examples: Sequence[Example]
    answers: NDArray[np.float64]  # (usable texts, classes) probabilities, or (usable texts, 1) numbers
    chosen: NDArray[np.int64] | None  # (usable texts,) the class that is predicted; None for labels and numbers


def block_lines(blocks: Iterable[Block], layout: Layout) -> Iterator[bytes]:
    """Of a plain layout, and one class or number per text. As bytes in UTF-8, because a text takes long to write as a string."""
    for block in blocks:
        answers = iter(answer_strings(block, layout.classes))
        yield b"".join(
            b'{"row": %d, "text": %b, "prediction": %b}\n'
            % (example.row, encoded(example.text), next(answers).encode("utf-8", "replace"))
            if example.error is None
            else dumped(prediction_json(example, None, layout)).encode("utf-8", "replace") + b"\n"
            for example in block.examples
        )


def answer_strings(block: Block, classes: Sequence[str]) -> Iterable[str]:
    """Everything from the prediction on, for each usable text."""
    if block.chosen is None:
        return written(block.answers[:, 0])
    names = [quoted(name) for name in classes]
    columns = [written(block.answers[:, k]) for k in range(len(classes))]
    parts = f'{{}}, "confidence": {{}}, "probabilities": {probabilities_template(names)}'.format
    confidence = written(block.answers[np.arange(len(block.answers)), block.chosen])
    predicted = [names[k] for k in block.chosen.tolist()]
    return map(parts, predicted, confidence, *columns)


def probabilities_template(names: Sequence[str]) -> str:
    """Of `str.format`, for the probabilities of classes whose names are quoted already."""
    return "{{" + ", ".join(f"{name.replace('{', '{{').replace('}', '}}')}: {{}}" for name in names) + "}}"
