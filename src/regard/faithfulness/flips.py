"""How many words must go before the decision changes: the top word, then the two top words, and so on.

Serrano & Smith (ACL 2019) ask this of attention. Removing more need not keep a decision changed, so every number of
words is tried until the first change. **Choices**: of a text of more words than `steps`, as many numbers as `steps`,
spread evenly; a text whose decision no removal changes counts as 1, and is told apart by `never`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regard.errors import InputError
from regard.faithfulness.erasing import manner, without
from regard.faithfulness.judged import list_names, rankings
from regard.faithfulness.judging import Judge, Questions, blocks
from regard.faithfulness.random_choice import DRAWS
from regard.faithfulness.scored import Doubles, Numbers, Scored, check_alike

STEPS = 100
AT_ONCE = 8  # numbers of words tried before those that have changed are let go


class Flips(NamedTuple):
    """By text, the mean of the draws where there are several."""

    how: str  # "deletion", or "replacement by …"
    share: Doubles  # (texts,) the smallest share of the words, most important first, whose removal changes the decision
    never: Doubles  # (texts,) 1 where none does; by chance, in what part of the draws


def first_flips(
    judge: Judge,
    attributions: Mapping[str, Sequence[Scored]],
    *,
    replacement: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    steps: int = STEPS,
) -> dict[str, Flips]:
    """For each attribution by its name, and for `random`."""
    if steps < 1:
        raise InputError(f"steps = {steps}; 1 or more are accepted")
    own, names = check_alike(attributions), list_names(attributions, draws)
    share = np.ones((len(attributions) + draws, len(own)))
    never = np.ones_like(share)
    for block in blocks([one.text for one in own], len(share) * AT_ONCE):
        pending = [
            Search(row, place, order, sizes(len(own[place].spans), steps))
            for place in block
            for row, order in enumerate(rankings(attributions, place, draws, seed))
        ]
        for search, flip in search_all(judge, own, pending, replacement):
            share[search.row, search.place] = flip / len(search.order)
            never[search.row, search.place] = 0
    return {name: Flips(manner(replacement), share[part].mean(0), never[part].mean(0)) for name, part in names.items()}


class Search(NamedTuple):
    """One ranking of one text, and the numbers of words that are left to try."""

    row: int
    place: int
    order: Numbers
    sizes: list[int]


def sizes(words: int, steps: int) -> list[int]:
    """The numbers of words to try, up to all of them."""
    if words <= steps:
        return list(range(1, words + 1))
    return [-(-words * step // steps) for step in range(1, steps + 1)]


def search_all(
    judge: Judge, own: Sequence[Scored], pending: list[Search], replacement: str | None
) -> list[tuple[Search, int]]:
    """Those that found a change, with the number of words that it took."""
    found: list[tuple[Search, int]] = []
    first = Questions()
    asked = [first.add(own[search.place].text) for search in pending]
    decided = first.put(judge).argmax(1)[asked].tolist() if pending else []
    left = [(search, decision) for search, decision in zip(pending, decided, strict=True) if search.sizes]
    while left:
        questions = Questions()
        tried = [try_some(questions, own[search.place], search, replacement) for search, _ in left]
        decisions = questions.put(judge).argmax(1)
        still = []
        for (search, decision), numbers in zip(left, tried, strict=True):
            changed = np.flatnonzero(decisions[numbers] != decision)
            if len(changed):
                found.append((search, search.sizes[changed[0]]))
            elif len(search.sizes) > AT_ONCE:
                still.append((search._replace(sizes=search.sizes[AT_ONCE:]), decision))
        left = still
    return found


def try_some(questions: Questions, one: Scored, search: Search, replacement: str | None) -> list[int]:
    return [
        questions.add(without(one.text, one.spans, np.sort(search.order[:size]).tolist(), replacement))
        for size in search.sizes[:AT_ONCE]
    ]
