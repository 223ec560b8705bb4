"""The K words that matter most, by the engine that reads many texts at once and by any other model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from drawn_models import TEXTS, make
from hypothesis import given
from hypothesis import strategies as st

from command import Regard
from regard.explain.explain import explain
from regard.explain.top_words import explain_top
from regard.kernels.strongest import strongest


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.5, -3.0]), max_size=9), max_size=4), st.integers(1, 5))
def test_the_largest_come_first_and_of_equal_ones_the_earlier(texts: list[list[float]], most: int) -> None:
    bounds = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    picked, starts = strongest(np.array([x for text in texts for x in text], dtype=np.float64), bounds, most)
    for row, text in enumerate(texts):
        expected = sorted(range(len(text)), key=lambda k: -abs(text[k]))[:most]
        assert (picked[starts[row] : starts[row + 1]] - bounds[row]).tolist() == expected


@pytest.mark.parametrize("variant", ["units", "bilstm"])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_they_are_the_strongest_of_the_explanation(variant: str, task: str) -> None:
    trained = make(variant, task)
    texts = [*TEXTS, "un café très bon, very good"]
    for whole, top in zip(explain(trained, texts), explain_top(trained, texts, 3), strict=True):
        ranked = sorted(whole.tokens, key=lambda token: -abs(token.contribution or 0.0))[:3]
        assert top.words == tuple((token.text, token.contribution) for token in ranked)
        assert (top.prediction, top.target) == (whole.prediction, whole.target)


def test_the_command_writes_compact_lines(regard: Regard, run: Path, table: Path) -> None:
    whole = [json.loads(line) for line in regard("explain", run, "--file", table, "--format", "jsonl").out.splitlines()]
    top = regard("explain", run, "--file", table, "--format", "jsonl", "--top", "2").out.splitlines()
    sheet = regard("explain", run, "--file", table, "--format", "csv", "--top", "2").out.splitlines()
    assert len(whole) == len(top) > 0
    assert sheet[0] == "row,prediction,word,contribution,target"
    assert len(sheet) == 1 + sum(len(json.loads(line)["words"]) for line in top)
    for one, line in zip(whole, top, strict=True):
        row = json.loads(line)
        assert list(row) == ["row", "text", "prediction", "probabilities", "target", "words"]
        assert {name: row[name] for name in ("row", "text", "prediction", "target")} == {
            name: one[name] for name in ("row", "text", "prediction", "target")
        }
        ranked = sorted(one["tokens"], key=lambda token: -abs(token["contribution"]))[:2]
        assert row["words"] == [{"word": x["text"], "contribution": x["contribution"]} for x in ranked]


def test_formats_that_show_every_word_are_refused(regard: Regard, run: Path) -> None:
    result = regard("explain", run, "good food", "--top", "2", "--format", "html")
    assert (result.code, "--top: expected --format jsonl or csv" in result.error) == (2, True)
    assert "--top: expected a number of words from 1, got 0" in (
        regard("explain", run, "good food", "--top", "0", "--format", "jsonl").error
    )
