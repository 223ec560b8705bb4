"""The kind "flow" and Sun & Lu's patterns: Data I and Data II show them, and the terms sum to autograd's derivative."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.analysis.token_scores import TokenScores
from regard.analysis.token_types import TokenTypes
from regard.errors import InputError
from regard.facts.analysis import DotProducts, PairPath, Recording
from regard.recorder import Silent
from regard.report.pages.analysis import frames
from regard_lab.kinds import gradient_flow
from regard_lab.kinds.patterns import MOST, patterns, separation_epoch
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.figures import draw
from regard_lab.results import complete
from regard_lab.tables.context import Context
from regard_lab.tables.table import Table

# the published setting: 2,000 texts, rate 5, λ = 10, c = 0.0001; half of the epochs
TOML = """
title = "Toy flow"
kind = "flow"
measures = ["signs_right", "share_pi", "difference"]
[options]
text = "text"
label = "label"
pairs = false
beginnings = 0
min_count = 1
head_bias = false
embedding = 100
hidden = 20
query = 20
scale = 10.0
optimizer = "sgd"
decay = false
dropout = 0.0
batch_size = 50
epochs = 30
patience = 0
dev_fraction = 0.0
lr = 5.0
[methods.dp]
attention = "dot"
vtw = 1e-4
[methods.dp-a]
encoder = "affine"
attention = "dot"
epochs = 2
lr = 0.3
[methods.ad]
attention = "additive"
terms = true
epochs = 2
lr = 1.0
[corpora.one]
make = "synthetic"
texts = 2000
chosen = "last"
task = "binary"
[corpora.two]
make = "synthetic"
data = "two"
texts = 2000
chosen = "last"
task = "binary"
skip = ["dp-a", "ad"]
[corpora.three]
make = "synthetic"
data = "classes"
texts = 900
chosen = "last"
task = "multiclass"
epochs = 2
skip = ["dp-a", "ad"]
[[figure]]
name = "all"
kind = "pairs"
methods = ["dp"]
[[figure]]
name = "mapped"
kind = "pairs"
methods = ["dp-a"]
"""


@pytest.fixture(scope="module")
def flow_table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("flow") / "flow.toml"
    path.write_text(TOML, encoding="utf-8")
    return read_table(path, "paper/flow")


@pytest.fixture(scope="module")
def rows(flow_table: Table) -> dict[tuple[str, str], dict[str, Any]]:
    by_cell = {}
    for cell in flow_table.cells():
        gradient_flow.check(cell)
        (result,) = gradient_flow.run(cell, [0], Context("cpu", Silent()))
        by_cell[cell.method, cell.corpus.name] = complete(cell, flow_table.name, "cpu", result)
    return by_cell


@pytest.mark.parametrize("corpus", ["one", "two"])
def test_synthetic_texts_show_the_patterns(rows: dict[tuple[str, str], dict[str, Any]], corpus: str) -> None:
    values = rows["dp", corpus]["values"]
    for pattern in ("signs_right", "neutral_within_tenth", "attention_above", "omega_like"):
        assert values[pattern] == 1, pattern
    assert values["attention_positive"] > values["attention_neutral"] < values["attention_negative"]
    assert values["gap_size"] < 0.1 * min(values["attention_positive"], values["attention_negative"]), "the penalty"
    assert values["omega_epoch"] <= 2


def test_terms_sum_to_autograds_derivative(rows: dict[tuple[str, str], dict[str, Any]]) -> None:
    for row in rows.values():
        assert 0 < row["values"]["difference"] < 1e-10
    assert 0 < rows["ad", "one"]["values"]["first_order"] < 1
    assert "first_order" not in rows["dp", "one"]["values"]


def test_pulls_have_the_signs_of_the_paper(rows: dict[tuple[str, str], dict[str, Any]]) -> None:
    values = rows["dp", "one"]["values"]
    assert values["pi_positive"] > 0 > values["pi_negative"]
    assert values["share_pi"] == values["share_B"] == 1
    assert values["term_B_positive"] > 0 > values["term_B_negative"]
    assert values["holds_50"] == values["holds_54"] == 1
    assert set(values) <= {*gradient_flow.MEASURES, "n", "accuracy", "macro_f", "log_loss"}
    assert "holds_50" not in rows["dp", "three"]["values"]
    assert {"pi_1", "pi_3", "rho_neutral", "term_F_2"} <= set(rows["dp", "three"]["values"])


def test_the_last_epoch_counts_and_a_row_stays_small(rows: dict[tuple[str, str], dict[str, Any]]) -> None:
    row = rows["dp", "one"]
    assert row["best_epoch"] == row["epochs"] == 30
    assert len(row["history"]["moments"]) == MOST
    assert not [name for name in row["history"] if name.startswith("term_")]
    assert len(rows["ad", "one"]["history"]["term_E.positive"]) == 3, "where they are asked for"
    assert frames(61, MOST) == list(range(0, 61, 2))


def test_boxes_of_dot_products_before_and_after_an_affine_layer(
    flow_table: Table, rows: dict[tuple[str, str], dict[str, Any]]
) -> None:
    drawn = draw(flow_table, list(rows.values()))
    assert set(drawn) == {"all", "mapped"}
    assert "one, dp: negative-positive" in drawn["all"][1]
    assert "two, dp: positive-neutral" in drawn["all"][1]
    assert ">positive-positive, mapped<" in drawn["mapped"][1], "one model needs no name"
    assert "omega_like_mapped" in rows["dp-a", "one"]["values"]
    assert draw(flow_table, [{**row, "pairs": {}} for row in rows.values()]) == {}


def test_a_contextual_encoder_has_no_terms(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(
        TOML.replace('[methods.dp]\nattention = "dot"\nvtw = 1e-4', '[methods.dp]\nencoder = "lstm"\nattention = "dot"')
        .replace('optimizer = "sgd"\ndecay = false', 'optimizer = "sgd"')
        .replace("pairs = false\nbeginnings = 0\n", ""),
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="encoder: expected 'embedding' or 'affine' for gradient flow, got 'lstm'"):
        gradient_flow.check(next(read_table(path, "paper/wrong").cells()))


def omega_of(one: str, other: str, mean: float) -> DotProducts:
    return DotProducts((one, other), mean, min=0.0, q1=0.0, median=0.0, q3=0.0, max=0.0)


def test_patterns_by_hand() -> None:
    """Tokens a (negative), b, c (positive), d (neutral)."""
    types = TokenTypes(
        ("neg", "pos", "neutral"), np.array([0, 1, 1, 2], dtype=np.int8), np.ones((4, 2), dtype=np.int64), np.zeros(4)
    )
    omega = [
        omega_of("neg", "neg", 2.0),
        omega_of("pos", "pos", 1.5),
        omega_of("neg", "pos", -1.0),
    ]

    def shown(polarity: list[float], attention: list[float], products: list[DotProducts] = omega) -> dict[str, float]:
        scores = TokenScores(np.array(polarity)[:, None], np.array(attention), np.full(4, np.nan))
        return patterns(types, scores, products, ["neg", "pos"])

    good = shown([-2.0, 1.0, 3.0, 0.1], [0.5, 0.2, 0.6, 0.1])
    assert good == {
        "signs_right": 1,
        "attention_above": 1,
        "neutral_size": pytest.approx(0.05),
        "neutral_within_tenth": 1,
        "omega_like": 1,
    }
    assert shown([-2.0, -0.1, 3.0, 0.1], [0.5, 0.2, 0.6, 0.1])["signs_right"] == 0, "one token is enough"
    assert shown([-2.0, 1.0, 3.0, -0.3], [0.5, 0.2, 0.6, 0.1])["neutral_within_tenth"] == 0
    assert shown([-2.0, 1.0, 3.0, 0.1], [0.05, 0.2, 0.6, 0.1])["attention_above"] == 0, "one class is enough"
    far = [*omega[:2], omega_of("neg", "pos", -1.7)]
    assert shown([-2.0, 1.0, 3.0, 0.1], [0.5, 0.2, 0.6, 0.1], far)["omega_like"] == 0


@pytest.mark.parametrize("code", [0, 1])
def test_a_class_without_tokens_has_no_patterns(code: int) -> None:
    """Whichever of the two it is."""
    types = TokenTypes(
        ("neg", "pos", "neutral"),
        np.array([code, code, 2], dtype=np.int8),
        np.ones((3, 2), dtype=np.int64),
        np.zeros(3),
    )
    scores = TokenScores(np.array([[-2.0 + 4 * code], [-1.0 + 2 * code], [0.1]]), np.array([0.5, 0.4, 0.1]), np.ones(3))
    assert patterns(types, scores, [omega_of("neg", "neg", 1.0)], ["neg", "pos"]) == {}


def test_patterns_without_neutral_tokens() -> None:
    types = TokenTypes(("neg", "pos", "neutral"), np.array([0, 1]), np.ones((2, 2), dtype=np.int64), np.zeros(2))
    scores = TokenScores(np.array([[-2.0], [1.0]]), np.array([0.5, 0.4]), np.ones(2))
    assert patterns(types, scores, [], ["neg", "pos"]) == {"signs_right": 1}


def test_signs_of_dot_products_are_right_from_an_epoch_on() -> None:
    def recorded(like: list[float], unlike: list[float]) -> Recording:
        products = (PairPath(("a", "a"), tuple(like)), PairPath(("a", "b"), tuple(unlike)))
        return Recording((0.0, 0.5, 1.0), (), (), (), (), (), (), (), {}, products, {})

    assert separation_epoch(recorded([-1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]), ["a", "b"]) == 0.5
    assert separation_epoch(recorded([1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]), ["a", "b"]) == 0.0
    assert separation_epoch(recorded([1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]), ["a", "b"]) is None
    assert separation_epoch(None, ["a"]) is None
