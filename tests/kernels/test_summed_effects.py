"""Exact effects from sums that are computed in advance, against those of `leaving_out` and against reading each text again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from test_answering import CUT, PLAIN, TASKS, TEXTS, WORDS, drawn

from regard.data.packing import pack
from regard.data.tokenizer import Tokenizer
from regard.explain.flat_texts import leave_out
from regard.kernels.leaving_out import single_words
from regard.kernels.summed_effects import effects_from_sums
from regard.models.tasks import Binary, MultiLabel, Regression, Task
from regard.models.trained import Trained


def both_ways(
    trained: Trained, texts: list[str], targets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """(words,) from sums, from the units of each text, and whether a text of the word is left to the latter."""
    tokenizer = trained.tokenizer
    assert isinstance(tokenizer, Tokenizer)
    units = tokenizer.encode_all(texts)
    slow = leave_out(trained, units, targets, single_words(units.words))
    packed, logits = pack(texts), np.empty((len(texts), trained.task.out_dim), dtype=np.float32)
    found = tokenizer.find_words(packed)
    sums = trained.answering.add_up(packed.data, *found, logits)
    sides = np.ones_like(targets) if isinstance(trained.task, Regression) else targets
    independent = isinstance(trained.task, MultiLabel)
    effects = effects_from_sums(
        trained.answering, sums, found.counts, sides, not tokenizer.has_units, independent=independent
    )
    if isinstance(trained.task, Regression):
        effects = effects * trained.task.scale
    return effects, slow, sums.left.repeat(found.counts)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
@pytest.mark.parametrize("tokenizer", [WORDS, PLAIN, CUT], ids=["units", "words", "cut"])
@settings(max_examples=25)
@given(texts=TEXTS, members=st.integers(1, 3), spread=st.sampled_from([0.0, 1.0, 5.0, 40.0]), seed=st.integers(0, 9))
def test_effects_equal_those_of_the_units(
    tokenizer: Tokenizer, task: Task, texts: list[str], members: int, spread: float, seed: int
) -> None:
    trained = drawn(tokenizer, task, members, spread, seed)
    outputs = 2 if isinstance(task, Binary) else task.out_dim
    targets = np.random.default_rng(seed).integers(0, outputs, len(texts))
    effects, slow, left = both_ways(trained, texts, targets)
    assert effects[~left] == pytest.approx(slow[~left], abs=2e-5)


def test_effects_are_those_of_reading_the_text_without_the_word() -> None:
    trained = drawn(WORDS, TASKS[1], 2, 1.0, 3)
    texts = ["not good movies odd good", "good good", "movies", "étésque not"]
    effects, _, left = both_ways(trained, texts, np.array([0, 1, 2, 0]))
    assert not left.any()

    def odds(text: str, target: int) -> float:
        logits = trained.logits(trained.tokenizer.encode_each([text]))[0]  # type: ignore[union-attr]
        return float(logits[target] - np.log(np.exp(np.delete(logits, target)).sum()))

    expected = []
    for text, target in zip(texts, (0, 1, 2, 0), strict=True):
        words = text.split()
        without = [" ".join(words[:k] + words[k + 1 :]) for k in range(len(words))]
        expected += [odds(text, target) - odds(shorter, target) for shorter in without]
    assert effects == pytest.approx(np.array(expected), abs=1e-5)


def test_texts_whose_remaining_words_hardly_count_are_left() -> None:
    """In the first member "good" holds the whole sum: without it, float32 terms say nothing about the rest."""
    trained = drawn(WORDS, TASKS[0], 2, 0.0, 0)
    trained.tables.scores[:, 0] = -80.0
    trained.tables.scores[3, 0] = 0.0
    _, _, left = both_ways(trained, ["good not", "good good"], np.array([1, 1]))
    assert left.tolist() == [True, True, False, False]
