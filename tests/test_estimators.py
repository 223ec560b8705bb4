"""The scikit-learn estimators: compatible with its tools, accept common containers, and survive saving and loading."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import regard
from regard import InputError, TextClassifier, TextRegressor
from regard.explain.attribute import attribute
from regard.explain.explain import explain

SMALL: dict[str, Any] = {
    "hidden": 8,
    "embedding": 8,
    "query": 8,
    "epochs": 2,
    "lr": 0.05,
    "min_count": 1,
    "device": "cpu",
}
TEXTS = ["a good film", "a bad film", "good food", "bad food", "good book", "bad book"] * 4
LABELS = ["pos", "neg", "pos", "neg", "pos", "neg"] * 4
STARS = [5.0, 1.0, 4.0, 2.0, 4.5, 1.5] * 4


def classifier(**options: Any) -> TextClassifier:
    return TextClassifier(**{**SMALL, **options})


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return classifier(epochs=6).fit(TEXTS, LABELS)


def test_it_learns(fitted: TextClassifier) -> None:
    assert fitted.classes_.tolist() == ["neg", "pos"]
    assert fitted.predict(["good good", "bad bad"]).tolist() == ["pos", "neg"]
    assert fitted.score(TEXTS, LABELS) == 1


def test_numpy_numbers_are_accepted_and_saved(tmp_path: Path) -> None:
    """As a grid search passes them."""
    given = {"hidden": np.int64(8), "dropout": np.float64(0.25), "lr": np.float32(0.5), "bf16": np.bool_(True)}
    model = classifier(encoder="lstm", epochs=np.arange(1, 2)[0], **given).fit(TEXTS, LABELS)
    model.save(tmp_path / "run")
    training = regard.load(tmp_path / "run").trained_.config.training
    assert (training.dropout, training.lr, training.bf16, training.epochs) == (0.25, 0.5, True, 1)
    with pytest.raises(InputError, match=r"hidden: expected a whole number, got 3\.5"):
        TextClassifier(hidden=np.float64(3.5)).fit(TEXTS, LABELS)


CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "column vector": lambda values: np.array(values).reshape(-1, 1),
    "pandas": pd.Series,
    "pandas with an odd index": lambda values: pd.Series(values, index=range(100, 100 + len(values))),
    "pandas strings": lambda values: pd.Series(values, dtype="string" if isinstance(values[0], str) else None),
    "polars": pl.Series,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_texts_and_labels_come_in_any_container(fitted: TextClassifier, container: str) -> None:
    make = CONTAINERS[container]
    model = classifier(epochs=6).fit(make(TEXTS), make(LABELS))
    np.testing.assert_array_equal(model.predict_proba(make(TEXTS)), fitted.predict_proba(TEXTS))
    assert model.predict(make(TEXTS[:2])).tolist() == ["pos", "neg"]
    rating = TextRegressor(**SMALL).fit(make(TEXTS), make(STARS))
    assert rating.predict(make(TEXTS)).shape == (24,)


LABELLINGS: dict[str, list[Any]] = {
    "strings": LABELS,
    "whole numbers": [3 if label == "pos" else -1 for label in LABELS],
    "fractions": [0.5 if label == "pos" else 1.5 for label in LABELS],
    "truth values": [label == "pos" for label in LABELS],
    "numbers out of the alphabet's order": [10 if label == "pos" else 9 for label in LABELS],
    "strings out of the numbers' order": ["10" if label == "pos" else "9" for label in LABELS],
    "three classes": ["a", "b", "c"] * 8,
    "dates": [np.datetime64("2020-01-01") if label == "pos" else np.datetime64("2021-01-01") for label in LABELS],
}


def assert_parameters_come_back(again: TextClassifier | TextRegressor, model: TextClassifier | TextRegressor) -> None:
    """Those that were set; open ones come back as the chosen values, except for the engine."""
    chosen = {**vars(model.trained_.config.data), **vars(model.trained_.config.model)}
    chosen |= {**vars(model.trained_.config.training), "engine": "auto"}
    given = {name: value for name, value in model.get_params().items() if value is not None and value != "auto"}
    assert again.get_params() == {**{name: chosen.get(name) for name in model.get_params()}, **given}


@pytest.mark.parametrize("name", LABELLINGS)
def test_labels_keep_type_and_order_through_a_folder(tmp_path: Path, name: str) -> None:
    labels = LABELLINGS[name]
    model = classifier().fit(TEXTS, labels)
    assert model.classes_.tolist() == sorted(set(np.array(labels).tolist()))
    probabilities = model.predict_proba(TEXTS)
    assert probabilities.shape == (24, len(model.classes_))
    np.testing.assert_allclose(probabilities.sum(1), 1)
    np.testing.assert_array_equal(model.predict(TEXTS), model.classes_[probabilities.argmax(1)])
    model.save(tmp_path / "run")
    again = regard.load(tmp_path / "run")
    assert isinstance(again, TextClassifier)
    assert_parameters_come_back(again, model)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), probabilities)
    if name != "dates":  # which a folder keeps as strings
        assert again.classes_.dtype == model.classes_.dtype
        np.testing.assert_array_equal(again.predict(TEXTS), model.predict(TEXTS))


def test_the_order_of_classes_does_not_depend_on_rows() -> None:
    """Numbers first; nan is not a number here."""
    for names in itertools.permutations(("nan", "1", "b")):
        assert classifier().fit(TEXTS, list(names) * 8).trained_.task.classes == ("1", "b", "nan")


def test_a_column_is_the_probability_of_its_class() -> None:
    """The class with the higher probability for a text seen only with it, at any index."""
    for positive, negative in ((1, 0), (0, 1), ("a", "b"), ("b", "a")):
        labels = [positive if label == "pos" else negative for label in LABELS]
        model = classifier(epochs=6).fit(TEXTS, labels)
        row = model.predict_proba(["good good"])[0]
        assert row[model.classes_.tolist().index(positive)] > 0.5


def test_a_regressor_comes_back_from_a_folder(tmp_path: Path) -> None:
    model = TextRegressor(**{**SMALL, "levels": 2, "pooling": "apln", "encoder": "cnn", "windows": (1, 2)})
    model.fit(TEXTS, STARS).save(tmp_path / "run")
    again = regard.load(str(tmp_path / "run"))
    assert isinstance(again, TextRegressor)
    np.testing.assert_array_equal(again.predict(TEXTS), model.predict(TEXTS))
    assert_parameters_come_back(again, model)


def test_runs_of_the_command_line_and_saved_models_are_interchangeable(
    run: Path, fitted: TextClassifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.cli import main

    assert regard.load(run).predict(["good film"])[0] in {"1", "2", "3", "4", "5"}
    fitted.save(tmp_path / "run")
    assert main(["predict", str(tmp_path / "run"), "good good"]) == 0
    assert '"prediction": "pos"' in capsys.readouterr().out


def test_saving_leaves_other_folders_alone(fitted: TextClassifier, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(InputError, match="is not a run of regard"):
        fitted.save(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine"
    fitted.save(tmp_path / "run")
    fitted.save(tmp_path / "run")


# In the tools of scikit-learn


def test_clone_and_parameters() -> None:
    model = classifier(pooling="apln", windows=(2, 3), verbose=True)
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.set_params(hidden=3).hidden == 3
    assert repr(TextClassifier(hidden=3)) == "TextClassifier(hidden=3)"
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(hiden=3)


def test_pipeline_grid_and_cross_validation() -> None:
    pipe = Pipeline([("calm", FunctionTransformer(lower)), ("model", classifier())])
    grid = GridSearchCV(pipe, {"model__pooling": ["average", "max"]}, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert grid.best_params_["model__pooling"] in ("average", "max")
    assert grid.predict(TEXTS[:2]).shape == (2,)
    assert grid.best_estimator_.predict_proba(TEXTS).shape == (24, 2)
    assert cross_val_score(classifier(), pd.Series(TEXTS), pd.Series(LABELS), cv=3, error_score="raise").shape == (3,)
    scores = cross_val_score(TextRegressor(**SMALL), TEXTS, STARS, cv=2, scoring="r2", error_score="raise")
    assert scores.shape == (2,)


def lower(texts: list[str]) -> list[str]:
    return [text.lower() for text in texts]


def test_the_same_seed_gives_the_same_predictions() -> None:
    one, two, three = (classifier(seed=seed).fit(TEXTS, LABELS).predict_proba(TEXTS) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != three).any()


def test_predicting_before_fit_is_an_error() -> None:
    for ask in ("predict", "predict_proba", "explain_all"):
        with pytest.raises(NotFittedError):
            getattr(classifier(), ask)(["good"])
    with pytest.raises(NotFittedError):
        TextRegressor().predict(["good"])


def test_no_texts_give_no_predictions(fitted: TextClassifier) -> None:
    assert fitted.predict_proba([]).shape == (0, 2)
    assert fitted.predict([]).shape == (0,)
    assert fitted.explain_all([]) == []


def test_texts_without_a_word_are_answered(fitted: TextClassifier) -> None:
    assert np.isfinite(fitted.predict_proba(["", "…", " ", "good"])).all()
    assert fitted.explain("").tokens == ()
    for levels in (2, 3):
        model = classifier(levels=levels, encoder="bilstm", pooling="apln").fit(
            [*TEXTS, "", " "], [*LABELS, "pos", "neg"]
        )
        assert np.isfinite(model.predict_proba(["", "good"])).all()


def test_a_huge_word_is_one_word(fitted: TextClassifier) -> None:
    assert np.isfinite(fitted.predict_proba(["a" * 2**20])).all()


# Explanations


def test_explanations_draw_themselves(fitted: TextClassifier) -> None:
    shown = fitted.explain("a <b>good</b> film & more\x1b")
    assert shown.prediction.value == "pos"
    assert sum(token.weight for token in shown.tokens) == pytest.approx(1)
    drawn = shown._repr_html_()
    assert "good" in drawn
    assert "<b>good" not in drawn
    assert "\x1b" not in drawn
    assert [item.text for item in fitted.explain_all(["one", "two"])] == ["one", "two"]


def test_explanations_by_a_method_for_a_target(fitted: TextClassifier) -> None:
    shown = fitted.explain("a good film", method="gradient_times_input", target="neg")
    assert (shown.contribution_method, shown.target) == ("gradient_times_input", "neg")
    (one,) = fitted.explain_all(["a good film"], target="pos")
    assert one.target == "pos"
    with pytest.raises(InputError, match="method: expected one of attention"):
        fitted.explain("good", method="nope")
    with pytest.raises(InputError, match=r"target: expected one of .*, got 'nope'"):
        fitted.explain("good", target="nope")


def test_a_target_is_a_label_whatever_its_type() -> None:
    model = TextClassifier(epochs=1).fit(TEXTS, [7 if label == "pos" else 3 for label in LABELS])
    assert model.explain("a good film", target=7).target == "7"


def test_several_explanations_draw_themselves(fitted: TextClassifier) -> None:
    shown = fitted.explain_all(["a good film", "a bad film"])
    assert isinstance(shown, list)
    assert shown == [fitted.explain("a good film"), fitted.explain("a bad film")]
    drawn = shown._repr_html_()
    assert all(one._repr_html_() in drawn for one in shown)
    assert shown[:1]._repr_html_() == shown[0]._repr_html_()
    assert fitted.explain_all([])._repr_html_() == ""
    attributed = attribute(fitted.trained_, ["a good film"], "gradient")[0].explanation()
    assert "good" in attributed._repr_html_()


@pytest.mark.parametrize("labels", [[0, 1] * 12, [False, True] * 12, [0.5, 2.0] * 12, ["a", "b"] * 12])
def test_an_explanation_has_the_label_that_predict_returns(labels: list[Any], tmp_path: Path) -> None:
    model = classifier().fit(TEXTS, labels)
    shown, expected = model.explain("a good film"), model.predict(["a good film"]).tolist()[0]
    assert shown.prediction.value == expected
    assert type(shown.prediction.value) is type(expected)
    assert list(shown.prediction.probabilities) == [str(label) for label in model.classes_.tolist()]
    assert shown.as_dict()["prediction"] == str(expected), "JSON stays as it was"
    assert shown.as_dict() == next(iter(explain(model.trained_, ["a good film"]))).as_dict()
    assert f">{expected}<" in shown._repr_html_()
    model.save(tmp_path / "run")
    assert regard.load(tmp_path / "run").explain("a good film") == shown


def test_the_argument_names_of_scikit_learn() -> None:
    model = classifier().fit(X=TEXTS, y=LABELS)
    assert model.predict(X=TEXTS).tolist() == model.predict(TEXTS).tolist()
    assert model.predict_proba(X=TEXTS).shape == (24, 2)
    numbers = TextRegressor(**SMALL).fit(X=TEXTS, y=STARS)
    assert len(numbers.predict(X=TEXTS)) == 24
    assert list(inspect.signature(TextClassifier.fit).parameters) == ["self", "X", "y", "sample_weight"]


def test_earlier_argument_names_still_work() -> None:
    old: Any = classifier()
    assert old.fit(texts=TEXTS, labels=LABELS).predict(texts=["good"]).shape == (1,)
    assert old.predict_proba(texts=["good"]).shape == (1, 2)
    numbers: Any = TextRegressor(**SMALL)
    assert numbers.fit(texts=TEXTS, values=STARS).predict(texts=["good"]).shape == (1,)


# What is refused


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ("good film", ["a"], "expected several texts, got one str"),
        (["good", None], ["a", "b"], "text 1: expected str, got None, a NoneType"),
        (["good", 3.0], ["a", "b"], "text 1: expected str, got 3.0, a float"),
        ([b"good", b"bad"], ["a", "b"], "text 0: expected str, got b'good', a bytes"),
        (
            pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}),
            ["a", "b"],
            "expected one column of texts, got a table of 2 columns",
        ),
        (["good", "bad"], ["a"], "expected one label per text, got 2 texts and 1 labels"),
        ([], [], "expected at least two texts, got 0"),
        (["good"], ["a"], "expected at least two texts, got 1"),
        (["good", "bad"], ["a", "a"], "expected at least two different labels, got only 'a'"),
        (["good", "bad"], ["a", None], "label 1 is missing .None."),
        (["good", "bad"], [1.0, float("nan")], "label 1 is missing .nan."),
        (["good", "bad"], ["a", float("nan")], "label 1 is missing .nan."),
        (["good", "bad", "poor"], ("a", "b", np.nan), "label 2 is missing .nan."),
        (["good", "bad"], pd.Series(["a", None], dtype="string"), "label 1 is missing"),
        (["good", "bad"], pl.Series(["a", None]), "label 1 is missing"),
        (["good", "bad"], np.array([1, "a"], dtype=object), "expected labels of one type, got int, str"),
    ],
)
def test_a_classifier_refuses(texts: Any, labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        classifier().fit(texts, labels)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, float("nan")], "row 1: the label 'nan' is not a number"),
        ([1.0, float("inf")], "'inf' is not a number"),
        ([1.0, None], "'None' is not a number"),
        (["1", "much"], "'much' is not a number"),
        ([10**400, 1], "is not a number"),
        ([2.0, 2.0], "expected at least two different numbers as labels, got only '2.0'"),
    ],
)
def test_a_regressor_refuses(values: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TextRegressor(**SMALL).fit(["good", "bad"], values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": 0}, "hidden: expected a number from 1 to 100000, got 0"),
        ({"hidden": "8"}, "hidden: expected a whole number, got '8'"),
        ({"pooling": "mean"}, "pooling = 'mean': expected one of .*, got 'mean'"),
        ({"norm": "none"}, "norm: expected one of scalar, sample, feature, got 'none'"),
        ({"windows": 3}, "windows: expected a list of whole numbers, got 3"),
        ({"device": "cuda:99"}, "PyTorch sees"),
        ({"lr": 1e9, "batch_size": 4}, "training diverged"),
    ],
)
def test_options_are_checked_when_fitting(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        classifier(**options).fit(TEXTS, LABELS)


def test_explain_takes_one_text(fitted: TextClassifier) -> None:
    with pytest.raises(InputError, match="explain: expected one text, got a list"):
        fitted.explain(["good"])  # type: ignore[arg-type]


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        regard.load(tmp_path / "none")
    with pytest.raises(InputError, match="not a finished run"):
        regard.load(tmp_path)


def test_importing_regard_loads_no_heavy_library() -> None:
    code = "import sys, regard; dir(regard); print({'torch', 'sklearn', 'numpy', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_public_names() -> None:
    assert all(getattr(regard, name) is not None for name in regard.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        regard.nothing  # noqa: B018


def test_partial_fit_continues_with_new_words_and_classes() -> None:
    old = [f"a {word} film {row}" for word in ("good", "bad") for row in range(20)]
    model = TextClassifier().partial_fit(old, [1] * 20 + [0] * 20)
    assert model.classes_.tolist() == [0, 1]
    new = [f"a {word} novel {row}" for word in ("superb", "poor") for row in range(10)]
    assert model.partial_fit(new, [1.0] * 10 + [0.0] * 10) is model  # 1.0 is 1
    assert model.classes_.tolist() == [0, 1]
    model.partial_fit(["a mediocre novel"] * 20 + new, [-1] * 20 + [1] * 10 + [0] * 10)
    assert model.classes_.tolist() == [-1, 0, 1]
    assert model.trained_.metrics["continued"]["new_classes"] == ["-1"]
    assert len(model.trained_.metrics["continued"]["ancestors"]) == 2
    assert model.predict_proba(["a good film"]).shape == (1, 3)
    assert model.predict(["a mediocre novel", "a superb novel", "a bad film"]).tolist() == [-1, 1, 0]


def test_the_first_partial_fit_takes_classes_that_do_not_occur() -> None:
    model = TextClassifier().partial_fit(["good", "very good", "fine"], ["b", "b", "b"], classes=["c", "a", "b"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(["good"]).shape == (1, 3)
    model.partial_fit(["bad"], ["a"])
    assert model.partial_fit(["odd"], ["a"], classes=["d"]).classes_.tolist() == ["a", "b", "c", "d"]


def test_partial_fit_refuses_other_types_and_other_models() -> None:
    model = TextClassifier(epochs=1).fit(["good", "bad"], ["yes", "no"])
    with pytest.raises(InputError, match="expected labels of type str, as in earlier calls, got int"):
        model.partial_fit(["fine"], [1])
    with pytest.raises(InputError, match="embedding: expected 16, with which the fitted model was trained, got 4"):
        model.set_params(embedding=4).partial_fit(["fine"], ["yes"])
    with pytest.raises(InputError, match="expected at least one text, got 0"):
        model.set_params(embedding=None).partial_fit([], [])


def test_kept_texts_are_learned_from_again_in_partial_fit(tmp_path: Path) -> None:
    old = [f"a {word} film {row}" for word in ("good", "bad") for row in range(20)]
    model = TextClassifier(keep_texts=10).fit(old, ["yes"] * 20 + ["no"] * 20)
    model.save(tmp_path / "run")
    again = regard.load(tmp_path / "run")
    for one in (model, again):
        one.partial_fit(["a superb novel", "a poor novel"], ["yes", "no"])
        assert one.trained_.metrics["continued"]["replayed"] == 10
    np.testing.assert_array_equal(model.predict_proba(old), again.predict_proba(old))


def test_partial_fit_of_a_regressor_widens_the_range() -> None:
    model = TextRegressor().partial_fit(["good", "bad", "good film", "bad film"], [4, 2, 4, 2])
    mean = model.trained_.task.as_dict()["mean"]
    model.partial_fit(["superb"], [9])
    assert model.trained_.task.as_dict()["mean"] == mean
    assert model.trained_.task.as_dict()["high"] == 9
