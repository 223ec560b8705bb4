"""How many words must be removed before the prediction changes: the top word, then the two top words, and so on.

Serrano & Smith (ACL 2019) ask this of attention. A changed prediction can change back when more words are removed, so every
number of words is tried until the first change. **Choices**: for a text with more than `steps` words, `steps` evenly spaced
numbers are tried; a text whose prediction never changes counts as 1 and is marked in `never`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regard.data.erasing import describe_erasing, without
from regard.errors import InputError
from regard.faithfulness.judged import rankings, slices_by_name
from regard.faithfulness.judging import Judge, Questions, blocks
from regard.faithfulness.random_choice import DRAWS
from regard.faithfulness.scored import Doubles, Ints, Scored, check_alike

STEPS = 100
AT_ONCE = 8  # numbers of words tried per text before texts that have changed are dropped


class Flips(NamedTuple):
    """Per text; for random words, averaged over the draws."""

    how: str  # "deletion", or "replacement by …"
    share: Doubles  # (texts,) the smallest fraction of top words whose removal changes the prediction
    never: Doubles  # (texts,) 1 if no removal changes it; for random words, the fraction of draws


def first_flips(
    judge: Judge,
    attributions: Mapping[str, Sequence[Scored]],
    *,
    replacement: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    steps: int = STEPS,
) -> dict[str, Flips]:
    """One result per attribution, by name, and one for `random` words."""
    if steps < 1:
        raise InputError(f"steps: expected at least 1, got {steps}")
    texts, slices = check_alike(attributions), slices_by_name(attributions, draws)
    share = np.ones((len(attributions) + draws, len(texts)))
    never = np.ones_like(share)
    for block in blocks([one.text for one in texts], len(share) * AT_ONCE):
        pending = [
            Search(row, index, order, sizes(len(texts[index].spans), steps))
            for index in block
            for row, order in enumerate(rankings(attributions, index, draws, seed))
        ]
        for search, flip in search_all(judge, texts, pending, replacement):
            share[search.row, search.text] = flip / len(search.order)
            never[search.row, search.text] = 0
    return {
        name: Flips(describe_erasing(replacement), share[part].mean(0), never[part].mean(0))
        for name, part in slices.items()
    }


class Search(NamedTuple):
    """One ranking of one text, and the numbers of words still to try."""

    row: int  # which ranking
    text: int  # which text
    order: Ints
    sizes: list[int]


def sizes(words: int, steps: int) -> list[int]:
    """The numbers of words to try, up to all of them."""
    if words <= steps:
        return list(range(1, words + 1))
    return [-(-words * step // steps) for step in range(1, steps + 1)]


def search_all(
    judge: Judge, texts: Sequence[Scored], pending: list[Search], replacement: str | None
) -> list[tuple[Search, int]]:
    """The searches that found a change, with the number of words it took."""
    flips: list[tuple[Search, int]] = []
    whole = Questions()
    numbers = [whole.add(texts[search.text].text) for search in pending]
    predictions = whole.put(judge).argmax(1)[numbers].tolist() if pending else []
    remaining = [(search, prediction) for search, prediction in zip(pending, predictions, strict=True) if search.sizes]
    while remaining:
        questions = Questions()
        tried = [try_some(questions, texts[search.text], search, replacement) for search, _ in remaining]
        answers = questions.put(judge).argmax(1)
        unchanged = []
        for (search, prediction), numbers in zip(remaining, tried, strict=True):
            changed = np.flatnonzero(answers[numbers] != prediction)
            if len(changed):
                flips.append((search, search.sizes[changed[0]]))
            elif len(search.sizes) > AT_ONCE:
                unchanged.append((search._replace(sizes=search.sizes[AT_ONCE:]), prediction))
        remaining = unchanged
    return flips


def try_some(questions: Questions, one: Scored, search: Search, replacement: str | None) -> list[int]:
    return [
        questions.add(without(one.text, one.spans, np.sort(search.order[:size]).tolist(), replacement))
        for size in search.sizes[:AT_ONCE]
    ]
