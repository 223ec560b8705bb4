from __future__ import annotations

import math

import pytest

from regard.errors import InputError
from regard.faithfulness.scored import Scored, check, check_alike, from_explanation
from regard.records import Explanation, Prediction, TokenScore

GOOD = Scored("a bc", [(0, 1), (2, 4)], [0.5, 0.5])


@pytest.mark.parametrize(
    ("spans", "scores", "message"),
    [
        ([(0, 1), (2, 4)], [0.5], "expected one score per word, got 1 for 2 words"),
        ([(0, 1), (2, 4)], [0.5, math.nan], "expected finite scores"),
        ([(0, 1), (2, 4)], [0.5, math.inf], "expected finite scores"),
        ([(0, 1), (2, 5)], [0.5, 0.5], r"expected words in order, .* got \[2, 5\) after character 1 of 4"),
        ([(2, 4), (0, 1)], [0.5, 0.5], r"expected words in order, .* got \[0, 1\) after character 4"),
        ([(0, 3), (2, 4)], [0.5, 0.5], r"expected words in order, .* got \[2, 4\) after character 3"),
        ([(0, 1), (2, 2)], [0.5, 0.5], r"expected words in order, .* got \[2, 2\)"),
        ([(-1, 1), (2, 4)], [0.5, 0.5], r"expected words in order, .* got \[-1, 1\)"),
    ],
)
def test_invalid_words_and_scores_are_refused(spans: list[tuple[int, int]], scores: list[float], message: str) -> None:
    with pytest.raises(InputError, match=f"attention, text 2: {message}"):
        check([GOOD, Scored("a bc", spans, scores)], "attention")


def test_no_attributions_are_refused() -> None:
    with pytest.raises(InputError, match="attributions: expected at least one, by name, got none"):
        check_alike({})


def test_spans_may_be_lists_or_tuples() -> None:
    listed = GOOD._replace(spans=[[0, 1], [2, 4]])  # type: ignore[list-item]
    assert check_alike({"a": [GOOD], "b": [listed]}) == [GOOD]


def test_a_label_that_is_not_a_class_is_refused() -> None:
    tokens = (TokenScore("a", 0, 1, 1.0),)
    with pytest.raises(InputError, match=r"label of an explanation: expected one of 'bad', 'good', got 'ugly'"):
        from_explanation(Explanation("a", Prediction("bad", {"bad": 0.9, "good": 0.1}), tokens, label="ugly"))


def test_a_numeric_label_matches_the_class_of_the_same_text() -> None:
    tokens = (TokenScore("a", 0, 1, 1.0),)
    assert from_explanation(Explanation("a", Prediction("1", {"0": 0.1, "1": 0.9}), tokens, label=1)).label == 1


def test_a_regression_has_no_class_label() -> None:
    assert (
        from_explanation(Explanation("a", Prediction(3.5, {}), (TokenScore("a", 0, 1, 1.0),), label=4.0)).label is None
    )
