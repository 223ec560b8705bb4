"""`regard report`: facts of runs of each kind, and what it reports if something is missing."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from command import TINY, Regard, write_csv
from regard.cli import main
from regard.data.readers import read
from regard.data.reviews import reviews
from regard.explain.shown_texts import MISTAKES, MOST, shown_texts
from regard.models.folder import load
from regard.models.tasks import Binary
from regard.records import Example
from regard.run_facts import gather
from regard.training.bootstrap import measure_with_intervals
from regard.training.calibration import of_classes, of_numbers

LIKED = {"1": "bad", "2": "bad", "4": "good", "5": "good"}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reviews that are good or bad."""
    rows = [(one.text, LIKED[str(one.label)]) for one in reviews(120) if str(one.label) in LIKED]
    return write_csv(tmp_path_factory.mktemp("two") / "two.csv", rows)


@pytest.fixture(scope="module")
def flat(two: Path) -> Path:
    """A flat run of two classes that names no test texts."""
    assert main(["train", str(two), "--epochs", "3", "--out", str(two.parent / "flat")]) == 0
    return two.parent / "flat"


def test_a_flat_run_gets_every_section_and_its_files(regard: Regard, flat: Path, two: Path, tmp_path: Path) -> None:
    assert regard("audit", flat, "--data", two, "--explainers", "gradient", "--limit", "40").code == 0
    result = regard("report", flat, "--data", two, "--out", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert result.code == 0, result.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for anchor in ("measures", "calibration", "training", "words", "trust", "texts"):
        assert f'<h2 id="{anchor}">' in page
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {
        "words.svg",
        "words.csv",
        "words.pdf",
        "faithfulness.svg",
        "permutation.pdf",
        "table_words.tex",
        "table_measures.tex",
    } <= names
    assert json.loads((flat / "audit" / "audit.json").read_text())["verdict"]["title"] in page


def test_training_texts_are_reported(flat: Path, two: Path) -> None:
    examples = [Example("A fine room.", "good", 1)]
    assert "was trained on these texts" in gather(load(flat), flat, examples, str(two)).caution
    assert gather(load(flat), flat, examples, "other.csv").caution == ""
    assert "epoch was selected on these texts" in gather(load(flat), flat, []).caution


def test_training_texts_are_recognised_under_another_name(
    flat: Path, two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = [*read(two).examples[:2], Example("A text that is nowhere else.", "good", 3)]
    examples[0] = replace(examples[0], text=examples[0].text.replace(" ", " \n "))
    monkeypatch.chdir(two.parent)
    for name in ("two.csv", "./two.csv", f"../{two.parent.name}/two.csv"):
        assert gather(load(flat), flat, examples, name).caution.startswith("The run was trained on these texts:")
    result = gather(load(flat), flat, examples, "copied.csv").caution
    assert result.startswith("2 of these 3 texts are word for word among the training texts of the run:")
    assert gather(load(flat), flat, examples[2:], "other.csv").caution == ""
    run = load(flat)
    run.config = run.config.override({"train": str(tmp_path / "moved.csv")})
    assert gather(run, flat, examples, "copied.csv").caution == ""


def test_dev_texts_are_recognised_under_another_name(flat: Path, two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two.parent)
    run = load(flat)
    run.config = run.config.override({"train": None, "dev": str(two)})
    assert "epoch was selected on these texts" in gather(run, flat, read(two).examples[:2], "./two.csv").caution


def test_an_audit_of_another_model_is_not_shown(regard: Regard, flat: Path, two: Path, tmp_path: Path) -> None:
    if not (flat / "audit" / "audit.json").is_file():
        assert regard("audit", flat, "--data", two, "--explainers", "gradient", "--limit", "40").code == 0
    path = flat / "audit" / "audit.json"
    kept = path.read_text(encoding="utf-8")
    other = json.loads(kept)
    other["details"][0]["probabilities"] = [0.123, 0.877]
    try:
        path.write_text(json.dumps(other), encoding="utf-8")
        facts = gather(load(flat), flat, [])
        assert facts.audit is None
        assert "another model" in facts.no_audit
        for damaged in ("{}", "[" * 100_000, json.dumps(other).replace("0.123", "1" + "0" * 400)):
            path.write_text(damaged, encoding="utf-8")
            assert "cannot be read as an audit" in gather(load(flat), flat, []).no_audit
    finally:
        path.write_text(kept, encoding="utf-8")


def test_a_hierarchical_run_has_sentences_and_norms_but_no_words(run: Path, table: Path) -> None:
    examples = [Example(one.text, one.label, row) for row, one in enumerate(reviews(60), 1)]
    facts = gather(load(run), run, examples, "stars.csv")
    assert facts.analysis is None
    assert any("no words by class" in note for note in facts.notes)
    assert facts.texts[0].views[0].explanation.sentences
    for text in facts.texts:
        (view,) = text.views
        assert view.explanation.method == "attention_norm"
        assert view.explanation.contribution_method == "gradient_times_input"
        assert view.explanation.sentences[0].contribution is not None
    assert facts.history[0].norms
    assert facts.measures is not None
    macro = facts.measures.get("macro_f")
    assert macro is not None
    assert macro.interval is not None
    assert isinstance(macro.value, float)
    assert macro.interval[0] <= macro.value
    assert "regard audit" in facts.no_audit
    json.dumps(facts.to_json(), allow_nan=False)


def test_a_regression_report_starts_with_the_largest_errors(regard: Regard, rated: Path, table: Path) -> None:
    result = regard("report", rated, "--data", table)
    assert result.code == 0, result.err
    page = (rated / "report.html").read_text(encoding="utf-8")
    assert "RMSE" in page
    assert "mean of the actual values" in page
    assert 'id="words"' not in page
    examples = [Example(one.text, one.label, row) for row, one in enumerate(reviews(60), 1)]
    texts = gather(load(rated), rated, examples).texts
    off = [abs(float(text.views[0].explanation.prediction.value) - float(text.label or 0)) for text in texts]
    assert off == sorted(off, reverse=True)


def test_texts_without_labels_are_read_and_not_measured(regard: Regard, flat: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("A fine room.\nNever again.\n", encoding="utf-8")
    result = regard("report", flat, "--data", tmp_path / "plain.txt", "--out", tmp_path / "page.html")
    assert result.code == 0, result.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="measures"' not in page
    assert 'id="words"' not in page
    assert 'id="correctness"' not in page
    assert '<h2 id="texts">' in page
    assert "has no labels" in page


def test_without_texts_the_page_has_the_measures_from_training(regard: Regard, flat: Path) -> None:
    result = regard("report", flat)
    assert result.code == 0
    assert "pass texts with --data" in result.err
    page = (flat / "report.html").read_text(encoding="utf-8")
    assert "the dev texts of training" in page
    assert '<h2 id="texts">' not in page


def test_a_run_without_attention_is_shown_by_gradients(regard: Regard, table: Path, tmp_path: Path) -> None:
    options = ("--encoder", "embedding", "--pooling", "average", "--out", tmp_path / "mean")
    assert regard("train", table, *TINY, *options).code == 0
    facts = gather(load(tmp_path / "mean"), tmp_path / "mean", [Example("A fine room.", "4", 1)])
    assert [view.explanation.contribution_method for view in facts.texts[0].views] == ["two_point_gradients"]
    assert facts.audit is None
    assert "no attention to audit" in facts.no_audit


def test_texts_are_explained_by_a_method_for_a_target(flat: Path) -> None:
    examples = [Example("A fine room.", None, 1)]
    facts = gather(load(flat), flat, examples, method="integrated_gradients", target="bad")
    explanation = facts.texts[0].views[0].explanation
    assert (explanation.contribution_method, explanation.target) == ("integrated_gradients", "bad")


def test_bad_input_gives_one_sentence(regard: Regard, flat: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    assert "empty.csv" in regard("report", flat, "--data", tmp_path / "empty.csv").error
    other = write_csv(tmp_path / "other.csv", [("a fine room", "sideways")])
    assert "'sideways' was not among the training labels" in regard("report", flat, "--data", other).error
    assert "got the folder" in regard("report", flat, "--out", tmp_path).error
    two = write_csv(tmp_path / "two.csv", [("a fine room", "good"), ("a bad room", "bad")])
    assert "method: expected one of" in regard("report", flat, "--data", two, "--method", "nope").error
    assert (
        "target: expected one of 'bad', 'good', got 'nope'"
        in regard("report", flat, "--data", two, "--target", "nope").error
    )
    assert "nowhere" in regard("report", tmp_path / "nowhere").error


def test_odd_texts_are_shown_unchanged(flat: Path) -> None:
    from regard.report.pages.run import run_page, run_tables
    from regard.report.pages.run_figures import run_figures

    odd = ["zzz qqq", "x", "word " * 3000, "<script>alert(1)</script>", "فيلم رائع", "很好"]
    facts = gather(load(flat), flat, [Example(text, "good", row) for row, text in enumerate(odd, 1)])
    page = run_page(facts, run_figures(facts), run_tables(facts))
    assert "&lt;" in page
    assert "<script>alert" not in page


def test_mistakes_come_first_the_most_confident_on_top(flat: Path) -> None:
    trained = load(flat)
    assert isinstance(trained.task, Binary)
    texts = [one.text for one in reviews(120)] * 3
    answers = trained.answers(texts)
    result = [trained.task.classes[k] for k in answers.argmax(1)]
    wrong = {"bad": "good", "good": "bad"}
    examples = [Example(t, wrong[s] if k % 2 else s, k) for k, (t, s) in enumerate(zip(texts, result, strict=True))]
    shown = shown_texts(trained, examples, answers)
    mistakes = [text.mistake for text in shown]
    assert len(shown) == MOST
    assert mistakes == [True] * MISTAKES + [False] * (MOST - MISTAKES)
    sure = [max(text.views[0].explanation.prediction.probabilities.values()) for text in shown]
    assert sure[:MISTAKES] == sorted(sure[:MISTAKES], reverse=True)
    assert sure[MISTAKES:] == sorted(sure[MISTAKES:])


def test_calibration_by_hand() -> None:
    sure = np.array([0.55] * 10 + [0.95] * 10)
    labels = np.array([1.0] * 5 + [0.0] * 5 + [1.0] * 10)  # right: half of the unsure ones, all of the sure ones
    calibration = of_classes(np.stack([1 - sure, sure], 1), labels)
    assert calibration is not None
    assert [(one.n, one.actual) for one in calibration.bins] == [(10, 0.5), (10, 1.0)]
    assert calibration.error == pytest.approx(0.05)
    assert calibration.excess.mean == pytest.approx(0.0)
    assert all(one.low <= one.actual <= one.high for one in calibration.bins)
    assert of_classes(np.ones((3, 2)) / 2, np.zeros(3)) is None
    numbers = of_numbers(np.arange(50.0), np.arange(50.0) + 1)
    assert numbers is not None
    assert astuple(numbers.excess) == pytest.approx((-1, -1, -1))


def test_intervals_contain_the_measure_and_are_reproducible() -> None:
    rng = np.random.default_rng(3)
    positive = rng.random(300)
    labels = (rng.random(300) < positive).astype(float)
    answers = np.stack([1 - positive, positive], 1)
    one, other = (measure_with_intervals(Binary(("no", "yes")), answers, labels) for _ in range(2))
    assert one == other
    for name in ("macro_f", "log_loss"):
        low, high = one[f"{name}_interval"]
        assert low < one[name] < high
    assert "macro_f_interval" not in measure_with_intervals(
        Binary(("no", "yes")), np.eye(2)[[0, 1] * 20], np.array([0.0, 1.0] * 20)
    )


def test_a_rare_class_without_a_mistake_has_no_interval() -> None:
    labels = [0] * 40 + [1] * 3
    metrics = measure_with_intervals(Binary(("no", "yes")), np.eye(2)[labels], np.array(labels, dtype=float))
    assert metrics["per_class"]["yes"]["f"] == 1
    assert "f_interval" not in metrics["per_class"]["yes"], "resamples without its texts do not count"
