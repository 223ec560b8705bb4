"""scikit-learn's own checks that need no matrix, and what people do with estimators: searches, clones, pickles, calibration."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from regard import TextClassifier, TextRegressor

# those of `check_estimator` that pass no matrix of numbers as X, which a text estimator has to refuse
CHECKS = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimators_unfitted,
]
KINDS = [TextClassifier, TextRegressor]
TEXTS = ["a good film", "a bad film", "good food", "bad food", "good book", "bad book"] * 4
LABELS = {TextClassifier: ["yes", "no"] * 12, TextRegressor: [4.5, 1.5] * 12}
both = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@both
def test_a_check_of_scikit_learn_passes(kind: type[Any], check: Callable[[str, Any], None]) -> None:
    check(kind.__name__, kind(epochs=1))


@both
def test_a_clone_of_a_fitted_estimator_is_not_fitted(kind: type[Any]) -> None:
    model = kind(epochs=1, lr=0.5).fit(TEXTS, LABELS[kind])
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    np.testing.assert_array_equal(copy.fit(TEXTS, LABELS[kind]).predict(TEXTS), model.predict(TEXTS))


@both
def test_fitting_changes_no_parameter(kind: type[Any]) -> None:
    model = kind(epochs=1)
    before = dict(model.get_params())
    assert model.fit(TEXTS, LABELS[kind]) is model
    assert model.get_params() == before


@both
def test_a_search_over_a_parameter_of_a_pipeline(kind: type[Any]) -> None:
    step = kind.__name__.lower()
    pipeline = make_pipeline(FunctionTransformer(np.char.lower, validate=False), kind(patience=0))
    search = GridSearchCV(pipeline, {f"{step}__epochs": [1, 4]}, cv=2, error_score="raise")
    search.fit(np.array(TEXTS), LABELS[kind])
    assert search.cv_results_["mean_test_score"].shape == (2,)
    chosen = search.best_params_[f"{step}__epochs"]
    assert search.best_estimator_[-1].trained_.metrics["epochs"] == chosen
    assert search.score(np.array(TEXTS), LABELS[kind]) > 0


@both
def test_cross_validation(kind: type[Any]) -> None:
    folds = cross_validate(kind(), TEXTS, LABELS[kind], cv=3, return_estimator=True, error_score="raise")
    assert folds["test_score"].shape == (3,)
    assert {type(fitted) for fitted in folds["estimator"]} == {kind}
    predicted = cross_val_predict(kind(), TEXTS, LABELS[kind], cv=3)
    assert predicted.dtype.kind == np.asarray(LABELS[kind]).dtype.kind
    assert len(predicted) == len(TEXTS)


@both
def test_a_fitted_estimator_survives_joblib(kind: type[Any]) -> None:
    """As worker processes of a search pass it on; a run folder is what models are kept in."""
    model, buffer = kind(epochs=2).fit(TEXTS, LABELS[kind]), io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    again = joblib.load(buffer)
    np.testing.assert_array_equal(again.predict(TEXTS), model.predict(TEXTS))
    assert again.explain(TEXTS[0]) == model.explain(TEXTS[0])
    assert again.get_params() == model.get_params()


def test_calibration_with_one_temperature_keeps_the_predictions() -> None:
    model = TextClassifier().fit(TEXTS, LABELS[TextClassifier])
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method="temperature")
    calibrated.fit(TEXTS, LABELS[TextClassifier])
    assert calibrated.predict(TEXTS).tolist() == model.predict(TEXTS).tolist()
    probabilities = calibrated.predict_proba(TEXTS)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    assert np.abs(probabilities - model.predict_proba(TEXTS)).max() > 1e-4
