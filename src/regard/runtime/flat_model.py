"""A flat attention model with NumPy alone: units, their scores and polarities, and exact contributions of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import UNKNOWN
from regard.explain.scored_text import ScoredText, repeats
from regard.explain.targets import explained, settled
from regard.explain.word_scores import WordScores
from regard.models.flat import Tables
from regard.models.tasks import Task
from regard.records import ReadAs
from regard.runtime.leaving_out import LeavingOut
from regard.runtime.units import TextUnits, UnitReader, to_words

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


class FlatModel:
    methods = ("attention", "leave_one_out")

    def __init__(self, tokenizer: Tokenizer, task: Task, tables: Tables) -> None:
        self.tokenizer, self.task, self.tables = tokenizer, task, tables
        self.reader = UnitReader(tokenizer)

    def logits(self, texts: Sequence[str]) -> Doubles:
        result = np.empty((len(texts), len(self.tables.bias)))
        for row, text in enumerate(texts):
            units = self.reader.read(text)
            result[row] = self.attended(units)[0]
        return result

    def attended(self, units: TextUnits) -> tuple[Doubles, Doubles]:
        """The logits (C,), and the weights of the units: means over the members."""
        scores = self.tables.scores[units.ids].astype(np.float64)  # (units, M)
        powers = np.exp(scores - scores.max(0, initial=-np.inf))
        weights = powers / powers.sum(0) if len(powers) else powers
        polarity = self.tables.polarity[units.ids].astype(np.float64)  # (units, M, C)
        return np.einsum("um,umc->c", weights, polarity) + self.tables.bias, weights.mean(1)

    def scored(self, texts: Sequence[str], targets: Ints) -> Iterator[ScoredText]:
        for text, target in zip(texts, targets, strict=True):
            outline, units = self.tokenizer.outline(text), self.reader.read(text)
            logits, weights = self.attended(units)
            chosen = settled(self.task, logits[None], np.array([target]))
            groups = repeats(text, outline.words)
            removal = LeavingOut(self.reader, self.tables, units)
            logits_left = np.concatenate((logits[None], removal.each(), removal.together(groups)))
            values = explained(self.task, logits_left, np.repeat(chosen, len(logits_left)))
            single, joint = np.split(values[0] - values[1:], [len(units.words)])
            shares = WordScores(to_words(units, weights), logits, int(chosen[0]), 1, above=(), are_weights=True)
            effects = WordScores(single, logits, int(chosen[0]), 1, above=())
            yield ScoredText(outline, self.ways_of_reading(units), shares, effects, groups, joint.tolist())

    def ways_of_reading(self, units: TextUnits) -> list[ReadAs]:
        if np.array_equal(units.ids, units.words) and (units.words == UNKNOWN).all():
            return ["unknown"] * len(units.words)
        without: ReadAs = "nothing" if self.tokenizer.has_units else "unknown"
        rows = zip((units.words != UNKNOWN).tolist(), (units.beginnings > 0).tolist(), strict=True)
        return ["word" if is_word else "beginning" if has_beginning else without for is_word, has_beginning in rows]
