from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import linear_corpus, scored
from sklearn.metrics import average_precision_score

from regard.faithfulness.plausibility import (
    against_rationales,
    average_precision,
    expected_precision,
    plausibility,
)
from regard.faithfulness.scored import Scored, from_explanation
from regard.records import Explanation, Prediction, TokenScore


def test_by_hand() -> None:
    # order c a d b, a and b marked: precision 1/2 at the first hit, 2/4 at the second
    one = scored("a b c d", [0.3, 0.1, 0.4, 0.2])
    result = against_rationales([one], [[(0, 3)]])
    assert result.auprc.tolist() == [(1 / 2 + 2 / 4) / 2]
    assert result.base_rate.tolist() == [0.5]
    assert result.share == 0.5
    assert result.tokens.f.values.tolist() == [[1 / 2]]  # one of c and a is right
    assert result.random_tokens.f.values.tolist() == [[1 / 2]]


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=15))
def test_average_precision_equals_scikit_learns(words: list[tuple[int, bool]]) -> None:
    scores, gold = np.array([score for score, _ in words], dtype=float), np.array([is_marked for _, is_marked in words])
    if not gold.any():
        assert np.isnan(average_precision(scores, gold))
    else:
        assert average_precision(scores, gold) == pytest.approx(average_precision_score(gold, scores))


@pytest.mark.parametrize(("words", "marks"), [(1, 1), (2, 1), (5, 2), (6, 6), (6, 1)])
def test_the_random_expectation_is_the_mean_over_all_orders(words: int, marks: int) -> None:
    gold = np.arange(words) < marks
    every = [average_precision(np.array(order, dtype=float), gold) for order in permutations(range(words))]
    assert expected_precision(words, marks) == pytest.approx(np.mean(every))


def truth_of(texts: list[str], weights: dict[str, float]) -> tuple[list[Scored], list[list[tuple[int, int]]]]:
    truth = [scored(text, [abs(weights.get(word, 0.0)) for word in text.split()]) for text in texts]
    gold = [[span for span, score in zip(one.spans, one.scores, strict=True) if score] for one in truth]
    return truth, gold


def test_true_words_have_an_auprc_of_one_and_constant_scores_the_base_rate() -> None:
    _, weights, texts = linear_corpus()
    truth, gold = truth_of(texts, weights)
    result = against_rationales(truth, gold)
    assert (result.auprc == 1).all()
    flat = against_rationales([one._replace(scores=[0.5] * 12) for one in truth], gold)
    assert flat.auprc == pytest.approx(flat.base_rate)
    rng = np.random.default_rng(0)
    random = [against_rationales([one._replace(scores=rng.random(12)) for one in truth], gold) for _ in range(5)]
    assert np.mean([each.auprc.mean() for each in random]) == pytest.approx(result.random_auprc.mean(), abs=0.02)
    assert np.mean([each.tokens.f.mean() for each in random]) == pytest.approx(
        result.random_tokens.f.mean()[0], abs=0.02
    )
    assert np.mean([each.tokens.precision.mean() for each in random]) == pytest.approx(
        result.base_rate.mean(), abs=0.02
    )


def test_texts_without_marks_are_left_out_and_counted() -> None:
    result = against_rationales(
        [scored("a b", [1.0, 0.0]), scored("a b", [1.0, 0.0]), scored("", [])], [[(0, 1)], [], []]
    )
    assert result.left_out == 2
    assert result.auprc[0] == 1
    assert np.isnan(result.auprc[1:]).all()
    assert result.share == 0.5
    nothing = against_rationales([scored("a", [1.0])], [[]])
    assert nothing.left_out == 1
    assert np.isnan(nothing.auprc).all()


def test_the_share_of_words_can_be_set() -> None:
    result = against_rationales([scored("a b c d", [4.0, 3.0, 2.0, 1.0])], [[(0, 1)]], share=0.5)
    assert result.tokens.precision.values.tolist() == [[0.5]]
    assert result.tokens.recall.values.tolist() == [[1.0]]


def explanation(label: str | None = None) -> Explanation:
    tokens = (TokenScore("rude", 0, 4, 0.7), TokenScore("waiter", 5, 11, 0.2), TokenScore("!", 11, 12, 0.1))
    return Explanation("rude waiter!", Prediction("bad", {"bad": 0.9, "good": 0.1}), tokens, label=label)


def test_weight_on_evidence() -> None:
    result = plausibility([explanation(), explanation()], [[(0, 4), (11, 12)], []])
    assert result["texts"] == 1
    assert result["weight_on_evidence"] == pytest.approx(0.8)
    assert result["precision_at_evidence"] == 0.5
    assert result["random"] == pytest.approx(2 / 3)
    assert plausibility([], []) == {"texts": 0}


def test_an_explanation_becomes_scored_words() -> None:
    result = from_explanation(explanation("good"))
    assert (result.text, result.spans, result.label) == ("rude waiter!", ((0, 4), (5, 11), (11, 12)), 1)
    assert np.asarray(result.scores).tolist() == [0.7, 0.2, 0.1]
    assert from_explanation(explanation()).label is None
    assert from_explanation(explanation("good"), ["good", "bad"]).label == 0
