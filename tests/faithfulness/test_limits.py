"""Limits of AOPC: equal to brute force over all orders for short texts, attained and deterministic for longer ones."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from regard.faithfulness import limits as searching
from regard.faithfulness.curves import comprehensiveness, sufficiency
from regard.faithfulness.judged import judge_erased
from regard.faithfulness.judging import LONGEST
from regard.faithfulness.limits import EXACT, find_limits, normalised
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Doubles, Scored

CUTS = tuple(Cut(share, True) for share in (0.05, 0.1, 0.2, 0.3, 0.5))
MEASURES = {"comprehensiveness": comprehensiveness, "sufficiency": sufficiency}


def judge(texts: Sequence[str]) -> Doubles:
    """Words interact: every set of words has an arbitrary probability."""
    p = np.array([zlib.crc32(" ".join(text.split()).encode()) / 2**32 for text in texts])
    return np.stack([p, 1 - p], axis=1)


def additive(texts: Sequence[str]) -> Doubles:
    """Each word adds a fixed amount, so that the best order is that of the amounts."""
    logits = np.array([sum((zlib.crc32(word.encode()) % 1000) / 500 - 1 for word in text.split()) for text in texts])
    p = 1 / (1 + np.exp(-logits / 4))
    return np.stack([p, 1 - p], axis=1)


def text_of(words: int, number: int = 0) -> Scored:
    parts = [f"w{number}x{word}" for word in range(words)]
    starts = np.cumsum([0, *(len(one) + 1 for one in parts)])[:-1].tolist()
    return Scored(" ".join(parts), [(a, a + len(one)) for a, one in zip(starts, parts, strict=True)], np.zeros(words))


def of_all_orders(one: Scored, cuts: Sequence[Cut]) -> dict[str, Doubles]:
    """By measure, the AOPC of every order of the words."""
    orders = list(permutations(range(len(one.spans))))
    attributions = {str(order): [one._replace(scores=-np.argsort(order).astype(float))] for order in orders}
    judged = judge_erased(judge, attributions, cuts, draws=0)
    return {
        name: np.array([measure(each).values.mean() for each in judged.values()]) for name, measure in MEASURES.items()
    }


@pytest.mark.parametrize("words", [1, 2, 3, 5, 6])
def test_limits_of_short_texts_are_those_of_all_orders(words: int) -> None:
    for cuts in (CUTS, tuple(map(Cut, (1, 2, 3))), (Cut(0), Cut(2)), (Cut(1, True),)):
        one = text_of(words)
        limits, expected = find_limits(judge, [one], cuts), of_all_orders(one, cuts)
        assert limits.exact.all()
        for measure, values in expected.items():
            assert limits.lower[measure] == pytest.approx([values.min()], abs=1e-12)
            assert limits.upper[measure] == pytest.approx([values.max()], abs=1e-12)


def test_the_beam_finds_the_limits_of_short_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "QUESTIONS", 1000)
    texts = [text_of(7, number) for number in range(30)]
    exact = find_limits(additive, texts, CUTS)
    monkeypatch.setattr(searching, "EXACT", 0)
    beam = find_limits(additive, texts, CUTS)
    assert exact.exact.all()
    assert not beam.exact.any()
    for measure in MEASURES:
        for one, other in ((exact.lower, beam.lower), (exact.upper, beam.upper)):
            assert other[measure] == pytest.approx(one[measure], abs=0.01)
        assert (beam.lower[measure] >= exact.lower[measure] - 1e-12).all(), "a search cannot beat the exact limit"
        assert (beam.upper[measure] <= exact.upper[measure] + 1e-12).all()


@pytest.mark.parametrize("words", [EXACT + 1, 25, 150])
def test_limits_of_longer_texts_are_beyond_random_orders(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "QUESTIONS", 10_000)
    texts = [text_of(words, number) for number in range(4)]
    limits = find_limits(additive, texts, CUTS)
    judged = judge_erased(additive, {"leading": texts}, CUTS, draws=20)["random"]
    assert len(limits.rows) == 4
    predicted = judged.before.argmax(1)
    for row, text in enumerate(limits.rows.tolist()):
        p = judged.before[text, predicted[text]]
        for measure, answers in (("comprehensiveness", judged.deleted), ("sufficiency", judged.kept)):
            values = (p - answers[:, text, :, predicted[text]]).mean(1)
            assert limits.lower[measure][row] < values.min()
            assert values.max() < limits.upper[measure][row]


def test_limits_are_deterministic_and_the_seed_chooses_texts() -> None:
    texts = [text_of(8, number) for number in range(150)]
    one, again, other = (find_limits(judge, texts, CUTS, seed) for seed in (0, 0, 1))
    assert len(one.rows) == searching.TEXTS or one.questions <= searching.QUESTIONS * len(texts)
    assert one.rows.tolist() == again.rows.tolist() != other.rows.tolist()
    for measure in MEASURES:
        assert one.upper[measure].tolist() == again.upper[measure].tolist()


def test_questions_are_limited_and_very_long_texts_skipped() -> None:
    texts = [text_of(words, words) for words in (60, 60, 60, LONGEST + 1)]
    limits = find_limits(additive, texts, CUTS)
    assert len(limits.rows) == 1
    assert limits.rows[0] < 3
    assert len(find_limits(additive, texts[3:], CUTS).rows) == 0


def test_texts_without_words_are_not_searched() -> None:
    limits = find_limits(judge, [Scored("", [], [])], CUTS)
    assert (len(limits.rows), limits.questions) == (0, 0)


def test_normalised_values() -> None:
    values = normalised(np.array([0.1, 0.5, 0.3]), np.array([0.1, 0.0, 0.3]), np.array([0.2, 1.0, 0.3]))
    assert values.tolist()[:2] == pytest.approx([0.0, 0.5])
    assert np.isnan(values[2]), "all orders are equally good"
