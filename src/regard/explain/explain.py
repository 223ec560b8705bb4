"""Texts in, explanations out: each word with its share of the text's vector, each sentence with its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Outline, Units
from regard.explain.attention_weights import down, real
from regard.explain.found import higher_units
from regard.explain.reading import read, to_words
from regard.models.trained import Trained, outputs
from regard.records import Explanation, Prediction, TokenScore

CHUNK = 512  # texts held at a time, so that a large file streams


def explain(
    trained: Trained, texts: Sequence[str], labels: Sequence[str | float | None] | None = None
) -> Iterator[Explanation]:
    """One explanation a text, in order."""
    for start in range(0, len(texts), CHUNK):
        part = texts[start : start + CHUNK]
        known = [None] * len(part) if labels is None else labels[start : start + CHUNK]
        yield from explain_chunk(trained, part, known)


def explain_chunk(trained: Trained, texts: Sequence[str], labels: Sequence[str | float | None]) -> list[Explanation]:
    if trained.is_flat:
        return explain_flat(trained, texts, labels)
    found: dict[int, Explanation] = {}
    readings = read(trained, texts)
    for rows, batch, output in outputs(trained.model, [reading.indexed for reading in readings]):
        predictions = trained.task.predictions(trained.task.answers(output.logits.double().cpu()))
        masks = batch.mask.cpu().numpy()
        weights = [values.cpu().double().numpy() for values in down([trace.pooled.weights for trace in output.traces])]
        for place, row in enumerate(rows):
            units, *above = real([level[place] for level in weights], masks[place])
            own = readings[row]
            words = to_words(own, units)
            known = trained.tokenizer.known(own.text, own.outline.words, own.indexed)
            found[row] = assemble(own.text, own.outline, known, predictions[place], words, above, labels[row])
    return [found[row] for row in range(len(texts))]


def explain_flat(trained: Trained, texts: Sequence[str], labels: Sequence[str | float | None]) -> list[Explanation]:
    """A flat model's: the weight of a unit that is no word is shared out to the words it covers."""
    found: list[Explanation] = []
    for units, logits, weights in trained.attended(texts):
        predictions = trained.task.predictions(trained.task.answers(logits))
        bounds = np.concatenate([[0], np.cumsum(units.words)])
        shares = share_out(units, weights.astype(np.float64), bounds)
        for place, prediction in enumerate(predictions):
            own, row = shares[bounds[place] : bounds[place + 1]], len(found)
            outline = trained.tokenizer.outline(texts[row])
            known = trained.tokenizer.known(texts[row], outline.words)
            found.append(assemble(texts[row], outline, known, prediction, own, [], labels[row]))
    return found


def share_out(units: Units, weights: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weight of every word of every text: its own units', and half of each pair's."""
    start = np.repeat(bounds[:-1], np.diff(units.offsets))
    half = np.where(units.last > units.first, weights / 2, weights)
    shares = np.zeros(int(bounds[-1]))
    np.add.at(shares, start + units.first, half)
    np.add.at(shares, start + units.last, np.where(units.last > units.first, half, 0.0))
    return shares


def assemble(
    text: str,
    outline: Outline,
    known: Sequence[bool],
    prediction: Prediction,
    words: NDArray[np.float64],
    above: Sequence[NDArray[np.float64]],
    label: str | float | None,
) -> Explanation:
    """`words` are the weights of its words, `above` those of its sentences and of its parts, where there are levels."""
    tokens = tuple(
        TokenScore(text[a:b], a, b, float(weight), own)
        for (a, b), weight, own in zip(outline.words, words, known, strict=True)
    )
    sentences, parts = higher_units(outline, above)
    return Explanation(text, prediction, tokens, sentences, label=label, parts=parts)
