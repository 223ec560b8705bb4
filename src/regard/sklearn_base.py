"""The base classes of scikit-learn's estimators, or, where it is not installed, the part of them that regard needs.

With scikit-learn the estimators work in its pipelines, searches and cross-validation; without it they fit, predict, explain
and score alone.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from regard.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class PlainEstimator:
    """Parameters are those of `__init__`, kept under the same names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in sorted(names)}

    def set_params(self, **parameters: Any) -> Self:
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(f"{name}: expected a parameter of {type(self).__name__} ({', '.join(known)})")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {name: item.default for name, item in inspect.signature(type(self).__init__).parameters.items()}
        changed = {name: value for name, value in self.get_params().items() if value != defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


class PlainClassifier:
    """Has nothing of its own: `TextClassifier` scores itself, because a text may have several labels."""


class PlainRegressor:
    def score(self: Any, X: Any, y: ArrayLike) -> float:
        """R²: 1 − squared error / variance."""
        labels = np.asarray(y, dtype=np.float64)
        return float(1 - ((labels - self.predict(X)) ** 2).sum() / ((labels - labels.mean()) ** 2).sum())


def check_is_plainly_fitted(estimator: Any, attribute: str) -> None:
    if not hasattr(estimator, attribute):
        raise InputError(f"{type(estimator).__name__}: expected a fitted model, got one before fit")


try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.validation import check_is_fitted
except ModuleNotFoundError:
    BaseEstimator, ClassifierMixin, RegressorMixin = PlainEstimator, PlainClassifier, PlainRegressor
    check_is_fitted = check_is_plainly_fitted

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "check_is_fitted"]
