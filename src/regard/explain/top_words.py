"""The words that matter most in each text, whatever their sign, without the rest of an explanation, which takes longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.packing import pack, spans_of_words
from regard.data.tokenizer import Tokenizer
from regard.explain.explain import chosen_methods, explain
from regard.explain.explainers import is_fast
from regard.explain.flat_texts import flat_chunks
from regard.explain.reading import check_texts
from regard.explain.targets import Ints, Target, numbers, settled
from regard.kernels.strongest import strongest
from regard.kernels.summed_effects import effects_from_sums
from regard.models.model import Model
from regard.models.tasks import MultiLabel, Named, Regression
from regard.models.trained import CHUNK, Trained, checked_finite
from regard.ordered_threads import ordered
from regard.records import TopWords

MANY = CHUNK  # texts from which terms are computed in advance, as for predictions
PIECE = 512  # texts read at a time by one thread

Doubles = NDArray[np.float64]


class TopBlock(NamedTuple):
    """The strongest words of some texts of a flat model."""

    texts: Sequence[str]
    logits: Doubles  # (texts, C)
    targets: Ints  # (texts,) class numbers; for a regression 0
    bounds: Ints  # (texts + 1,) the strongest words of each text are [bounds[i], bounds[i + 1])
    starts: Ints  # (strongest words,) where each begins in its text, in characters
    ends: Ints  # (strongest words,)
    values: Doubles  # (strongest words,) contributions


def explain_top(
    trained: Model, texts: Sequence[str], most: int, method: str | None = None, target: Target = None
) -> Iterator[TopWords]:
    """Up to `most` words per text, the largest contribution first; of equal ones the earlier first.

    For 4,096 texts or more, a flat model adds up numbers that are computed in advance, which changes contributions by about 1e-5
    at most.
    """
    check_texts(texts)
    if has_blocks(trained, method):
        assert isinstance(trained, Trained)
        for block in top_blocks(trained, texts, most, target):
            yield from of_block(trained, block)
        return
    for one in explain(trained, texts, method=method, target=target):
        order = sorted(one.tokens, key=lambda token: -abs(token.contribution or 0.0))[:most]
        yield TopWords(one.prediction, one.target, tuple((x.text, x.contribution or 0.0) for x in order))


def has_blocks(trained: Model, method: str | None) -> bool:
    """Whether the strongest words of many texts can be found without an explanation of each."""
    weigh, sign = chosen_methods(trained, method)
    return is_fast(trained, weigh) and sign == "leave_one_out"


def of_block(trained: Trained, block: TopBlock) -> Iterator[TopWords]:
    task = trained.task
    predictions = task.predictions(task.answers(block.logits))
    classes = task.classes if isinstance(task, Named) else ()
    starts, ends, values = block.starts.tolist(), block.ends.tolist(), block.values.tolist()
    rows = zip(block.texts, predictions, block.targets.tolist(), pairwise(block.bounds.tolist()), strict=True)
    for text, prediction, number, (low, high) in rows:
        words = tuple((text[starts[k] : ends[k]], values[k]) for k in range(low, high))
        yield TopWords(prediction, classes[number] if classes else None, words)


def top_blocks(
    trained: Trained, texts: Sequence[str], most: int, target: Target = None, in_threads: bool = True
) -> Iterator[TopBlock]:
    """`in_threads`: two threads read ahead."""
    targets = numbers(trained.task, target, len(texts))
    if len(texts) < MANY:
        return few_texts(trained, texts, most, targets)
    _ = trained.answering  # made once, before the threads need it

    def read(start: int) -> TopBlock:
        rows = slice(start, start + PIECE)
        return read_block(trained, texts[rows], most, targets[rows])

    pieces = range(0, len(texts), PIECE)
    return ordered(read, pieces) if in_threads else map(read, pieces)


def few_texts(trained: Trained, texts: Sequence[str], most: int, targets: Ints) -> Iterator[TopBlock]:
    """The numbers of full explanations, digit by digit."""
    for chunk in flat_chunks(trained, texts, targets, repeated=False):
        picked, bounds = strongest(chunk.effects, chunk.bounds, most)
        edges = chunk.starts[picked], chunk.ends[picked]
        yield TopBlock(chunk.texts, chunk.logits, chunk.targets, bounds, *edges, chunk.effects[picked])


def read_block(trained: Trained, texts: Sequence[str], most: int, targets: Ints) -> TopBlock:
    tokenizer, task = trained.tokenizer, trained.task
    assert isinstance(tokenizer, Tokenizer)
    packed = pack(texts, tokenizer.lowercase)
    found = tokenizer.find_words(packed)
    logits32 = np.empty((len(texts), task.out_dim), dtype=np.float32)
    sums = trained.answering.add_up(packed.data, *found, logits32)
    logits32[sums.left] = 0  # never written
    logits = checked_finite(logits32).astype(np.float64)
    chosen = settled(task, logits, targets)
    sides = np.ones_like(chosen) if isinstance(task, Regression) else chosen
    reads_unknown, independent = not tokenizer.has_units, isinstance(task, MultiLabel)
    effects = effects_from_sums(trained.answering, sums, found.counts, sides, reads_unknown, independent)
    if isinstance(task, Regression):
        effects *= task.scale
    effects[sums.left.repeat(found.counts)] = 0  # never written
    words = np.concatenate([[0], np.cumsum(found.counts)])
    picked, bounds = strongest(effects, words, most)
    shift = packed.offsets[:-1].repeat(np.diff(bounds))
    starts, ends = found.starts[picked] - shift, found.ends[picked] - shift
    for row, text in enumerate(texts):
        if not text.isascii():  # its bytes are not its characters
            own = slice(bounds[row], bounds[row + 1])
            places = zip((picked[own] - words[row]).tolist(), starts[own].tolist(), ends[own].tolist(), strict=True)
            for k, span in enumerate(spans_of_words(text, tokenizer.lowercase, [*places]), own.start):
                starts[k], ends[k] = span
    block = TopBlock(texts, logits, chosen, bounds, starts, ends, effects[picked])
    replace_left(trained, block, np.flatnonzero(sums.left), most, targets)
    return block


def replace_left(trained: Trained, block: TopBlock, left: Ints, most: int, targets: Ints) -> None:
    """Read the texts with these numbers like few texts: their sums say too little."""
    done = 0
    for few in few_texts(trained, [block.texts[row] for row in left.tolist()], most, targets[left]):
        rows = left[done : done + len(few.texts)]
        done += len(rows)
        block.logits[rows], block.targets[rows] = few.logits, few.targets
        places = np.concatenate([np.arange(block.bounds[row], block.bounds[row + 1]) for row in rows.tolist()])
        block.starts[places], block.ends[places], block.values[places] = few.starts, few.ends, few.values
