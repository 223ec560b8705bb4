"""The kind "weights": which texts a row keeps, how spread is measured, and the figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from regard.config import Config
from regard.data import reviews
from regard.errors import InputError
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.training.fit import Parts, fit
from regard_lab import fit_stacked
from regard_lab.kinds import weights
from regard_lab.reading.table_file import read_table
from regard_lab.results import complete
from regard_lab.tables.context import Context
from regard_lab.tables.table import Table

TOML = """
where = "Figure 9"
kind = "weights"
measures = ["accuracy", "spread", "top_three"]
[options]
encoder = "cnn"
embedding = 4
hidden = 4
query = 4
epochs = 1
[methods.attention]
title = "Attention & co."
pooling = "attention"
[methods.apln]
title = "APLN"
pooling = "apln"
[corpora.own]
title = "our own"
levels = 2
drawn = 2
[corpora.films]
title = "films"
train = "films"
dev = "films/dev"
test = "films/test"
text = "text"
label = "label"
quoted = "a warm thing\\n but a rude one"
"""


@pytest.fixture
def figure(tmp_path: Path, corpora: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    small = reviews.splits(train=60, dev=10, test=10)
    monkeypatch.setattr(reviews, "splits", lambda: small)
    (tmp_path / "figure.toml").write_text(TOML, encoding="utf-8")
    return read_table(tmp_path / "figure.toml", "paper/figure")


@pytest.fixture
def rows(figure: Table) -> list[dict[str, Any]]:
    results = []
    for cell in figure.cells():
        weights.check(cell)
        for result in weights.run(cell, [0], Context("cpu", Silent())):
            results.append(complete(cell, figure.name, "cpu", result))
    return results


def test_rows_hold_numbers_and_the_texts_to_draw(rows: list[dict[str, Any]]) -> None:
    assert [len(row["texts"]) for row in rows] == [2, 2, 2, 2]
    for row in rows:
        hierarchical = row["corpus"] == "own"
        assert {"accuracy", "spread", "top_three"} <= set(row["values"])
        assert ("spread_sentences" in row["values"]) == hierarchical
        assert ("lift" in row["values"]) == hierarchical, "only of the built-in reviews are deciding words known"
        assert ("norm" in row["values"]) == (row["method"] == "apln")
        assert 0 < row["values"]["spread"] <= 1
        for text in row["texts"]:
            assert sum(token["weight"] for token in text["tokens"]) == pytest.approx(1)
            assert ("sentences" in text, "label" in text) == (hierarchical, hierarchical)
    assert rows[-1]["texts"][1]["text"] == "but a rude one"


def test_one_figure_per_corpus_with_every_method_and_its_norm(figure: Table, rows: list[dict[str, Any]]) -> None:
    drawn = weights.draw(figure, rows)
    assert set(drawn) == {"own", "films"}
    for name, svg in drawn.items():
        tree = ElementTree.fromstring(svg)
        words = [text.text or "" for text in tree.iter("{http://www.w3.org/2000/svg}text")]
        assert words[0] == f"Figure 9: {figure.corpora[name].title}"
        assert sum(word == "Attention & co." for word in words) == 2
        assert sum(word.startswith("APLN, p of words ") for word in words) == 2
        panels = list(tree.iter("{http://www.w3.org/2000/svg}svg"))[1:]
        ends = [float(panel.attrib["y"]) + float(panel.attrib["height"]) for panel in panels]
        assert len(panels) == 4
        assert max(ends) <= float(tree.attrib["height"])
        columns = {panel.attrib["x"] for panel in panels}
        assert len(columns) == (2 if name == "own" else 1), (
            "panels of hierarchical models are side by side, flat ones below each other"
        )


def test_nothing_is_drawn_without_a_seed_that_all_methods_have(figure: Table, rows: list[dict[str, Any]]) -> None:
    moved = [{**row, "seed": 1} if row["method"] == "apln" else row for row in rows]
    assert weights.draw(figure, moved) == {}
    assert weights.draw(figure, []) == {}


def test_on_cuda_all_seeds_of_a_cell_are_trained_together(figure: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[int]] = []

    def stacked(
        config: Config, parts: Parts, seeds: list[int], recorder: object, *_: object
    ) -> list[Trained | InputError]:
        calls.append(list(seeds))
        one = fit(config.override({"device": "cpu"}), parts)
        return [one, InputError("training diverged")]

    monkeypatch.setattr(fit_stacked, "fit_stacked", stacked)
    cell = list(figure.cells())[-1]
    good, failed = weights.run(cell, [4, 5], Context("cuda", Silent()))
    assert calls == [[4, 5]]
    assert (good["seed"], good["stacked"], len(good["texts"])) == (4, 2, 2)
    assert (failed["seed"], failed["error"]) == (5, "training diverged")


def test_the_effective_share() -> None:
    assert weights.effective_share([0.25] * 4) == pytest.approx(1)
    assert weights.effective_share([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert weights.effective_share([0.5, 0.5, 0.0, 0.0]) == pytest.approx(0.5)
    assert weights.effective_share([0.75, 0.25]) == pytest.approx(
        math.exp(0.75 * math.log(4 / 3) + 0.25 * math.log(4)) / 2
    )
    assert weights.effective_share([0.0, 0.0]) == 0


def test_texts_of_other_corpora_are_not_drawn(tmp_path: Path, corpora: Path) -> None:
    changed = TOML.replace('quoted = "a warm thing\\n but a rude one"', "drawn = 1")
    (tmp_path / "figure.toml").write_text(changed, encoding="utf-8")
    cell = list(read_table(tmp_path / "figure.toml", "paper/figure").cells())[-1]
    with pytest.raises(InputError, match="`drawn` is for the built-in reviews only; use `quoted` for films"):
        weights.check(cell)
