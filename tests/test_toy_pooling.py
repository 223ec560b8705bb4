"""A pooling with attention and a norm that the package does not know: one row in POOLINGS, and everything works with it.

If this test fails, some part of the package depends on the name or type of a pooling; it should use what poolings declare.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, cast

import pytest
import torch
from torch import Tensor, nn

from command import TINY, Regard, write_csv
from regard.cli import main
from regard.config import Model
from regard.data.reviews import reviews
from regard.explain.attribute import attribute
from regard.explain.explainers import EXPLAINERS
from regard.masking import fill, masked_softmax
from regard.models.classifier import Level
from regard.models.folder import load
from regard.poolings import POOLINGS
from regard.poolings.pooling import Pooling, attended, checked
from regard.poolings.scorer import Scorer
from regard.serve.application import Application
from regard.serve.served_run import ServedRun
from regard.training.optimizers import norms_of
from regard.values import Pooled

TEXT = "The staff were kind. The room was not clean! I would come back."
RUN = ("--pooling", "tempered", "--levels", "2", "--encoder", "cnn", "--norm-init", "2.5", "--norm-lr", "0")


class Tempered(Pooling):
    """r = Σ w_i h_i,  w = α^p / Σ α^p: attention sharpened by a learned power p = exp(θ)."""

    attends = True
    has_norm = True
    options = ("attention", "query", "scale", "query_range", "norm_init")
    norm_parameters = ("log_power",)

    def __init__(self, scorer: Scorer, power: float) -> None:
        super().__init__()
        self.scorer = scorer
        self.log_power = nn.Parameter(torch.tensor(math.log(power)))

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        config = config.filled()
        scorer = Scorer(dim, config.attention, config.query, config.scale, config.query_range)
        return cls(scorer, config.norm_init or 1.0)

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        scores = fill(self.scorer(states), mask)
        power = self.log_power.exp()
        weights = masked_softmax(fill(power * scores, mask), mask)
        return Pooled(attended(weights, states, mask), weights, scores, norm=power)

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        powers = fill(weights.clamp_min(1e-30) ** self.log_power.exp(), mask)
        return attended(powers / powers.sum(1, keepdim=True).clamp_min(1e-30), states, mask)


@pytest.fixture(scope="module", autouse=True)
def _registered() -> Iterator[None]:
    POOLINGS["tempered"] = Tempered
    yield
    del POOLINGS["tempered"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [(one.text, "good" if float(str(one.label)) > 3 else "bad") for one in reviews(60)]
    return write_csv(tmp_path_factory.mktemp("toy") / "reviews.csv", rows)


@pytest.fixture(scope="module")
def run(table: Path, _registered: None) -> Path:
    assert main(["train", str(table), *RUN, *TINY, "--out", str(table.parent / "run")]) == 0
    return table.parent / "run"


def test_its_declarations_hold() -> None:
    torch.manual_seed(0)
    pooling = Tempered.configured(4, 1, Model(norm_init=2.0, query=3))
    states, mask = torch.randn(3, 5, 4), torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]).bool()
    pooled = pooling(states, mask)
    alpha = pooling.attention(pooled, mask)
    torch.testing.assert_close(pooled.weights[0], alpha[0] ** 2 / (alpha[0] ** 2).sum())
    torch.testing.assert_close(pooling.mix(states, alpha, mask), pooled.vector)


def test_it_is_trained_saved_and_loaded_and_its_norm_has_its_own_rate(run: Path) -> None:
    trained = load(run)
    poolings = [cast(Level, level).pooling for level in trained.model.levels]
    assert [type(pooling) for pooling in poolings] == [Tempered, Tempered]
    norms = norms_of(trained.model.named_parameters())
    assert [norm.item() for norm in norms] == pytest.approx([math.log(2.5)] * 2)  # --norm-lr 0
    history = json.loads((run / "metrics.json").read_text())["history"]
    assert [history[-1]["norms"][name]["mean"] for name in ("words", "sentences")] == pytest.approx([2.5, 2.5])
    assert [level.sharpens for level in trained.capabilities] == [True, True]


def test_explain_shows_its_sharpened_weights(run: Path, regard: Regard) -> None:
    (row,) = map(json.loads, regard("explain", run, TEXT, "--format", "jsonl").out.splitlines())
    assert row["method"] == "attention_norm"
    assert sum(token["weight"] for token in row["tokens"]) == pytest.approx(1)
    plain, sharpened = (attribute(load(run), [TEXT], name)[0] for name in ("attention", "attention_norm"))
    assert [token["weight"] for token in row["tokens"]] == pytest.approx(sharpened.scores.tolist())
    assert plain.scores.tolist() != pytest.approx(sharpened.scores.tolist(), abs=1e-4)
    page = regard("explain", run, TEXT, "--format", "html").out
    assert EXPLAINERS["attention_norm"].title in page


def test_the_audit_takes_all_of_its_diagnostics(run: Path, table: Path, regard: Regard, tmp_path: Path) -> None:
    result = regard("audit", run, "--data", table, "--limit", "20", "--retrain", "--out", tmp_path / "audit")
    assert result.code == 0, result.err
    facts = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert {"attention", "attention_norm"} <= {one["name"] for one in facts["explainers"]}
    assert {"permutation", "adversary", "even", "seeds", "guided", "trained_adversary"} <= set(facts["diagnostics"])
    assert facts["diagnostics"]["adversary"]["exact"] is False  # the weights go through a power


def test_the_report_names_its_weights(run: Path, table: Path, regard: Regard, tmp_path: Path) -> None:
    result = regard("report", run, "--data", table, "--out", tmp_path / "report.html")
    assert result.code == 0, result.err
    assert EXPLAINERS["attention_norm"].title in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_it_is_served(run: Path) -> None:
    application = Application()
    application.set_runs([ServedRun("toy", load(run))])

    def ask(path: str, **fields: Any) -> Any:
        return json.loads(application.answer(path, json.dumps(fields).encode(), lambda: False).body)

    facts = json.loads(application.page("/api/runs").body)
    assert facts["runs"][0]["default_method"] == "attention_norm"
    assert "attention_norm" in facts["runs"][0]["methods"]
    answer = ask("/api/explain", text=TEXT)
    assert answer["method"] == "attention_norm"
    (drawn,) = answer["results"]
    (expected,) = attribute(load(run), [TEXT], "attention_norm")
    assert [token["score"] for token in drawn["tokens"]] == pytest.approx(expected.scores.tolist(), abs=1e-6)
    assert ask("/api/predict", text=TEXT)["results"][0]["prediction"] in ("good", "bad")
