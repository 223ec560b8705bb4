from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from judges import dictionary, linear, linear_corpus, scored

from regard.errors import InputError
from regard.faithfulness.flips import first_flips, sizes
from regard.faithfulness.random_choice import backwards
from regard.faithfulness.scored import Doubles

FILM = "good bad film"


def test_smallest_share_by_hand() -> None:
    # in the order good, film, bad the first removal changes the prediction; in the order bad, film, good only the last
    texts = [scored(FILM, [3.0, 1.0, 2.0]), scored(FILM, [1.0, 3.0, 2.0])]
    flips = first_flips(dictionary(), {"a": texts})["a"]
    assert flips.share.tolist() == [1 / 3, 1.0]
    assert flips.never.tolist() == [0, 0]
    assert flips.how == "deletion"


def test_the_first_change_counts_even_if_the_prediction_changes_back() -> None:
    answers = {"a b c d": 0.9, "b c d": 0.9, "c d": 0.1, "d": 0.9, "": 0.9}
    flips = first_flips(dictionary(answers), {"a": [scored("a b c d", [4.0, 3.0, 2.0, 1.0])]}, draws=0)["a"]
    assert flips.share.tolist() == [0.5]


def test_a_prediction_that_never_changes_counts_as_all_words_and_is_marked() -> None:
    texts = [scored("plain words", [1.0, 2.0]), scored("", []), scored("up", [1.0])]
    flips = first_flips(linear({"up": 1.0}), {"a": texts})
    assert flips["a"].share.tolist() == flips["random"].share.tolist() == [1, 1, 1]
    assert flips["a"].never.tolist() == flips["random"].never.tolist() == [1, 1, 0]


def test_random_is_the_mean_of_its_draws() -> None:
    flips = first_flips(dictionary(), {"a": [scored(FILM, [3.0, 1.0, 2.0])]}, draws=600)["random"]
    # the six orders: good first 1/3; film or bad, then good 2/3 unless "bad" alone is left before; bad film good 1
    shares = {"gbf": 1 / 3, "gfb": 1 / 3, "bgf": 2 / 3, "bfg": 1.0, "fgb": 2 / 3, "fbg": 1.0}
    assert flips.share[0] == pytest.approx(np.mean(list(shares.values())), abs=0.03)


def test_true_contributions_change_predictions_sooner() -> None:
    judge, weights, texts = linear_corpus()
    tilted = {**weights, "plain0": 0.0}

    def biased(texts: Sequence[str]) -> Doubles:  # an empty text is class 0, so that only class 1 can change
        return judge(texts) + np.array([[1e-6, 0.0]])

    truth = [scored(text, [abs(tilted.get(word, 0.0)) for word in text.split()]) for text in texts if "up" in text]
    flips = first_flips(biased, {"truth": truth, "reverse": backwards(truth)})
    assert not any(flips[name].never.any() for name in flips)
    assert flips["truth"].share.max() <= 4 / 12
    assert flips["truth"].share.mean() < flips["random"].share.mean() < flips["reverse"].share.mean()
    assert (flips["reverse"].share == 1).all()


def test_long_texts_are_tried_in_even_steps_until_the_first_change() -> None:
    assert sizes(5, 100) == [1, 2, 3, 4, 5]
    assert sizes(250, 10) == [25, 50, 75, 100, 125, 150, 175, 200, 225, 250]
    assert sizes(7, 3) == [3, 5, 7]
    assert sizes(0, 3) == []
    calls = [0]

    def judge(texts: Sequence[str]) -> Doubles:
        calls[0] += len(texts)
        return linear({"up": 1.0, "plain": -1e-9})(texts)

    text = " ".join(["up", *["plain"] * 299])
    flips = first_flips(judge, {"a": [scored(text, np.linspace(1, 0, 300))]}, draws=0, steps=300)["a"]
    assert flips.share.tolist() == [1 / 300]
    assert calls[0] < 20


def test_replacement_is_described_and_steps_are_checked() -> None:
    texts = {"a": [scored("up", [1.0])]}
    assert first_flips(linear({"up": 1.0}), texts, replacement="UNK")["a"].how == "replacement by 'UNK'"
    with pytest.raises(InputError, match="steps: expected at least 1, got 0"):
        first_flips(linear({}), texts, steps=0)
