"""Whether words marked as evidence for the prediction really are: without such a word the prediction should not get stronger.

Each word of a text is removed alone, and the log-odds of the predicted class, log p − log(1 − p), are compared with those of
the whole text. Rises of at most `TOLERANCE` do not count: they may come from rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.data.erasing import without
from regard.faithfulness.judging import LONGEST, Judge, Questions, blocks_of
from regard.faithfulness.scored import Doubles, Ints, Scored

TOLERANCE = 1e-3  # of log-odds
MOST_WORDS = 20_000  # removed in all; of more words, some texts at random


class Removed(NamedTuple):
    rows: Ints  # the texts
    drops: list[Doubles]  # (words,) each, of the log-odds without the word


class WrongSigns(NamedTuple):
    """Per text; NaN if no word is marked as evidence for the prediction."""

    marked: Ints  # words marked as evidence for it
    raised: Ints  # those whose removal raises its log-odds
    share: Doubles
    top: Doubles  # 1 if removing the word with the largest score raises them


def remove_each(judge: Judge, scored: Sequence[Scored], seed: int = 0) -> Removed:
    rows = sample(np.array([len(one.spans) for one in scored], dtype=np.int64), seed)
    chosen, removed = [scored[row] for row in rows.tolist()], list[Doubles]()
    for block in blocks_of([len(one.text) * len(one.spans) for one in chosen]):
        questions = Questions()
        asked = [
            [
                questions.add(one.text),
                *(questions.add(without(one.text, one.spans, [word])) for word in range(len(one.spans))),
            ]
            for one in (chosen[index] for index in block)
        ]
        answers = questions.put(judge)
        removed += [drops(answers[numbers]) for numbers in asked]
    return Removed(rows, removed)


def sample(lengths: Ints, seed: int) -> Ints:
    """Random texts that are not too long until they have enough words; ascending."""
    rows: list[int] = []
    words = 0
    for row in (
        np.random.default_rng((seed, 5)).permutation(np.flatnonzero((lengths > 0) & (lengths <= LONGEST))).tolist()
    ):
        words += int(lengths[row])
        if rows and words > MOST_WORDS:
            break
        rows.append(row)
    return np.sort(np.array(rows, dtype=np.int64))


def drops(answers: Doubles) -> Doubles:
    """(1 + words, classes), the whole text first -> (words,)"""
    target = int(answers[0].argmax())
    others = np.delete(answers, target, axis=1).sum(1)
    odds = np.log(np.maximum(answers[:, target], 1e-300)) - np.log(np.maximum(others, 1e-300))
    return np.asarray(odds[0] - odds[1:])


def wrong_signs(scores: Sequence[Doubles], removed: Removed) -> WrongSigns:
    """`scores`: of the words of the removed texts, in their order."""
    marked, raised = (np.zeros(len(scores), dtype=np.int64) for _ in range(2))
    share, top = (np.full(len(scores), np.nan) for _ in range(2))
    for row, (values, effects) in enumerate(zip(scores, removed.drops, strict=True)):
        is_for, rises = values > 0, effects < -TOLERANCE
        marked[row], raised[row] = is_for.sum(), (is_for & rises).sum()
        if marked[row]:
            share[row], top[row] = raised[row] / marked[row], rises[int(values.argmax())]
    return WrongSigns(marked, raised, share, top)
