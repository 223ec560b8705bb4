"""Doubt scores and the confident joint, on probabilities that can be checked by eye."""

from __future__ import annotations

import numpy as np
import pytest

from regard.doubts import scoring

P = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6], [0.1, 0.9]])
LABELS = np.array([0, 0, 0, 1, 1])


def test_self_doubt_is_what_the_label_lacks_to_certainty() -> None:
    assert scoring.self_doubt(P, LABELS) == pytest.approx([0.1, 0.3, 0.8, 0.4, 0.1])


def test_margin_doubt_is_the_lead_of_the_best_other_class() -> None:
    three = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    assert scoring.margin_doubt(three, np.array([0, 1])) == pytest.approx([0.3 - 0.5, 0.7 - 0.2])


def test_a_threshold_is_the_mean_probability_of_its_own_texts() -> None:
    # class 0: (0.9 + 0.7 + 0.2) / 3 = 0.6; class 1: (0.6 + 0.9) / 2 = 0.75
    assert scoring.class_thresholds(P, LABELS) == pytest.approx([0.6, 0.75])
    assert scoring.normalised_doubt(P, LABELS) == pytest.approx([-0.3, -0.1, 0.4, 0.15, -0.15])


def test_a_text_counts_for_the_likeliest_class_that_reaches_its_threshold() -> None:
    # the fourth reaches neither 0.6 (it has 0.4) nor 0.75 (it has 0.6)
    assert scoring.confident_classes(P, LABELS).tolist() == [0, 0, 1, -1, 1]


def test_the_joint_is_scaled_to_the_number_of_texts_with_each_label() -> None:
    # label 0: two counted as 0 and one as 1, of three texts; label 1: only one counted, as 1, of two texts
    assert scoring.confident_joint(P, LABELS) == pytest.approx(np.array([[2.0, 1.0], [0.0, 2.0]]))
    assert scoring.estimated_errors(P, LABELS) == pytest.approx(1.0)


def test_a_class_without_texts_has_no_errors() -> None:
    padded = np.concatenate([P, np.zeros((5, 1))], axis=1)
    assert scoring.estimated_errors(padded, LABELS) == pytest.approx(1.0)


def test_equal_probabilities_reach_their_own_threshold() -> None:
    third = np.full((3, 3), 1 / 3)
    assert (scoring.confident_classes(third, np.array([0, 1, 2])) >= 0).all()


def test_residuals_are_measured_in_robust_standard_deviations() -> None:
    # residuals −1, 0, 1, 2, 30: the median is 1, the absolute deviations 2, 1, 0, 1, 29, and their median 1
    doubts = scoring.residual_doubt(np.array([0.0, 1.0, 2.0, 3.0, 31.0]), np.ones(5))
    assert doubts == pytest.approx(np.array([2, 1, 0, 1, 29]) / 1.4826)


def test_predictions_that_are_all_right_leave_no_doubt() -> None:
    assert scoring.residual_doubt(np.arange(4.0), np.arange(4.0)).tolist() == [0, 0, 0, 0]
