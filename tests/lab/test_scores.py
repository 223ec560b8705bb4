"""The kind "scores": means by type of token, values recorded during training, and the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.kinds import drawings, scores
from regard_lab.kinds.patterns import MEASURES, history_of
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.figures import by_moment, draw, value_title
from regard_lab.results import complete
from regard_lab.tables.context import Context
from regard_lab.tables.table import Table

TOML = """
title = "Toy scores"
kind = "scores"
seeds = 2
measures = ["accuracy", "attention_positive", "auc", "vtw_scaled"]
[options]
text = "text"
label = "label"
pairs = false
min_count = 1
head_bias = false
embedding = 8
hidden = 8
query = 8
scale = 10.0
epochs = 3
patience = 0
decay = false
lr = 0.1
[methods.dp]
title = "DP & co."
attention = "dot"
[methods.dp-l]
title = "DP-L"
encoder = "bilstm"
attention = "dot"
[corpora.two]
title = "Two"
make = "synthetic"
texts = 400
tokens = 10
neutral = 20
task = "binary"
[corpora.three]
title = "Three"
make = "synthetic"
data = "classes"
texts = 600
tokens = 10
neutral = 20
task = "multiclass"
skip = ["dp-l"]
measures = ["accuracy", "attention_1", "auc"]
[[figure]]
name = "along"
kind = "along"
values = ["attention.positive", "attention.negative", "attention.neutral"]
axis = "attention"
"""


@pytest.fixture(scope="module")
def figure(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("scores") / "figure.toml"
    path.write_text(TOML, encoding="utf-8")
    return read_table(path, "paper/figure")


@pytest.fixture(scope="module")
def rows(figure: Table) -> list[dict[str, Any]]:
    results = []
    for cell in figure.cells():
        scores.check(cell)
        for result in scores.run(cell, [0, 1] if cell.method == "dp" else [0], Context("cpu", Silent())):
            results.append(complete(cell, figure.name, "cpu", result))
    return results


def test_two_classes_are_named_positive_and_negative_and_more_are_numbered(rows: list[dict[str, Any]]) -> None:
    two, three = rows[0], next(row for row in rows if row["corpus"] == "three")
    assert two["types"] == ["negative", "positive", "neutral"]
    assert three["types"] == ["1", "2", "3", "neutral"]
    for row, names in ((two, two["types"]), (three, three["types"])):
        for name in names:
            assert {f"polarity_{name}", f"attention_{name}", f"weight_{name}"} <= set(row["values"])
    assert two["values"]["polarity_positive"] > 0 > two["values"]["polarity_negative"]
    assert two["values"]["share_positive"] == two["values"]["share_negative"] == 1
    assert two["values"]["tokens_tied"] == 20
    assert two["values"]["gap"] == two["values"]["attention_positive"] - two["values"]["attention_negative"]
    assert two["values"]["omega_same"] > 0 > two["values"]["omega_other"]
    assert two["values"]["vtw_scaled"] == pytest.approx(10 * two["values"]["vtw"])
    assert all(f"share_{number}" in three["values"] for number in (1, 2, 3))
    assert set(two["values"]) | set(three["values"]) <= {*MEASURES, "n", "accuracy", "macro_f", "log_loss"}


def test_a_class_may_be_called_neutral(tmp_path: Path) -> None:
    """Then `token_types` uses another name for words of no class; the names in a row do not change."""
    texts = [f"{sign}{k % 7} o{k % 5} o{k % 4}" for k in range(60) for sign in "anp"]
    rows = [f"{text},{label}" for text, label in zip(texts, ["bad", "neutral", "rich"] * 60, strict=True)]
    (tmp_path / "three.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    head = TOML.partition("[methods.dp-l]")[0]
    corpus = f'[corpora.three]\ntrain = "{tmp_path / "three.csv"}"\nhold_out = 0.1\ntask = "multiclass"\n'
    path = tmp_path / "figure.toml"
    path.write_text(f"{head}{corpus}", encoding="utf-8")
    (cell,) = read_table(path, "paper/figure").cells()
    (row,) = scores.run(cell, [0], Context("cpu", Silent()))
    assert row["types"] == ["1", "2", "3", "neutral"]
    assert "2-neutral" in row["pairs"]
    assert len(row["history"]["attention.2"]) == len(row["history"]["attention.neutral"]) == 4
    assert row["history"]["attention.2"] != row["history"]["attention.neutral"]


def test_a_row_has_types_and_numbers_but_no_words(rows: list[dict[str, Any]]) -> None:
    assert not [row for row in rows if row["seed"] and ({"tokens", "boxes", "pairs"} & set(row))], (
        "figures show one seed"
    )
    for row in (row for row in rows if row["seed"] == 0):
        assert len(row["tokens"]) <= scores.KEPT
        assert {token[0] for token in row["tokens"]} == set(range(len(row["types"])))
        assert all(isinstance(number, (int, float)) or number is None for token in row["tokens"] for number in token)
        assert all(len(token) == (6 if row["method"] == "dp-l" else 4) for token in row["tokens"])
        assert set(row["boxes"]) == set(row["types"])


def test_the_history_goes_from_the_start_to_the_last_epoch(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        history = row["history"]
        assert history["moments"] == [0, 1, 2, 3]
        assert all(len(history[f"attention.{name}"]) == 4 for name in row["types"])
        assert len(history["loss"]) == 3
    assert rows[0]["history"]["attention.positive"][-1] == pytest.approx(rows[0]["values"]["attention_positive"], 1e-3)
    assert rows[0]["history"]["omega.positive-positive"][-1] > 1 > abs(rows[0]["history"]["omega.positive-positive"][0])
    assert {"vtw", "norm_v", "norm_w"} <= set(rows[0]["history"])
    assert {"vtw.1", "vtw.2", "vtw.3"} <= set(rows[-1]["history"])


def test_an_encoder_has_local_and_global_scores(rows: list[dict[str, Any]]) -> None:
    values = next(row for row in rows if row["method"] == "dp-l")["values"]
    assert {"local_attention_positive", "local_polarity_negative", "local_auc", "auc"} <= set(values)
    assert values["local_attention_positive"] != values["attention_positive"]
    assert "local_auc" not in rows[0]["values"]


def texts_of(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_one_scatter_plot_per_corpus_and_one_figure_of_weights(figure: Table, rows: list[dict[str, Any]]) -> None:
    drawn = drawings.draw_scores(figure, rows)
    assert set(drawn) == {"scores-two", "scores-three", "weights"}
    words = texts_of(drawn["scores-two"])
    assert {"DP & co.", "DP-L, global scores", "DP-L, local scores"} <= set(words)
    assert words.count("positive") == 3
    assert "Two, DP & co.: positive" in texts_of(drawn["weights"])
    assert (
        drawings.draw_scores(figure, [{"error": "x", "method": "dp", "corpus": "two", "setting": "", "seed": 0}]) == {}
    )


def test_several_values_share_a_panel(figure: Table, rows: list[dict[str, Any]]) -> None:
    ((title, svg),) = draw(figure, rows).values()
    words = texts_of(svg)
    assert "along" in title
    assert words.count("positive") == words.count("negative") == 2, "DP and DP-L on two classes; three have other names"
    assert {"Two, DP & co.", "Two, DP-L"} <= set(words)


def test_only_models_with_one_level_of_attention_and_classes(figure: Table, tmp_path: Path) -> None:
    for old, new, sentence in (
        (
            'attention = "dot"\n[methods.dp-l]',
            'pooling = "max"\n[methods.dp-l]',
            "pooling: expected 'attention', got 'max'",
        ),
        ('task = "binary"', 'task = "regression"', "regression"),
    ):
        assert old in TOML
        (tmp_path / "wrong.toml").write_text(TOML.replace(old, new), encoding="utf-8")
        cell = next(read_table(tmp_path / "wrong.toml", "paper/wrong").cells())
        with pytest.raises(InputError, match=sentence):
            scores.check(cell)


def test_values_are_only_for_figures_of_training(tmp_path: Path) -> None:
    for old, new, sentence in (
        (
            'kind = "along"',
            'kind = "path"\nvalue = "loss"',
            "`values` is required for kind 'along' and allowed only there",
        ),
        (
            'values = ["attention.positive", "attention.negative", "attention.neutral"]',
            "",
            "`values` is required for kind 'along'",
        ),
        ('values = ["attention.positive",', "values = [3,", "values: expected a list of names in a row's history, got"),
    ):
        assert old in TOML
        (tmp_path / "wrong.toml").write_text(TOML.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=sentence):
            read_table(tmp_path / "wrong.toml", "paper/wrong")


def test_without_a_recording_there_are_no_paths() -> None:
    assert history_of(None, {}) == {}


def test_paths_are_joined_by_moment_and_small_ones_are_scaled(figure: Table) -> None:
    """One seed was recorded twice as often: the curve has the moments that both have."""
    thick = {"moments": [0, 1, 2, 3, 4], "attention.positive": [0.0, 0.001, 0.002, 0.003, 0.004]}
    thin = {"moments": [0, 2, 4], "attention.positive": [0.0, 0.002, 0.004]}
    synthetic_rows = [
        {"method": "dp", "corpus": "two", "setting": "", "seed": seed, "history": history}
        for seed, history in enumerate((thick, thin))
    ]
    assert by_moment(thin, "attention.positive") == {0: 0.0, 2: 0.002, 4: 0.004}
    assert by_moment({"loss": [3.0, 2.0]}, "loss") == {1: 3.0, 2: 2.0}
    ((_, svg),) = draw(figure, synthetic_rows).values()
    assert "attention, × 10⁻³" in texts_of(svg)
    assert "4" in texts_of(svg)
    assert value_title("term_A.positive", ["term_A.positive", "term_B.positive"]) == "A, positive"
    assert (value_title("vtw", ["vtw"]), value_title("omega.a-b", ["omega.a-b"])) == ("vtw", "a-b")
