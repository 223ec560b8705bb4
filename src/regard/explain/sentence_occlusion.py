"""Occlusion by sentence: how far the explained value drops without a sentence, in equal parts for each of its words.

One pass per sentence instead of one per word: for long texts and slow models.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from regard.data.sentences import word_ranges
from regard.explain.leave_one_out import versions
from regard.explain.reading import Ints, Reading, logits_of
from regard.explain.targets import explained, settled
from regard.explain.word_scores import WordScores
from regard.models.model import Model


def sentence_occlusion(trained: Model, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    task = trained.task
    sentences = [[np.arange(*words) for words in sentences_of(reading)] for reading in readings]
    logits = logits_of(trained, versions(trained, readings, sentences))
    records, low = [], 0
    for reading, groups, target in zip(readings, sentences, targets, strict=True):
        high = low + 1 + len(groups)
        chosen = np.repeat(settled(task, logits[low : low + 1], np.array([target])), high - low)
        values = explained(task, logits[low:high], chosen)
        scores = np.zeros(reading.words)
        for words, value in zip(groups, values[1:], strict=True):
            scores[words] = (values[0] - value) / len(words)
        records.append(WordScores(scores, logits[low], int(chosen[0]), high - low))
        low = high
    return records


def sentences_of(reading: Reading) -> list[tuple[int, int]]:
    """The words [first, last) of each sentence that the model reads, or, if it reads no sentences, of each in the text."""
    outline = reading.outline
    if outline.shape:
        return list(pairwise([0, *np.cumsum(outline.shape[0]).tolist()]))
    return word_ranges(reading.text, outline.words)
