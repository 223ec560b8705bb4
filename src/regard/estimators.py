"""The scikit-learn estimators: fit, predict, predict_proba, explain; usable in pipelines, grids and cross-validation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from regard.config import options
from regard.config.numpydoc import class_doc
from regard.data.label_types import restore_labels
from regard.data.labels import Task
from regard.errors import InputError
from regard.keyword_names import also_named
from regard.label_matrix import MATRIX, LabelSets, in_form, is_missing, label_sets
from regard.models import folder as folders
from regard.models.tasks import Binary, Classes, MultiLabel, Named
from regard.sklearn_base import ClassifierMixin, RegressorMixin, check_is_fitted
from regard.text_estimator import TextEstimator, sample_weights, strings


class TextClassifier(ClassifierMixin, TextEstimator):  # type: ignore[misc]
    __doc__ = class_doc(
        """
        Text classifier that shows which words its predictions rest on.

        A scikit-learn estimator over lists of strings, or a column of pandas or polars, with labels of any one type and two or
        more classes. A text may have several labels: y is then a matrix of 0 and 1 with a column per label, as
        `MultiLabelBinarizer` makes it, or a list of lists of labels, and `predict` returns the same form. The parameters are
        the options of `regard train`, under the same names. Without any, the fast engine trains attention over words, pairs of
        words and beginnings of words in seconds.
        """,
        attributes="""
        classes_ : ndarray of shape (n_classes,)
            The labels, sorted. Of a matrix of 0 and 1 they are the numbers of its columns, or its column names in pandas.
        trained_ : Trained
            The fitted model with its tokenizer, options and metrics.
        """,
        example="""
        >>> from regard import TextClassifier
        >>> model = TextClassifier(encoder="bilstm", pooling="apln").fit(texts, labels)
        >>> model.predict(["Breakfast was fine, but the room was filthy."])
        >>> model.explain("Breakfast was fine, but the room was filthy.").top(3)
        """,
    )

    classes_: NDArray[Any]

    @also_named(texts="X", labels="y")
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on texts X and their labels y: one per text, or several as a matrix of 0 and 1 or as lists.

        A text with weight 2 counts like two, one with weight 0 like none.
        """
        several = label_sets(y)
        if several is not None:
            return self.fit_several(X, several, sample_weight)
        values, _ = checked_labels(y)
        weights = sample_weights(sample_weight, len(values))
        classes = np.unique(values[np.array(weights) > 0])
        self.learn(X, as_strings(values), "multiclass" if len(classes) > 2 else "binary", weights)
        return self.with_classes(classes)

    @also_named(texts="X", labels="y")
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue training with new texts X and their labels y, without the earlier ones; the first call is like `fit`.

        New words enter the vocabulary, and old ones keep what was learned. What the old texts taught may be forgotten, unless
        some of them were kept (`keep_texts`), which are then learned from again.

        Parameters
        ----------
        X : sequence of str
            The new texts.
        y : sequence of labels
            Their labels. Unlike in scikit-learn, labels that no earlier call had are added as new classes.
        classes : sequence of labels, optional
            All labels that this and later calls may have, by default those of `y`. Unlike in scikit-learn, the first call
            does not require it, and a later one may name more.
        sample_weight : sequence of float, optional
            How much each text counts, as in `fit`.
        """
        if label_sets(y) is not None:
            raise InputError("y: expected one label per text, got several, which partial_fit does not take; use fit")
        values, present = checked_labels(y)
        weights = sample_weights(sample_weight, len(values))
        declared = present if classes is None else checked_labels(np.append(np.asarray(classes).ravel(), values))[1]
        if "trained_" not in vars(self):
            kind: Task = "multiclass" if len(declared) > 2 else "binary"
            self.learn(X, as_strings(values), kind, weights, as_strings(declared))
            return self.with_classes(declared)
        values, declared = of_same_type(values, self.classes_), of_same_type(declared, self.classes_)
        self.learn_more(X, as_strings(values), weights, as_strings(declared))
        return self.with_classes(np.unique(np.append(self.classes_, declared)))

    def with_classes(self, classes: NDArray[Any]) -> Self:
        self.classes_ = classes
        self.trained_.metrics["label_type"] = type(self.classes_.tolist()[0]).__name__
        return self

    def fit_several(self, X: Any, sets: LabelSets, sample_weight: Any) -> Self:
        labels, weights = [tuple(map(str, one)) for one in sets.labels], sample_weights(sample_weight, len(sets.labels))
        self.learn(X, labels, "multilabel", weights)
        self.classes_ = sets.classes
        self.trained_.metrics["label_type"] = type(self.classes_.tolist()[0]).__name__
        self.trained_.metrics["label_form"] = sets.form
        return self

    @also_named(texts="X")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities: one row per text, one column per class of `classes_`. Those of several labels do not sum to 1."""
        check_is_fitted(self, "trained_")
        answers = self.trained_.answers(strings(X))
        columns = self.columns()
        # a label that no training text has is never predicted
        return np.stack([np.zeros(len(answers)) if k is None else answers[:, k] for k in columns], axis=1)

    def columns(self) -> list[int | None]:
        """The output of each class of `classes_`."""
        task = self.trained_.task
        assert isinstance(task, Named)
        known = {name: k for k, name in enumerate(task.classes)}
        return [known.get(str(name)) for name in self.classes_.tolist()]

    @also_named(texts="X")
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each text; of several labels per text, in the form that `fit` was given."""
        check_is_fitted(self, "trained_")
        task = self.trained_.task
        if isinstance(task, MultiLabel):
            columns, probabilities = self.columns(), self.predict_proba(X)
            thresholds = np.array([np.inf if k is None else task.thresholds[k] for k in columns])
            labels: NDArray[Any] = in_form(
                probabilities >= thresholds, self.classes_, self.trained_.metrics.get("label_form")
            )
            return labels
        assert isinstance(task, Classes)
        numbers = {str(name): number for number, name in enumerate(self.classes_.tolist())}
        positions = np.array([numbers[name] for name in task.classes])
        result: NDArray[Any] = self.classes_[positions[task.chosen(self.trained_.answers(strings(X)))]]
        return result

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; of several labels per text, the share of texts whose labels are all right."""
        predicted, sets = self.predict(X), label_sets(y)
        if len(predicted) != len(y if sets is None else sets.labels):
            raise InputError(f"y: expected the labels of {len(predicted)} texts, got {len(y)}")
        if sets is None:
            right = (predicted == np.asarray(y).ravel()).tolist()
        else:
            unnamed = sets.form == MATRIX and sets.classes.dtype.kind == "i"  # columns in the order of `classes_`
            names = dict(enumerate(self.classes_.tolist())) if unnamed else {}
            chosen = (
                predicted if isinstance(predicted, list) else [self.classes_[row > 0].tolist() for row in predicted]
            )
            right = [
                {*one} == {names.get(label, label) for label in labels}
                for one, labels in zip(chosen, sets.labels, strict=True)
            ]
        return float(np.average(right, weights=sample_weight))

    @also_named(texts="X")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-odds: above 0 for the second of two classes of `classes_` where it is predicted; otherwise one column per class."""
        probabilities = self.predict_proba(X)
        logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
        others = np.log(np.maximum(1 - probabilities, np.finfo(np.float64).tiny))
        odds: NDArray[np.float64] = logs - others
        task = self.trained_.task
        if isinstance(task, MultiLabel):  # above 0 where the label is predicted
            chosen = np.array([0.5 if k is None else task.thresholds[k] for k in self.columns()])
            return np.asarray(odds - np.log(chosen / (1 - chosen)))
        if len(self.classes_) > 2:
            return odds
        thresholds = task.thresholds if isinstance(task, Binary) else ()
        offset = math.log(thresholds[0] / (1 - thresholds[0])) if thresholds else 0.0
        is_second = str(self.classes_[1]) == self.trained_.task.as_dict()["classes"][1]
        return np.asarray(odds[:, 1] - offset if is_second else odds[:, 1] + offset)


class TextRegressor(RegressorMixin, TextEstimator):  # type: ignore[misc]
    __doc__ = class_doc(
        """
        Text regressor, for ratings and other numbers, that shows which words its predictions rest on.

        A scikit-learn estimator over lists of strings, or a column of pandas or polars. The parameters are the options of
        `regard train`, under the same names.
        """,
        attributes="""
        trained_ : Trained
            The fitted model with its tokenizer, options and metrics.
        """,
        example="""
        >>> from regard import TextRegressor
        >>> model = TextRegressor(levels=2, encoder="bilstm", pooling="apln").fit(texts, ratings)
        >>> model.predict(["Breakfast was fine. The room was filthy."])
        """,
    )

    @also_named(texts="X", values="y")
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on texts X and their numbers y. A text with weight 2 counts like two, one with weight 0 like none."""
        values = np.asarray(y).ravel().tolist()
        self.learn(X, values, "regression", sample_weights(sample_weight, len(values)))
        return self

    @also_named(texts="X", values="y")
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Continue training with new texts X and their numbers y, without the earlier ones; the first call is like `fit`.

        The mean and the scale of the numbers stay those of the first call; predictions may reach the widest range so far.
        """
        values = np.asarray(y).ravel().tolist()
        weights = sample_weights(sample_weight, len(values))
        if "trained_" in vars(self):
            self.learn_more(X, values, weights)
        else:
            self.learn(X, values, "regression", weights)
        return self

    @also_named(texts="X")
    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number of each text."""
        check_is_fitted(self, "trained_")
        return self.trained_.answers(strings(X))[:, 0]


def checked_labels(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The labels as one row, and the distinct ones, sorted."""
    values = np.asarray(y).ravel()
    # NumPy makes the text 'nan' of a NaN in a list of strings
    for row, value in enumerate(y if isinstance(y, (list, tuple)) and len(y) == len(values) else values.tolist()):
        if is_missing(value):
            raise InputError(f"label {row} is missing ({value!r}); every text needs one")
    try:
        return values, np.unique(values)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise InputError(f"expected labels of one type, got {', '.join(kinds)}") from None


def as_strings(values: NDArray[Any]) -> list[str]:
    return [str(value) for value in values.tolist()]


def of_same_type(values: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of a later call in the type of the first one, in which 1 and 1.0 are the same label."""
    if not len(values):
        return values
    before, now = type(classes.tolist()[0]), type(values.tolist()[0])
    if before is now:
        return values
    if {before, now} <= {int, float} and np.array_equal(values, values.astype(before)):
        return values.astype(before)
    raise InputError(f"y: expected labels of type {before.__name__}, as in earlier calls, got {now.__name__}")


def load(folder: str | Path, verify: bool = True) -> TextClassifier | TextRegressor:
    """Load a run folder, or a run on the hub (`hf://USER/NAME@REVISION`), as a fitted estimator. Nothing in it is executed.

    Parameters
    ----------
    folder : path
        The folder, or the address `hf://USER/NAME@REVISION`.
    verify : bool
        Compare its files with their SHA-256 in manifest.json. False loads a run whose files were edited on purpose.
    """
    trained = folders.load(folder, verify=verify)
    kind = TextClassifier if isinstance(trained.task, Named) else TextRegressor
    names = set(kind().get_params(deep=False))
    values = {
        item.name: getattr(section, item.name)
        for section_name, item, _ in options()
        for section in (getattr(trained.config, section_name),)
        if item.name in names and item.name != "engine"  # chosen anew when other options are set
    }
    model = kind(**values)
    model.trained_ = trained
    if isinstance(model, TextClassifier) and isinstance(trained.task, Named):
        model.classes_ = np.unique(restore_labels(trained.task.classes, trained.metrics.get("label_type")))
    return model
