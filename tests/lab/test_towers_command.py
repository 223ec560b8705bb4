"""`regard towers` from a file of reviews to a rating, its explanation and a page."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from small_towers import RATINGS, TEST, TRAIN, write_reviews

from command import TINY, Regard, write_csv
from regard.cli import main
from regard_lab.towers import train_folder
from regard_lab.towers.folder import load
from regard_lab.towers.ratings import Rating, read_pairs
from regard_lab.towers.two_towers import Form

FAST = (*TINY, "--min-count", "1", "--max-reviews", "4")


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_reviews(tmp_path_factory.mktemp("reviews") / "reviews.jsonl", RATINGS[:150])


@pytest.fixture(scope="module")
def ratings_file(reviews: Path) -> Path:
    return write_reviews(reviews.with_name("test.jsonl"), TEST)


@pytest.fixture(scope="module")
def run(reviews: Path, ratings_file: Path) -> Path:
    folder = reviews.with_name("run")
    form = ("--ids", "3", "--head", "product", "--relu", "--optimizer", "amsgrad")
    words = ["towers", "train", reviews, "--test", ratings_file, "--out", folder, *FAST, *form]
    assert main([str(word) for word in words]) == 0
    return folder


def test_training_writes_what_predictions_need(run: Path, reviews: Path) -> None:
    trained = load(run)
    assert trained.model.form == Form(3, "product", True)
    assert (trained.most, trained.config.model.encoder) == (4, "cnn,cnn,embedding")
    assert (trained.config.model.levels, trained.config.training.optimizer) == (3, "amsgrad")
    assert len(trained.known.ratings) == 135, "a tenth is held out for early stopping, and never read"
    assert {"dev", "test", "environment", "ratings"} <= set(trained.metrics)
    reviews.unlink()
    try:
        assert load(run).answers(TEST).tolist() == trained.answers(TEST).tolist(), "the file is not needed any more"
    finally:
        write_reviews(reviews, RATINGS[:150])


def test_scores_and_the_next_command_are_printed(
    regard: Regard, reviews: Path, ratings_file: Path, tmp_path: Path
) -> None:
    result = regard("towers", "train", reviews, "--dev", ratings_file, "--out", tmp_path / "run", *FAST)
    assert result.code == 0
    assert result.out.startswith("dev: RMSE ")
    assert f"try: regard towers explain {tmp_path / 'run'} USER ITEM" in result.out
    assert len(load(tmp_path / "run").known.ratings) == 150
    again = regard("towers", "train", reviews, "--out", tmp_path / "run", *FAST)
    assert again.code == 2
    assert again.error.endswith("already exists; use another --out, or --overwrite to replace it")
    assert regard("towers", "train", reviews, "--out", tmp_path / "run", "--overwrite", *FAST).code == 0
    assert len(load(tmp_path / "run").known.ratings) == 135


def test_one_rating_and_those_of_a_file(regard: Regard, run: Path, ratings_file: Path, tmp_path: Path) -> None:
    answers = load(run).answers(TEST)
    one = regard("towers", "predict", run, TEST[0].user, TEST[0].item)
    assert float(one.out) == pytest.approx(answers[0], rel=1e-3)
    every = [json.loads(line) for line in regard("towers", "predict", run, "--file", ratings_file).out.splitlines()]
    assert [row["prediction"] for row in every] == pytest.approx(answers.tolist(), abs=1e-5)
    assert [(row["user"], row["rating"], row["row"]) for row in every[:2]] == [
        (TEST[0].user, TEST[0].value, 1),
        (TEST[1].user, TEST[1].value, 2),
    ]
    pairs = write_csv(tmp_path / "pairs.csv", [("u1", "i2"), ("new", "i2"), ("", "i2")], ("user", "item"))
    rows = [json.loads(line) for line in regard("towers", "predict", run, "--file", pairs).out.splitlines()]
    assert [row["user"] for row in rows] == ["u1", "new", None]
    assert rows[1]["prediction"] == pytest.approx(rows[2]["prediction"]), "unknown users are all the same"
    assert "rating" not in rows[0]


def test_other_reviews_can_be_read(regard: Regard, run: Path, tmp_path: Path) -> None:
    other = write_reviews(tmp_path / "other.jsonl", [*TRAIN[:60]])
    changed = regard("towers", "predict", run, "u1", "i2", "--reviews", other)
    expected = load(run).with_reviews(TRAIN[:60], same_names=True).answers([Rating("u1", "i2", 0, "")])
    assert float(changed.out) == pytest.approx(expected[0], rel=1e-3)


def test_an_explanation_in_every_format(regard: Regard, run: Path, ratings_file: Path, tmp_path: Path) -> None:
    shown = regard("towers", "explain", run, "u1", "i2").out
    assert "u1 × i2: " in shown
    assert "reviews by u1" in shown
    assert "reviews of i2" in shown
    assert "There are no reviews to read" in regard("towers", "explain", run, "nobody", "i2").out
    assert (
        regard("towers", "explain", run, "--file", ratings_file, "--limit", 3, "--out", tmp_path / "e.jsonl").code == 0
    )
    rows = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    assert [row["row"] for row in rows] == [1, 2, 3]
    assert regard("towers", "explain", run, "u1", "i2", "--out", tmp_path / "e.html").code == 0
    assert "<bdi>u1</bdi> × <bdi>i2</bdi>" in (tmp_path / "e.html").read_text(encoding="utf-8")
    assert regard("towers", "explain", run, "u1", "i2", "--out", tmp_path / "e.txt").code == 0
    assert "u1 × i2" in (tmp_path / "e.txt").read_text(encoding="utf-8")


def test_a_report_has_measures_and_the_largest_errors_first(regard: Regard, run: Path, ratings_file: Path) -> None:
    assert regard("towers", "report", run, "--data", ratings_file, "--limit", 5).out == f"open {run / 'report.html'}\n"
    html = (run / "report.html").read_text(encoding="utf-8")
    errors = abs(load(run).answers(TEST) - [rating.value for rating in TEST])
    assert f"{math.sqrt((errors**2).mean()):.3f}" in html
    worst = TEST[int(errors.argmax())]
    first = html.index(f"<bdi>{worst.user}</bdi> × <bdi>{worst.item}</bdi>")
    assert html.index('id="pair-1"') < first < html.index('id="pair-2"')
    assert "5 ratings of 30, the largest errors first" in html
    assert load(run).metrics, "the page does not make the folder look damaged"


def test_ctrl_c_leaves_no_folder(
    regard: Regard, reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(train_folder, "fit_pairs", stopped)
    assert regard("towers", "train", reviews, "--out", tmp_path / "run", *FAST).code == 130
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "--out", "x"], "no training reviews: pass a file with the columns user, item, rating and text"),
        (["train", "REVIEWS", "--out", "x", "--head", "product", "--side", "user"], "side: expected both with head"),
        (["train", "REVIEWS", "--out", "x", "--ids", "-1"], "ids: expected a width of 0"),
        (["train", "REVIEWS", "--out", "x", "--max-reviews", "0"], "max_reviews: expected 1 or more, got 0"),
        (["train", "nowhere.csv", "--out", "x"], "nowhere.csv: no such file"),
        (["train", "REVIEWS", "--out", "x", "--dev-fraction", "0"], "expected --dev FILE, or at least 10 ratings"),
        (["predict", "RUN", "u1"], "expected the name of a user and of an item, or --file FILE"),
        (["predict", "RUN", "u1", "i1", "--file", "REVIEWS"], "expected a user and an item, or --file, got both"),
        (["predict", "nowhere", "u1", "i1"], "nowhere: there is no such folder"),
        (
            ["explain", "RUN", "u1", "i1", "--out", "x.pdf"],
            "expected one of the formats terminal, jsonl, html, got pdf",
        ),
        (["explain", "RUN", "u1", "i1", "--limit", "0"], "--limit: expected a number from 1 to 2000, got 0"),
        (["report", "RUN", "--data", "REVIEWS", "--out", "RUN"], "--out: expected the name of a page"),
    ],
)
def test_errors_are_one_sentence(
    regard: Regard, run: Path, reviews: Path, tmp_path: Path, words: list[str], message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    named = {"RUN": str(run), "REVIEWS": str(reviews)}
    result = regard("towers", *(named.get(word, word) for word in words))
    assert result.code == 2
    assert message in result.error
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"user": "a"}\n{"user": "b"}\n', "no column 'item'; the columns are 'user'"),
        (
            '{"user": "a", "item": "b", "rating": "good"}\n',
            "row 1, column 'rating': expected a finite number, got 'good'",
        ),
        ('{"user": "a", "item": "b"}\nnot json\n', "row 2"),
        ("", "the file is empty; expected at least one row"),
    ],
)
def test_bad_pairs_are_one_sentence(regard: Regard, run: Path, tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(lines)
    result = regard("towers", "predict", run, "--file", tmp_path / "pairs.jsonl")
    assert result.code == 2
    assert message in result.error
    assert "--keep" not in result.error


def test_names_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"user": 7, "item": 8.0}\n{"user": "7", "item": "-"}\n')
    pairs = read_pairs(tmp_path / "pairs.jsonl")
    assert [(pair.user, pair.item) for pair in pairs] == [("7", "8"), ("7", "-")]
    assert all(math.isnan(pair.value) for pair in pairs)


def test_help_of_every_action(regard: Regard) -> None:
    assert "{concat,product}" in regard("towers", "train", "--help").out
    for action in ("predict", "explain", "report"):
        result = regard("towers", action, "--help")
        assert result.code == 0
        assert "--reviews" in result.out
