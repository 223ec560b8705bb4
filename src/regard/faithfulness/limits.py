"""The lowest and the highest AOPC that any ranking of a text's words can have, and where an explainer's lies between them.

How far a prediction can drop depends on the model and on the text, so the AOPC of two models cannot be compared. Edin et al.,
Normalized AOPC (2025), relate it to the limits of each text:

    normalised = (AOPC − lower) / (upper − lower)

A ranking matters only by the sets of words that it takes at the cut-offs, each within the next. For texts of at most `EXACT`
words all such chains of sets are compared, by dynamic programming over sets; for longer ones a beam search extends `WIDTH`
chains from cut-off to cut-off by the words that change the prediction most when added alone. What a search finds is attained
by some ranking, but a better one may exist. **Choice**: rankings that were measured anyway count as found, so that no
explainer lies beyond the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.erasing import only, without
from regard.faithfulness.judging import LONGEST, Judge, Questions, blocks_of
from regard.faithfulness.ranking import Cut, counts
from regard.faithfulness.scored import Doubles, Ints, Scored

EXACT = 10  # words of a text for which all rankings are compared
WIDTH = 3  # chains that a beam search keeps
SLACK = 20  # words tried beyond those that a step adds; the others changed the prediction less before
TEXTS = 100  # searched at most
QUESTIONS = 500  # to the judge, per audited text
MOST_QUESTIONS = 100_000
ERASE: dict[str, Callable[[str, Sequence[tuple[int, int]], Sequence[int]], str]] = {
    "comprehensiveness": without,
    "sufficiency": only,
}
Words = tuple[int, ...]  # ascending indices
# yields sets of words, is sent the drop in probability of each, and returns the lowest and highest mean that it found
Search = Generator[list[Words], Doubles, tuple[float, float]]


class Steps(NamedTuple):
    """The different numbers of words that the cut-offs take from a text, ascending, and the weight of each in the mean."""

    sizes: tuple[int, ...]
    weights: tuple[float, ...]


class Limits(NamedTuple):
    rows: Ints  # the texts that were searched
    exact: NDArray[np.bool_]  # (rows,)
    lower: dict[str, Doubles]  # by measure, (rows,)
    upper: dict[str, Doubles]
    questions: int


def find_limits(judge: Judge, scored: Sequence[Scored], cuts: Sequence[Cut], seed: int = 0) -> Limits:
    """Of as many random texts as the numbers of texts and questions allow."""
    lengths = np.array([len(one.spans) for one in scored], dtype=np.int64)
    steps = [steps_of(taken) for taken in counts(lengths.tolist(), cuts)]
    rows = sample(lengths, steps, seed)
    lower = {measure: np.full(len(rows), np.inf) for measure in ERASE}
    upper = {measure: np.full(len(rows), -np.inf) for measure in ERASE}
    questions = 0
    for block in blocks_of([len(ERASE) * len(scored[row].text) * int(lengths[row]) for row in rows]):
        searches = {
            (index, measure, part): search
            for index in block
            for measure in ERASE
            for part, search in enumerate(searches_of(int(lengths[rows[index]]), steps[rows[index]]))
        }
        ends, asked = answered(judge, [scored[row] for row in rows], searches)
        questions += asked
        for (index, measure, _), (low, high) in ends.items():
            lower[measure][index] = min(lower[measure][index], low)
            upper[measure][index] = max(upper[measure][index], high)
    return Limits(rows, lengths[rows] <= EXACT, lower, upper, questions)


def normalised(values: Doubles, lower: Doubles, upper: Doubles) -> Doubles:
    """(texts,) NaN if all rankings of a text are equally good."""
    room = upper - lower
    is_wide = room > 1e-9
    shares = (values - lower) / np.where(is_wide, room, 1.0)
    return np.asarray(np.where(is_wide, shares.round(9), np.nan))  # 0 and 1 exactly, where a limit is reached


def steps_of(taken: Ints) -> Steps:
    sizes, times = np.unique(taken, return_counts=True)
    return Steps(tuple(sizes.tolist()), tuple((times / len(taken)).tolist()))


def sample(lengths: Ints, steps: Sequence[Steps], seed: int) -> Ints:
    """Texts with words, but not too many, at random, until there are enough or the questions are spent; ascending."""
    budget = min(MOST_QUESTIONS, QUESTIONS * len(lengths))
    rows: list[int] = []
    for row in (
        np.random.default_rng((seed, 4)).permutation(np.flatnonzero((lengths > 0) & (lengths <= LONGEST))).tolist()
    ):
        budget -= expected_questions(int(lengths[row]), steps[row])
        if rows and (budget < 0 or len(rows) == TEXTS):
            break
        rows.append(row)
    return np.sort(np.array(rows, dtype=np.int64))


def expected_questions(words: int, steps: Steps) -> int:
    if words <= EXACT:
        return len(ERASE) * sum(comb(words, size) for size in steps.sizes)
    widths = [min(words, high - low + SLACK) for low, high in zip(steps.sizes, steps.sizes[1:], strict=False)]
    return len(ERASE) * (words + 2 * WIDTH * sum(widths))


def searches_of(words: int, steps: Steps) -> list[Search]:
    if words <= EXACT:
        return [all_rankings(words, steps)]
    return [beam(words, steps, sign) for sign in (-1, 1)]


def answered(
    judge: Judge, texts: Sequence[Scored], searches: dict[tuple[int, str, int], Search]
) -> tuple[dict[tuple[int, str, int], tuple[float, float]], int]:
    """Run all searches side by side, so that the judge gets many texts at once; and how many texts it got."""
    whole = Questions()
    numbers = {index: whole.add(texts[index].text) for index, *_ in searches}
    answers = whole.put(judge)
    before = {index: answers[number] for index, number in numbers.items()}
    asked = len(whole.numbers)
    ends: dict[tuple[int, str, int], tuple[float, float]] = {}
    pending = {key: (search, next(search)) for key, search in searches.items()}
    while pending:
        questions, placed = Questions(), {}
        for key, (_, sets) in pending.items():
            one, erase = texts[key[0]], ERASE[key[1]]
            placed[key] = [questions.add(erase(one.text, one.spans, words)) for words in sets]
        answers = questions.put(judge)
        asked += len(questions.numbers)
        following = {}
        for key, (search, _) in pending.items():
            predicted = before[key[0]].argmax()
            drops = before[key[0]][predicted] - answers[placed[key], predicted]
            try:
                following[key] = (search, search.send(drops))
            except StopIteration as stopped:
                ends[key] = stopped.value
        pending = following
    return ends, asked


def all_rankings(words: int, steps: Steps) -> Search:
    """Exact: the best mean from each set of words onwards, from the largest sets down to the empty one."""
    by_size = {size: list(combinations(range(words), size)) for size in steps.sizes}
    drops = yield list(chain.from_iterable(by_size.values()))
    masks = np.arange(2**words)
    sizes = np.array([mask.bit_count() for mask in masks.tolist()])
    own, done = np.zeros(2**words), 0
    for sets, weight in zip(by_size.values(), steps.weights, strict=True):
        places = [sum(1 << word for word in one) for one in sets]
        own[places], done = weight * drops[done : done + len(sets)], done + len(sets)
    ends = []
    for sign in (-1, 1):
        best = np.where(sizes == steps.sizes[-1], sign * own, -np.inf)
        for size in range(steps.sizes[-1] - 1, -1, -1):
            rows = masks[sizes == size]
            larger = np.stack([np.where(rows & 1 << word, -np.inf, best[rows | 1 << word]) for word in range(words)])
            best[rows] = sign * own[rows] + larger.max(0)
        ends.append(sign * float(best[0]))
    return ends[0], ends[1]


class Chain(NamedTuple):
    mean: float  # the weighted sum of the drops so far
    words: Words
    effects: Doubles  # (words,) the latest known drop with each word added


def beam(words: int, steps: Steps, sign: int) -> Search:
    """`sign`: 1 for the highest mean, −1 for the lowest, which is returned twice."""
    # words that were not tried come last
    chains = [Chain(0.0, (), np.full(words, -sign * np.inf))]
    tried, size = words, 0
    if steps.sizes[0] == 0:
        drops = yield [()]
        chains = [chains[0]._replace(mean=steps.weights[0] * float(drops[0]))]
    for target, weight in zip(steps.sizes, steps.weights, strict=True):
        if target == 0:
            continue
        proposals: dict[Words, tuple[float, Doubles]] = {}
        for one in chains:
            added = target - size
            candidates = remaining(one, sign)[:tried]
            one.effects[candidates] = yield [with_words(one.words, [word]) for word in candidates]
            order = remaining(one, sign)
            for last in order[added - 1 : added - 1 + WIDTH]:
                proposals.setdefault(with_words(one.words, [*order[: added - 1], last]), (one.mean, one.effects))
        drops = yield list(proposals)
        extended = [
            Chain(mean + weight * float(drop), chosen, effects.copy())
            for (chosen, (mean, effects)), drop in zip(proposals.items(), drops, strict=True)
        ]
        chains = sorted(extended, key=lambda one: -sign * one.mean)[:WIDTH]
        following = steps.sizes[min(len(steps.sizes) - 1, steps.sizes.index(target) + 1)]
        size, tried = target, following - target + SLACK
    return chains[0].mean, chains[0].mean


def remaining(one: Chain, sign: int) -> list[int]:
    """The words that are not in the chain, the most promising first."""
    order = np.argsort(-sign * one.effects, kind="stable").tolist()
    taken = set(one.words)
    return [word for word in order if word not in taken]


def with_words(words: Words, added: Sequence[int]) -> Words:
    return tuple(sorted((*words, *added)))
