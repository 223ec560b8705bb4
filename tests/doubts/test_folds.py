"""Cross-validation: every text is answered by models that were not trained on it."""

from __future__ import annotations

import numpy as np
import pytest
from doubtful import table_rows

from regard.config import Config
from regard.doubts.folds import FOLDS, NEVER, cross_validate, draw_folds
from regard.errors import InputError
from regard.records import Example


def test_classes_are_spread_evenly_over_folds() -> None:
    strata = np.array([0] * 23 + [1] * 10 + [2] * 2)
    for seed in range(3):
        fold = draw_folds(strata, seed)
        counts = np.array([np.bincount(fold[strata == stratum], minlength=FOLDS) for stratum in range(3)])
        assert (counts.max(1) - counts.min(1) <= 1).all()
        assert np.ptp(counts.sum(0)) <= 1
    assert (draw_folds(strata, 0) != draw_folds(strata, 1)).any()


def test_the_only_text_of_a_class_is_never_held_out() -> None:
    assert draw_folds(np.array([0, 0, 1]), 0).tolist().index(NEVER) == 2
    assert NEVER not in draw_folds(np.zeros(1, dtype=np.int64), 0, stratified=False)


def test_a_held_out_label_does_not_reach_its_own_answer() -> None:
    """A word that occurs in one text only tells nothing, although every training text is learned by heart."""
    examples = [Example(str(text), str(label), row) for row, (_, text, label) in enumerate(table_rows(), 1)]
    out = cross_validate(examples, Config(), "texts", seeds=1)
    wrong = [row - 1 for row in (8, 51)]
    assert (out.answers[wrong, out.labels[wrong].astype(int)] < 0.2).all()
    assert out.answers.sum(1) == pytest.approx(np.ones(len(examples)))
    assert len(out.models) == FOLDS
    for row in (0, 20):
        said = out.models[out.fold[row]].answers([examples[row].text])[0]
        assert out.answers[row] == pytest.approx(said)


def test_one_text_of_each_label_is_refused() -> None:
    with pytest.raises(InputError, match="file: expected two or more texts of some label, got one of each"):
        cross_validate([Example("one", "a", 1), Example("two", "b", 2)], Config(), "file")


def test_a_lone_label_is_not_doubted() -> None:
    examples = [Example(f"good {k}", "a", k) for k in range(6)] + [Example(f"bad {k}", "b", k) for k in range(6)]
    out = cross_validate([*examples, Example("odd", "c", 13)], Config(), "texts", seeds=1)
    assert out.answers[-1].tolist() == [0, 0, 1]
    assert out.novelty[-1] == 0
