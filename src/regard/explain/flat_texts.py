"""Texts as a flat model reads them, from its tables: weights, exact effects of leaving words out, and how words are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.packing import pack
from regard.data.tokenizer import Tokenizer, Units
from regard.explain.attention_weights import share_out
from regard.explain.scored_text import repeats
from regard.explain.targets import Ints, probability, settled
from regard.explain.word_scores import WordScores
from regard.kernels.leaving_out import Groups, effects_of_leaving_out, single_words
from regard.kernels.pairs import UNKNOWN
from regard.kernels.repeated_words import first_occurrences, singles_and_repeats
from regard.models.tasks import MultiLabel, Named, Regression
from regard.models.trained import Trained
from regard.ordered_threads import ordered
from regard.records import ReadAs
from regard.scored_tokens import WAYS

Doubles = NDArray[np.float64]
CHUNK = 512  # texts read at a time by one thread
IN_WAYS = np.array([WAYS.index(way) for way in ("nothing", "beginning", "word", "word", "unknown")], dtype=np.uint8)


class FlatChunk(NamedTuple):
    """Some texts, whose words are concatenated."""

    texts: Sequence[str]
    bounds: Ints  # (texts + 1,) the words of each text
    starts: Ints  # (words,) where each begins in its text, in characters
    ends: Ints  # (words,)
    logits: Doubles  # (texts, C)
    targets: Ints  # (texts,)
    weights: Doubles  # (words,) attention
    effects: Doubles  # (words,) of leaving each word out
    codes: NDArray[np.uint8]  # (words,) how each is read, as positions in WAYS
    group_bounds: Ints  # (texts + 1,) the repeated words of each text; all 0 if they were not asked for
    member_starts: Ints  # (repeated words + 1,) the occurrences of each, in `members`
    members: Ints  # positions in the text
    joint: Doubles  # (repeated words,) of leaving all occurrences out


class FlatText(NamedTuple):
    logits: Doubles  # (C,)
    target: int
    weights: Doubles  # (words,) attention
    effects: Doubles  # (words,) of leaving each word out
    reading: list[ReadAs]  # (words,)


def flat_chunks(trained: Trained, texts: Sequence[str], targets: Ints, repeated: bool = True) -> Iterator[FlatChunk]:
    """`repeated`: also what words that a text has several times contribute together. Two threads read ahead."""
    _ = trained.tables  # made once, before the threads need them

    def read(start: int) -> FlatChunk:
        rows = slice(start, start + CHUNK)
        return read_chunk(trained, texts[rows], targets[rows], repeated)

    return ordered(read, range(0, len(texts), CHUNK))


def read_chunk(trained: Trained, texts: Sequence[str], targets: Ints, repeated: bool) -> FlatChunk:
    tokenizer = trained.tokenizer
    assert isinstance(tokenizer, Tokenizer)
    packed = pack(texts, tokenizer.lowercase)
    units, found = tokenizer.read_packed(packed)
    logits32, weights = trained.attend(units)
    logits = logits32.astype(np.float64)
    bounds = np.concatenate([[0], np.cumsum(units.words)])
    starts, ends = (places - packed.offsets[:-1].repeat(units.words) for places in (found.starts, found.ends))
    first = np.empty(0, dtype=np.int64)
    if repeated:
        first = first_occurrences(packed.data, found.starts, found.ends, units.words, tokenizer.lowercase)
    for row, text in enumerate(texts):
        if not text.isascii():  # its bytes are not its characters
            words = tokenizer.outline(text).words
            span = slice(bounds[row], bounds[row + 1])
            starts[span], ends[span] = np.array(words, dtype=np.int64).reshape(-1, 2).T
            if repeated:
                first[span] = np.arange(len(words))
                for group in repeats(text, words):
                    first[span][[*group]] = group[0]
    chosen = settled(trained.task, logits, targets)
    groups = singles_and_repeats(first, units.words) if repeated else single_words(units.words)
    effects = leave_out(trained, units, chosen, groups)
    of_text = np.diff(groups.bounds)
    is_single = np.arange(len(effects)) - groups.bounds[:-1].repeat(of_text) < units.words.repeat(of_text)
    is_member = is_single.repeat(np.diff(groups.starts))
    sizes = np.diff(groups.starts)[~is_single]
    return FlatChunk(
        texts,
        bounds,
        starts,
        ends,
        logits,
        chosen,
        share_out(units, weights.astype(np.float64), bounds),
        effects[is_single],
        IN_WAYS[reading_codes(trained, units, bounds)],
        groups.bounds - bounds,
        np.concatenate([[0], np.cumsum(sizes)]),
        groups.words[~is_member],
        effects[~is_single],
    )


def flat_texts(trained: Trained, texts: Sequence[str], targets: Ints) -> Iterator[FlatText]:
    """The texts one by one, without what their repeated words contribute together."""
    for chunk in flat_chunks(trained, texts, targets, repeated=False):
        reading = [WAYS[code] for code in chunk.codes.tolist()]
        for row, (low, high) in enumerate(pairwise(chunk.bounds.tolist())):
            span, target = slice(low, high), int(chunk.targets[row])
            yield FlatText(chunk.logits[row], target, chunk.weights[span], chunk.effects[span], reading[span])


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
