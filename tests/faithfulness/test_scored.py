from __future__ import annotations

import math

import pytest

from regard.errors import InputError
from regard.faithfulness.scored import Scored, check, check_alike, from_explanation
from regard.records import Explanation, Prediction, TokenScore

GOOD = Scored("a bc", [(0, 1), (2, 4)], [0.5, 0.5])


@pytest.mark.parametrize(
    ("spans", "scores", "said"),
    [
        ([(0, 1), (2, 4)], [0.5], "2 words and 1 scores"),
        ([(0, 1), (2, 4)], [0.5, math.nan], "a score is not finite"),
        ([(0, 1), (2, 4)], [0.5, math.inf], "a score is not finite"),
        ([(0, 1), (2, 5)], [0.5, 0.5], r"a word at \[2, 5\) after character 1 of 4"),
        ([(2, 4), (0, 1)], [0.5, 0.5], r"a word at \[0, 1\) after character 4"),
        ([(0, 3), (2, 4)], [0.5, 0.5], r"a word at \[2, 4\) after character 3"),
        ([(0, 1), (2, 2)], [0.5, 0.5], r"a word at \[2, 2\)"),
        ([(-1, 1), (2, 4)], [0.5, 0.5], r"a word at \[-1, 1\)"),
    ],
)
def test_words_and_scores_that_do_not_fit_are_refused(
    spans: list[tuple[int, int]], scores: list[float], said: str
) -> None:
    with pytest.raises(InputError, match=f"attention, text 2: {said}"):
        check([GOOD, Scored("a bc", spans, scores)], "attention")


def test_attributions_must_be_there() -> None:
    with pytest.raises(InputError, match="attributions: none"):
        check_alike({})


def test_spans_may_be_lists_or_tuples() -> None:
    listed = GOOD._replace(spans=[[0, 1], [2, 4]])  # type: ignore[list-item]
    assert check_alike({"a": [GOOD], "b": [listed]}) == [GOOD]


def test_a_label_that_is_no_class_is_refused() -> None:
    tokens = (TokenScore("a", 0, 1, 1.0),)
    with pytest.raises(InputError, match=r"label 'ugly' .* 'bad', 'good' are accepted"):
        from_explanation(Explanation("a", Prediction("bad", {"bad": 0.9, "good": 0.1}), tokens, label="ugly"))


def test_a_label_is_the_class_that_is_written_alike() -> None:
    tokens = (TokenScore("a", 0, 1, 1.0),)
    assert from_explanation(Explanation("a", Prediction("1", {"0": 0.1, "1": 0.9}), tokens, label=1)).label == 1


def test_numbers_have_no_class() -> None:
    assert (
        from_explanation(Explanation("a", Prediction(3.5, {}), (TokenScore("a", 0, 1, 1.0),), label=4.0)).label is None
    )
