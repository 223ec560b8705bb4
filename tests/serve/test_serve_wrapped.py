"""The server with a model of which only predictions are available, alone and next to a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from serving import Serving, serving_runs

import regard
from regard.models.folder import load
from regard.serve.served_run import ServedRun

AVAILABLE = ["leave_one_out", "surrogate", "sentence_occlusion", "random", "tfidf"]


def predict_proba(texts: list[str]) -> np.ndarray:
    good = np.array([0.1 + 0.8 * ("good" in text) for text in texts])
    return np.stack([1 - good, good], 1)


MODEL = regard.wrap(predict_proba, ["poor", "fine"], name="rule")


@pytest.fixture(scope="module")
def wrapped() -> Iterator[Serving]:
    with serving_runs(ServedRun("rule", MODEL)) as server:
        yield server


def test_the_model_is_described(wrapped: Serving) -> None:
    described = wrapped.get("/api/runs").value
    (run,) = described["runs"]
    assert (run["name"], run["model"], run["classes"]) == ("rule", "rule", ["poor", "fine"])
    assert (run["methods"], run["default_method"]) == (AVAILABLE, "leave_one_out")


def test_texts_are_predicted_and_explained(wrapped: Serving) -> None:
    (row,) = wrapped.ask("/api/predict", text="a good one").value["results"]
    assert (row["prediction"], row["probabilities"]["fine"]) == ("fine", pytest.approx(0.9))
    answer = wrapped.ask("/api/explain", text="a good one. And more.").value
    (row,) = answer["results"]
    assert (answer["method"], answer["signed"]) == ("leave_one_out", True)
    scores = {token["text"]: token["score"] for token in row["tokens"]}
    assert scores["good"] == pytest.approx(np.log(9) * 2)
    assert scores["one"] == 0
    assert [one["score"] > 0 for one in row["sentences"]] == [True, False]
    (row,) = wrapped.ask("/api/explain", text="a good one", without=[1]).value["results"]
    assert (row["prediction"], row["before"]["prediction"]) == ("poor", "fine")


def test_methods_that_need_more_than_predictions_are_refused(wrapped: Serving) -> None:
    refused = wrapped.ask("/api/explain", text="a good one", method="attention")
    assert refused.status == 400
    assert "for rule, of which only predictions are available, got 'attention'" in refused.error


def test_a_table_is_predicted(wrapped: Serving) -> None:
    answer = wrapped.ask("/api/table", table="text,label\na good one,fine\nanother,fine\n").value
    assert (answer["labelled"], answer["right"]) == (2, 1)


def test_it_is_compared_with_a_run_by_a_method_that_both_have(flat_run: Path) -> None:
    with serving_runs(ServedRun("flat", load(flat_run)), ServedRun("rule", MODEL)) as server:
        answer = server.ask("/api/compare", text="The good room").value
    assert answer["method"] == "leave_one_out"
    assert [row["run"] for row in answer["results"]] == ["flat", "rule"]
