"""Leave-one-out: how far the explained value drops without a word; also without each sentence and part.

One pass per word; `flat_texts` has the closed form of a flat model.
`facts["probability"]` has the drops of the target's probability, (words,).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed
from regard.explain.reading import CHUNK, Ints, Reading, left, logits_of
from regard.explain.removal import all_but, check_length, single_erasures
from regard.explain.targets import explained, probability, settled
from regard.explain.word_scores import WordScores
from regard.models.model import Model
from regard.models.tasks import Named


def leave_one_out(trained: Model, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    for number, reading in enumerate(readings, 1):
        check_length(reading.words, f"leave_one_out, text {number}")
    task = trained.task
    groups = [single_erasures(reading.outline) for reading in readings]
    logits = logits_of(trained, versions(trained, readings, groups))
    records, low = [], 0
    for reading, erasures, target in zip(readings, groups, targets, strict=True):
        high = low + 1 + len(erasures)
        chosen = np.repeat(settled(task, logits[low : low + 1], np.array([target])), high - low)
        values = explained(task, logits[low:high], chosen)
        drops = values[0] - values[1:]
        facts = {}
        if isinstance(task, Named):
            probabilities = probability(task, logits[low:high], chosen)
            facts["probability"] = (probabilities[0] - probabilities[1:])[: reading.words]
        ends = np.cumsum([reading.words, *map(len, reading.outline.shape)])[:-1]
        scores, *above = np.split(drops, ends)
        records.append(WordScores(scores, logits[low], int(chosen[0]), high - low, facts=facts, above=tuple(above)))
        low = high
    return records


def joint_effects(
    trained: Model, readings: Sequence[Reading], targets: Ints, groups: Sequence[Sequence[Sequence[int]]]
) -> list[list[float]]:
    """For each text, the drops without all words of each group."""
    erasures = [[np.array(group) for group in of_text] for of_text in groups]
    logits = logits_of(trained, versions(trained, readings, erasures))
    drops, low = [], 0
    for of_text, target in zip(erasures, targets, strict=True):
        high = low + 1 + len(of_text)
        values = explained(trained.task, logits[low:high], np.full(high - low, target))
        drops.append((values[0] - values[1:]).tolist())
        low = high
    return drops


def versions(
    trained: Model, readings: Sequence[Reading], groups: Sequence[Sequence[NDArray[np.int64]]]
) -> Iterator[Indexed]:
    """Each text, followed by the text without each of its groups."""
    for reading, erasures in zip(readings, groups, strict=True):
        yield reading.indexed
        for low in range(0, len(erasures), CHUNK):
            yield from left(trained, reading, all_but(erasures[low : low + CHUNK], reading.words))
