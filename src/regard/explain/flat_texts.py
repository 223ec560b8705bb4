"""Texts as a flat model reads them, from its tables: weights, exact effects of leaving words out, and how words are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Tokenizer, Units
from regard.explain.attention_weights import share_out
from regard.explain.targets import Ints, probability, settled
from regard.explain.word_scores import WordScores
from regard.kernels.leaving_out import Groups, effects_of_leaving_out, single_words
from regard.kernels.pairs import UNKNOWN
from regard.models.tasks import MultiLabel, Named, Regression
from regard.models.trained import Trained
from regard.records import ReadAs

Doubles = NDArray[np.float64]
READ_AS: tuple[ReadAs, ...] = ("nothing", "beginning", "word", "word", "unknown")


class FlatText(NamedTuple):
    logits: Doubles  # (C,)
    target: int
    weights: Doubles  # (words,) attention
    effects: Doubles  # (words,) of leaving each word out
    joint: Doubles  # (groups,) of leaving all words of a group out
    reading: list[ReadAs]  # (words,)


def flat_texts(
    trained: Trained, texts: Sequence[str], targets: Ints, groups: Sequence[Sequence[Sequence[int]]] | None = None
) -> Iterator[FlatText]:
    """`groups`: for each text, sets of its words that are left out together, as ascending indices."""
    done = 0
    for units, logits, weights in trained.attended(texts):
        rows = slice(done, done + len(units.words))
        bounds = np.concatenate([[0], np.cumsum(units.words)])
        words = share_out(units, weights.astype(np.float64), bounds)
        values = logits.astype(np.float64)
        chosen = settled(trained.task, values, targets[rows])
        effects = leave_out(trained, units, chosen, single_words(units.words))
        together = as_groups([[]] * len(values) if groups is None else groups[rows])
        joint = leave_out(trained, units, chosen, together) if len(together.words) else np.empty(0)
        reading = [READ_AS[code] for code in reading_codes(trained, units, bounds).tolist()]
        parts = zip(pairwise(bounds.tolist()), pairwise(together.bounds.tolist()), strict=True)
        for row, ((low, high), (first, last)) in enumerate(parts):
            span = slice(low, high)
            yield FlatText(values[row], int(chosen[row]), words[span], effects[span], joint[first:last], reading[span])
        done += len(values)


def leave_out(trained: Trained, units: Units, targets: Ints, groups: Groups) -> Doubles:
    """(groups,) the drop of the target's log-odds, or of the prediction in the user's unit."""
    tokenizer, task = trained.tokenizer, trained.task
    assert isinstance(tokenizer, Tokenizer)
    sizes = len(tokenizer.vocabulary), tokenizer.singles
    is_regression = isinstance(task, Regression)
    sides = np.ones_like(targets) if is_regression else targets
    independent = isinstance(task, MultiLabel)
    effects = effects_of_leaving_out(units, trained.tables, tokenizer.pair_table, sizes, sides, groups, independent)
    return effects * task.scale if isinstance(task, Regression) else effects


def as_groups(groups: Sequence[Sequence[Sequence[int]]]) -> Groups:
    sizes = [len(group) for of_text in groups for group in of_text]
    members = [word for of_text in groups for group in of_text for word in group]
    bounds, starts = (np.cumsum([0, *counts], dtype=np.int64) for counts in (map(len, groups), sizes))
    return Groups(bounds, starts, np.array(members, dtype=np.int64))


def reading_codes(trained: Trained, units: Units, bounds: Ints) -> NDArray[np.uint8]:
    """(words,) bit 1: a unit of its own, bit 0: a beginning; 4: the vector of unknown words."""
    tokenizer = trained.tokenizer
    assert isinstance(tokenizer, Tokenizer)
    position = np.repeat(bounds[:-1], np.diff(units.offsets)) + units.first
    codes = np.zeros(int(bounds[-1]), dtype=np.uint8)
    is_word = units.ids < len(tokenizer.vocabulary)
    codes[position[~is_word & (units.ids < tokenizer.singles)]] = 1
    codes[position[is_word & (units.ids != UNKNOWN)]] |= 2
    codes[position[units.ids == UNKNOWN]] = 4
    return codes


def leave_one_out_from_tables(trained: Trained, texts: Sequence[str], targets: Ints) -> list[WordScores]:
    """Leave-one-out of a flat model: the same as by reading each text once per word, at a few times the cost of a prediction."""
    scores = []
    for one in flat_texts(trained, texts, targets):
        facts = {}
        if isinstance(trained.task, Named):
            whole = probability(trained.task, one.logits[None], np.array([one.target]))[0]
            facts["probability"] = whole - without(whole, one.effects)
        scores.append(WordScores(one.effects, one.logits, one.target, 1, facts=facts, above=()))
    return scores


def without(probability: float, effects: Doubles) -> Doubles:
    """The probability of the target if its log-odds drop by these amounts."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = np.exp(-effects) * np.divide(probability, 1 - probability)
        return np.asarray(np.where(np.isinf(odds), 1.0, odds / (1 + odds)))
