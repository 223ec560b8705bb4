"""A judge's answers to texts without their top words and to their top words alone: asked once, used by all curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regard.data.erasing import describe_erasing, only, without
from regard.errors import InputError
from regard.faithfulness.judging import Judge, Questions, blocks
from regard.faithfulness.random_choice import DRAWS, RANDOM, random_rankings
from regard.faithfulness.ranking import Cut, Cuts, counts, cut_offs, ranking
from regard.faithfulness.scored import Doubles, Ints, Scored, check_alike, labels_of


class Judged(NamedTuple):
    """The answers for one attribution: one draw, or several for random words."""

    how: str  # "deletion", or "replacement by …"
    cuts: tuple[Cut, ...]
    labels: Ints  # (texts,) −1 if the true class is unknown
    before: Doubles  # (texts, classes) for the whole text
    deleted: Doubles  # (draws, texts, cuts, classes) the top words erased
    kept: Doubles  # (draws, texts, cuts, classes) all but the top words erased


def judge_erased(
    judge: Judge,
    attributions: Mapping[str, Sequence[Scored]],
    cuts: Cuts,
    *,
    replacement: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Judged]:
    """One result per attribution, by name, and one for `random`, which selects as many random words of each text.

    The judge is asked about each distinct text once. Words are deleted, or replaced by `replacement`. Without draws there
    is no `random`.
    """
    texts, cuts = check_alike(attributions), cut_offs(cuts)
    if not texts:
        raise InputError("attributions: expected at least one text, got none")
    slices = slices_by_name(attributions, draws)
    sizes = counts([len(one.spans) for one in texts], cuts)  # (texts, cuts)
    before: list[Doubles] = []
    after: list[Doubles] = []
    for block in blocks([one.text for one in texts], 2 * (len(attributions) + draws) * len(cuts)):
        questions = Questions()
        plain = np.array([questions.add(texts[index].text) for index in block], dtype=np.int64)
        erased = [
            [
                ask_cuts(questions, texts[index], order, sizes[index], replacement)
                for order in rankings(attributions, index, draws, seed)
            ]
            for index in block
        ]
        answers = questions.put(judge)
        before.append(answers[plain])
        after.append(answers[np.array(erased, dtype=np.int64)])  # (texts, rankings, cuts, 2, classes)
    labels, whole, rest = labels_of(texts), np.concatenate(before), np.concatenate(after).swapaxes(0, 1)
    invalid = labels[(labels < -1) | (labels >= whole.shape[1])]
    if len(invalid):
        raise InputError(
            f"label: expected 0 to {whole.shape[1] - 1}, since the judge has {whole.shape[1]} classes, got {invalid[0]}"
        )
    return {
        name: Judged(describe_erasing(replacement), cuts, labels, whole, rest[part, ..., 0, :], rest[part, ..., 1, :])
        for name, part in slices.items()
    }


def slices_by_name(attributions: Mapping[str, Sequence[Scored]], draws: int) -> dict[str, slice]:
    """Which of the rankings belong to which name."""
    if draws < 0:
        raise InputError(f"draws: expected at least 0 (0: no random words), got {draws}")
    if draws and RANDOM in attributions:
        raise InputError(f"attributions: {RANDOM!r} is the name of the random words; use another name, or draws = 0")
    names = {name: slice(index, index + 1) for index, name in enumerate(attributions)}
    return {**names, RANDOM: slice(len(names), len(names) + draws)} if draws else names


def rankings(attributions: Mapping[str, Sequence[Scored]], index: int, draws: int, seed: int) -> list[Ints]:
    """The rankings of one text: one per attribution, then the random ones."""
    orders = [ranking(scored[index].scores) for scored in attributions.values()]
    if draws:
        one = next(iter(attributions.values()))[index]
        orders += list(random_rankings(one.text, len(one.spans), draws, seed))
    return orders


def ask_cuts(
    questions: Questions, one: Scored, order: Ints, sizes: Ints, replacement: str | None
) -> list[tuple[int, int]]:
    """(cuts, 2) the questions without the top words and with only them; in short texts several cuts select the same words."""
    by_size: dict[int, tuple[int, int]] = {}
    for size in sizes.tolist():
        if size not in by_size:
            indices = np.sort(order[:size]).tolist()
            by_size[size] = (
                questions.add(without(one.text, one.spans, indices, replacement)),
                questions.add(only(one.text, one.spans, indices, replacement)),
            )
    return [by_size[size] for size in sizes.tolist()]
