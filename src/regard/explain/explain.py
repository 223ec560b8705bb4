"""Texts in, explanations out: each word with its share of the text's vector, each sentence with its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Units
from regard.models.trained import Trained, outputs
from regard.records import Explanation, Prediction, SentenceScore, TokenScore

if TYPE_CHECKING:
    from torch import Tensor

    from regard.values import Output

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
    indexed = [trained.tokenizer.encode(text) for text in texts]
    for rows, batch, output in outputs(trained.model, indexed):
        predictions = trained.task.predictions(trained.task.answers(output.logits.double().cpu()))
        masks = batch.mask.cpu().numpy()
        weights = [values.cpu().double().numpy() for values in level_weights(output)]
        for place, row in enumerate(rows):
            mask, own = masks[place], [level[place] for level in weights]
            words = own[0][mask]
            if (covers := indexed[row].covers) is not None:
                words = gathered(words, covers, len(trained.tokenizer.outline(texts[row]).words))
            found[row] = assemble(trained, texts[row], predictions[place], words, own[1:], mask, labels[row])
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
            mask = np.ones(len(own), dtype=bool)
            found.append(assemble(trained, texts[row], prediction, own, [], mask, labels[row]))
    return found


def share_out(units: Units, weights: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weight of every word of every text: its own units', and half of each pair's."""
    start = np.repeat(bounds[:-1], np.diff(units.offsets))
    half = np.where(units.last > units.first, weights / 2, weights)
    shares = np.zeros(int(bounds[-1]))
    np.add.at(shares, start + units.first, half)
    np.add.at(shares, start + units.last, np.where(units.last > units.first, half, 0.0))
    return shares


def gathered(weights: NDArray[np.float64], covers: NDArray[np.int32], words: int) -> NDArray[np.float64]:
    """The weight of every word of a text: that of its pieces; of a piece across several words, an equal part."""
    count = covers[:, 1] - covers[:, 0] + 1
    piece = np.repeat(np.arange(len(count)), count)
    further = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
    shares = np.zeros(words)
    np.add.at(shares, covers[piece, 0] + further, (weights / count)[piece])
    return shares


def level_weights(output: Output) -> list[Tensor]:
    """Weights over the whole text at each level, words first: each is the product of all levels from the top to it."""
    whole = [output.traces[-1].pooled.weights]
    for trace in reversed(output.traces[:-1]):
        whole.insert(0, whole[0].unsqueeze(-1) * trace.pooled.weights)
    return whole


def assemble(
    trained: Trained,
    text: str,
    prediction: Prediction,
    words: NDArray[np.float64],
    above: Sequence[NDArray[np.float64]],
    mask: NDArray[np.bool_],
    label: str | float | None,
) -> Explanation:
    """`words` are the weights of its words, `above` those of the higher levels' places, real ones as in the mask."""
    outline = trained.tokenizer.outline(text)
    known = trained.tokenizer.known(text, outline.words)
    tokens = tuple(
        TokenScore(text[a:b], a, b, float(weight), own)
        for (a, b), weight, own in zip(outline.words, words, known, strict=True)
    )
    units = [outline.sentences, outline.parts]
    higher = []
    for level, spans in zip(above, units, strict=False):
        mask = np.asarray(mask.any(-1))
        higher.append(tuple(SentenceScore(a, b, float(w)) for (a, b), w in zip(spans, level[mask], strict=True)))
    sentences, parts = (*higher, (), ())[:2]
    return Explanation(text, prediction, tokens, sentences, label=label, parts=parts)
