"""What to label next: uncertain and different."""

from __future__ import annotations

import numpy as np
import pytest

from regard.doubts.choosing import choose, uncertainty
from regard.models.tasks import Multiclass, Regression


def test_uncertainty_is_small_where_one_class_leads() -> None:
    answers = np.array([[[0.9, 0.1, 0.0], [0.4, 0.3, 0.3]], [[0.7, 0.3, 0.0], [0.2, 0.5, 0.3]]])
    # means: 0.8 against 0.2; 0.3, 0.4, 0.3
    assert uncertainty(Multiclass(("a", "b", "c")), answers) == pytest.approx([0.4, 0.9])


def test_uncertainty_of_numbers_is_how_far_models_disagree() -> None:
    assert uncertainty(Regression(0, 1), np.array([[[1.0], [2.0]], [[3.0], [2.0]]])) == pytest.approx([1.0, 0.0])


def test_a_copy_of_a_chosen_text_comes_last() -> None:
    texts = ["late delivery again", "late delivery again", "broken screen"]
    assert choose(texts, np.array([0.9, 0.8, 0.3]), 3) == [0, 2, 1]


def test_no_more_are_chosen_than_there_are() -> None:
    assert choose(["one", "two"], np.array([0.1, 0.2]), 5) == [1, 0]
