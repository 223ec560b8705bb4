"""What a judge says of texts without their top words, and of their top words alone: asked once, read by all curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regard.errors import InputError
from regard.faithfulness.erasing import manner, only, without
from regard.faithfulness.judging import Judge, Questions, blocks
from regard.faithfulness.random_choice import DRAWS, RANDOM, random_rankings
from regard.faithfulness.ranking import Cut, Cuts, counts, cut_offs, ranking
from regard.faithfulness.scored import Doubles, Numbers, Scored, check_alike, labels_of


class Judged(NamedTuple):
    """The answers for one attribution; by chance there are several draws, otherwise one."""

    how: str  # "deletion", or "replacement by …"
    cuts: tuple[Cut, ...]
    labels: Numbers  # (texts,) −1 where the true class is not known
    before: Doubles  # (texts, classes) the text as it is
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
    """For each attribution by its name, and for `random`, which takes as many words of each text by chance.

    Erased texts are made first, and the judge is asked each different one once. Words are deleted, or replaced by
    `replacement`. Without draws there is no `random`.
    """
    own, cuts = check_alike(attributions), cut_offs(cuts)
    if not own:
        raise InputError("attributions: no texts; at least one is accepted")
    names = list_names(attributions, draws)
    sizes = counts([len(one.spans) for one in own], cuts)  # (texts, cuts)
    before: list[Doubles] = []
    after: list[Doubles] = []
    for block in blocks([one.text for one in own], 2 * (len(attributions) + draws) * len(cuts)):
        questions = Questions()
        plain = np.array([questions.add(own[place].text) for place in block], dtype=np.int64)
        erased = [
            [
                ask_cuts(questions, own[place], order, sizes[place], replacement)
                for order in rankings(attributions, place, draws, seed)
            ]
            for place in block
        ]
        answers = questions.put(judge)
        before.append(answers[plain])
        after.append(answers[np.array(erased, dtype=np.int64)])  # (texts, rankings, cuts, 2, classes)
    labels, whole, rest = labels_of(own), np.concatenate(before), np.concatenate(after).swapaxes(0, 1)
    strange = labels[(labels < -1) | (labels >= whole.shape[1])]
    if len(strange):
        raise InputError(
            f"label {strange[0]}: the judge has {whole.shape[1]} classes; 0 to {whole.shape[1] - 1} are accepted"
        )
    return {
        name: Judged(manner(replacement), cuts, labels, whole, rest[part, ..., 0, :], rest[part, ..., 1, :])
        for name, part in names.items()
    }


def list_names(attributions: Mapping[str, Sequence[Scored]], draws: int) -> dict[str, slice]:
    """Which of the rankings are whose."""
    if draws < 0:
        raise InputError(f"draws = {draws}; 0 (no selection by chance) or more are accepted")
    if draws and RANDOM in attributions:
        raise InputError(f"{RANDOM!r} names the selection by chance; another name, or draws = 0, is accepted")
    names = {name: slice(place, place + 1) for place, name in enumerate(attributions)}
    return {**names, RANDOM: slice(len(names), len(names) + draws)} if draws else names


def rankings(attributions: Mapping[str, Sequence[Scored]], place: int, draws: int, seed: int) -> list[Numbers]:
    """Of one text: each attribution's, then those by chance."""
    found = [ranking(scored[place].scores) for scored in attributions.values()]
    if draws:
        one = next(iter(attributions.values()))[place]
        found += list(random_rankings(one.text, len(one.spans), draws, seed))
    return found


def ask_cuts(
    questions: Questions, one: Scored, order: Numbers, sizes: Numbers, replacement: str | None
) -> list[tuple[int, int]]:
    """(cuts, 2) the questions without and with only the top words; short texts have the same number at many cuts."""
    made: dict[int, tuple[int, int]] = {}
    for size in sizes.tolist():
        if size not in made:
            places = np.sort(order[:size]).tolist()
            made[size] = (
                questions.add(without(one.text, one.spans, places, replacement)),
                questions.add(only(one.text, one.spans, places, replacement)),
            )
    return [made[size] for size in sizes.tolist()]
