"""The audit of a model of which only predictions are available."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import regard
from regard.audit.audit import AuditResult
from regard.audit.audit_run import DIAGNOSTICS, NO_INSIDE
from regard.errors import InputError

WORDS = ("good", "great", "bad", "poor", "room", "food", "view", "the", "was", "and")
WEIGHTS = np.array([2.0, 1.0, -2.0, -1.0, 0, 0, 0, 0, 0, 0])


def predict_proba(texts: list[str]) -> Any:
    scores = np.array([sum(WEIGHTS[WORDS.index(word)] for word in text.split() if word in WORDS) for text in texts])
    fine = 1 / (1 + np.exp(-scores))
    return np.stack([1 - fine, fine], 1)


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 12)) for _ in range(60)]
    model = regard.wrap(predict_proba, ["poor", "fine"], name="rule")
    return model.audit(texts, model.predict(texts))


def test_explanations_by_predictions_are_measured(audited: AuditResult) -> None:
    names = [one["name"] for one in audited["explainers"]]
    assert names == ["leave_one_out", "surrogate", "sentence_occlusion", "tfidf", "random"]
    assert (audited["focus"], audited["run"], audited["model"]) == ("leave_one_out", "rule", None)
    assert audited["classes"] == ["poor", "fine"]
    means = {
        one["explainer"]: one["mean"]["mean"]
        for one in audited["faithfulness"]["curves"]
        if one["measure"] == "comprehensiveness"
    }
    assert means["leave_one_out"] > means["random"] + 0.1
    assert audited["verdict"]["name"] == "faithful"


def test_sections_on_attention_are_said_to_be_absent(audited: AuditResult) -> None:
    reasons = {one["what"]: one["why"] for one in audited["left_out"]}
    assert {name: reasons.get(name) for name in (*DIAGNOSTICS, "separation")} == dict.fromkeys(
        (*DIAGNOSTICS, "separation"), NO_INSIDE
    )
    assert any("only predictions of this model are available" in note for note in audited["notes"])
    page = audited.page()
    assert NO_INSIDE in page
    assert "leave-one-out" in page


def test_methods_that_need_more_are_refused() -> None:
    model = regard.wrap(predict_proba, ["poor", "fine"], name="rule")
    with pytest.raises(InputError, match="for rule, of which only predictions are available, got 'attention'"):
        model.audit(["good room"], methods=["attention"])
    with pytest.raises(InputError, match="labels: expected one per text, got 1 for 2 texts"):
        model.audit(["good room", "bad"], ["fine"])
