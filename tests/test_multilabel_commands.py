"""Every command with a run that predicts several labels per text."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import MultiLabelBinarizer

import regard.runtime
from command import Regard, write_csv
from regard import TextClassifier, load
from regard.cli import main
from several_labels import several, write_jsonl

LABELS = ["food", "room", "staff"]
TEXT = "a helpful porter, the soup was cold, it rained"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    write_jsonl(folder / "train.jsonl", several(200))
    write_jsonl(folder / "test.jsonl", several(60, seed=1))
    return folder


@pytest.fixture(scope="module")
def labelled_run(files: Path) -> Path:
    out = files / "run"
    assert main(["train", str(files / "train.jsonl"), "--test", str(files / "test.jsonl"), "--out", str(out)]) == 0
    return out


def test_the_run_stores_its_thresholds(labelled_run: Path) -> None:
    task = json.loads((labelled_run / "task.json").read_text())
    assert task["kind"] == "multilabel"
    assert task["classes"] == LABELS
    assert len(task["thresholds"]) == 3
    assert 'task = "multilabel"' in (labelled_run / "config.toml").read_text()
    assert "3 labels, of which a text may have several: food, room, staff" in (labelled_run / "README.md").read_text()


@pytest.mark.parametrize("form", ["columns", "separator"])
def test_tables_train_the_same_model_as_lists(form: str, files: Path, regard: Regard, labelled_run: Path) -> None:
    examples = several(200)
    if form == "columns":
        rows = [(one.text, *(int(name in one.label) for name in LABELS)) for one in examples]  # type: ignore[operator]
        table = write_csv(files / "columns.csv", rows, ("text", *LABELS))
        options = ("--task", "multilabel")
    else:
        table = write_csv(files / "joined.csv", [(one.text, "/".join(one.label)) for one in examples])  # type: ignore[arg-type]
        options = ("--label-separator", "/")
    done = regard("train", table, *options, "--out", files / form)
    assert done.code == 0
    assert "task: multilabel" in done.err
    texts = [one.text for one in several(20, seed=2)]
    np.testing.assert_array_equal(load(files / form).predict_proba(texts), load(labelled_run).predict_proba(texts))
    scores = json.loads(regard("evaluate", files / form, table, "--json").out)
    assert scores["n"] == 200


def test_evaluate_has_the_measures_under_their_names(labelled_run: Path, files: Path, regard: Regard) -> None:
    scores = json.loads(regard("evaluate", labelled_run, files / "test.jsonl", "--json").out)
    assert scores["task"] == "multilabel"
    assert {"micro_f1", "macro_f1", "subset_accuracy", "map", "log_loss", "per_class"} <= scores.keys()
    assert scores["micro_f1"] > 0.9
    assert scores["per_class"]["food"].keys() == {"precision", "recall", "f", "n", "threshold"}
    shown = regard("evaluate", labelled_run, files / "test.jsonl").out
    assert "mean average precision" in shown
    assert shown.count("threshold") == 1


def test_predictions_in_every_format(labelled_run: Path, files: Path, regard: Regard) -> None:
    lines = [json.loads(line) for line in regard("predict", labelled_run, files / "test.jsonl").out.splitlines()]
    true = [list(one.label) for one in several(60, seed=1)]  # type: ignore[arg-type]
    assert sum(line["prediction"] == labels for line, labels in zip(lines, true, strict=True)) > 50
    assert lines[0]["probabilities"].keys() == set(LABELS)
    assert "confidence" not in lines[0]
    table = [*csv.DictReader(io.StringIO(regard("predict", labelled_run, files / "test.jsonl", "--format", "csv").out))]
    assert [row["prediction"] for row in table] == [";".join(line["prediction"]) for line in lines]
    assert list(table[0]) == ["row", "text", "prediction", "p(food)", "p(room)", "p(staff)", "error"]
    top = json.loads(regard("predict", labelled_run, TEXT, "--top", "2", "--digits", "2").out)
    assert top["prediction"] == ["food", "staff"]
    assert {*top["probabilities"]} == {"food", "staff"}
    shown = regard("predict", labelled_run, files / "test.jsonl", "--format", "fasttext").out.splitlines()
    words = [[word for word in line.split() if word.startswith("__label__")] for line in shown]
    assert [sorted(one) for one in words] == [[f"__label__{name}" for name in line["prediction"]] for line in lines]
    assert regard("predict", labelled_run, TEXT, "--format", "terminal").out.count("food, staff") == 1
    for kind in ("parquet", "xlsx"):
        assert regard("predict", labelled_run, files / "test.jsonl", "--out", files / f"p.{kind}").code == 0


def test_an_explanation_is_about_one_label(labelled_run: Path, regard: Regard) -> None:
    one = json.loads(regard("explain", labelled_run, TEXT, "--format", "jsonl", "--target", "food").out)
    assert one["prediction"] == ["food", "staff"]
    assert one["target"] == "food"
    by_word = {token["text"]: token["contribution"] for token in one["tokens"]}
    assert by_word["soup"] > 0.2
    assert by_word["soup"] > by_word["porter"]
    default = json.loads(regard("explain", labelled_run, TEXT, "--format", "jsonl").out)
    assert default["target"] == max(default["probabilities"], key=default["probabilities"].get)
    bad = regard("explain", labelled_run, TEXT, "--target", "fod")
    assert bad.code == 2
    assert bad.error == "target: expected one of 'food', 'room', 'staff', got 'fod'; did you mean 'food'?"


def test_the_report_shows_labels(labelled_run: Path, files: Path, regard: Regard) -> None:
    assert regard("report", labelled_run, "--data", files / "test.jsonl", "--out", files / "report.html").code == 0
    page = (files / "report.html").read_text()
    assert "all labels are right" in page
    assert "threshold" in page


def test_audit_and_analysis_take_one_label(labelled_run: Path, files: Path, regard: Regard) -> None:
    for command in ("audit", "analyse"):
        data = ("--data", files / "test.jsonl", "--json")
        refused = regard(command, labelled_run, *data)
        assert refused.code == 2
        assert refused.error.endswith("--target LABEL")
        done = regard(command, labelled_run, *data, "--target", "room")
        assert done.code == 0
        assert json.loads(done.out)["classes"] == ["not room", "room"]
        assert "expected one of" in regard(command, labelled_run, *data, "--target", "x").error


def test_what_cannot_be_done_is_refused_in_one_sentence(labelled_run: Path, files: Path, regard: Regard) -> None:
    train, test = files / "train.jsonl", files / "test.jsonl"
    assert "expected one label per text, got several" in regard("doubts", train, "--label", "label").error
    other = files / "other"
    assert regard("train", train, "--epochs", "1", "--out", other).code == 0
    assert (
        "several labels, which cannot be compared yet" in regard("compare", labelled_run, other, "--data", test).error
    )
    assert "cannot be continued yet" in regard("train", train, "--from", labelled_run, "--out", files / "no").error
    refused = regard("train", train, "--task", "multiclass", "--out", files / "no")
    assert "row 1: expected one label per text for task = multiclass" in refused.error
    assert "label_separator" in regard("train", train, "--task", "binary", "--label-separator", ";").error
    assert "token types; got several labels" in regard("train", train, "--record", "epoch", "--out", files / "no").error
    assert not (files / "no").exists() or not (files / "no" / "task.json").exists()


def test_cross_validation_measures_labels(files: Path, regard: Regard) -> None:
    done = regard("train", files / "train.jsonl", "--cv", "2", "--members", "1", "--out", files / "cv")
    assert done.code == 0
    mean = json.loads((files / "cv" / "metrics.json").read_text())["cv"]["mean"]
    assert mean.keys() == {"micro_f1", "macro_f1", "subset_accuracy", "map", "log_loss"}


def test_exports_and_the_runtime_agree(labelled_run: Path, files: Path, regard: Regard) -> None:
    texts = [one.text for one in several(30, seed=2)]
    estimator = load(labelled_run)
    assert regard("export", labelled_run, "--format", "onnx", "--out", files / "onnx").code == 0
    for folder in (labelled_run, files / "onnx"):
        model = regard_runtime(folder)
        np.testing.assert_allclose(model.predict_proba(texts), estimator.predict_proba(texts), atol=1e-6)
        np.testing.assert_array_equal(model.predict(texts), estimator.predict(texts))
        one, other = model.explain(TEXT, target="room"), estimator.explain(TEXT, target="room")
        pairs = zip(one.tokens, other.tokens, strict=True)
        assert all(abs((a.contribution or 0) - (b.contribution or 0)) < 1e-5 for a, b in pairs)
        assert model.explain(TEXT).prediction.value == ("food", "staff")


def regard_runtime(folder: Path) -> regard.runtime.RuntimeModel:
    return regard.runtime.load(folder)


def test_the_estimator_takes_matrices_and_lists() -> None:
    examples = several(150)
    texts, lists = [one.text for one in examples], [[*one.label] for one in examples]  # type: ignore[misc]
    matrix = MultiLabelBinarizer().fit_transform(lists)
    by_list = TextClassifier(members=1).fit(texts, lists)
    by_matrix = TextClassifier(members=1).fit(texts, matrix)
    assert by_list.classes_.tolist() == LABELS
    assert by_matrix.classes_.tolist() == [0, 1, 2]
    said = by_list.predict(texts)
    assert isinstance(said, list)
    np.testing.assert_array_equal(MultiLabelBinarizer(classes=LABELS).fit_transform(said), by_matrix.predict(texts))
    np.testing.assert_array_equal(by_list.predict_proba(texts), by_matrix.predict_proba(texts))
    assert by_matrix.explain(TEXT).prediction.value == (0, 2)
    np.testing.assert_array_equal(by_matrix.decision_function(texts) > 0, by_matrix.predict(texts) == 1)
    right = np.mean([{*one} == {*other} for one, other in zip(by_list.predict(texts), lists, strict=True)])
    assert by_list.score(texts, lists) == by_list.score(texts, matrix) == by_matrix.score(texts, matrix) == right
    weighted = TextClassifier(members=1).fit(texts, matrix, sample_weight=np.full(len(texts), 3.0))
    np.testing.assert_array_equal(weighted.predict_proba(texts), by_matrix.predict_proba(texts))
    assert by_list.explain(TEXT, target="room").target == "room"


def test_a_column_without_any_text_is_never_predicted(tmp_path: Path) -> None:
    examples = several(100)
    matrix = np.array([[int(name in one.label) for name in ("food", "pool", "room")] for one in examples])  # type: ignore[operator]
    model = TextClassifier(members=1).fit([one.text for one in examples], matrix)
    assert model.predict_proba([TEXT]).shape == (1, 3)
    assert model.predict([TEXT]).tolist() == [[1, 0, 0]]


def test_bad_label_matrices_are_refused() -> None:
    for y, message in ((np.array([[0, 2], [1, 0]]), "matrix of 0 and 1"), ([["a", None], ["b"]], "labels of text 0")):
        with pytest.raises(ValueError, match=message):
            TextClassifier().fit(["one", "two"], y)
    with pytest.raises(ValueError, match="partial_fit does not take"):
        TextClassifier().partial_fit(["one", "two"], [["a"], []])
