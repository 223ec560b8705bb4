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
from regard.commands import reading
from regard.explain import top_words as module
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


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("most", [1, 3])
def test_many_texts_are_read_like_few(task: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = make("units", task)
    texts = [*TEXTS, "un café très bon, very good", "", "zzzz", "good", "— good good —"] * 2
    few = list(explain_top(trained, texts, most))
    monkeypatch.setattr(module, "MANY", 1)
    monkeypatch.setattr(module, "PIECE", 5)
    for one, other in zip(few, explain_top(trained, texts, most), strict=True):
        assert (one.target, one.prediction.value if task != "regression" else None) == (
            other.target,
            other.prediction.value if task != "regression" else None,
        )
        assert sorted(value for _, value in one.words) == pytest.approx(sorted(x for _, x in other.words), abs=1e-5)
        if len({round(abs(value), 4) for _, value in one.words}) == len(one.words):  # no ties
            assert [word for word, _ in one.words] == [word for word, _ in other.words]


def test_lines_from_numbers_are_those_of_records(regard: Regard, run: Path, tmp_path: Path) -> None:
    """One model is written from arrays; the same model twice, from records."""
    rows = ["good food", "très “bon” café", "a {brace} and a \\ back\tslash", "", "bad, bad food!"] * 3
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(json.dumps({"text": row}) + "\n" for row in rows if row), encoding="utf-8")
    top = ("--top", "2", "--format", "jsonl")
    fast = regard("explain", run, "--file", source, *top).out.splitlines()
    twice = regard("explain", run, "--file", source, "--beside", run, *top).out.splitlines()
    expected = [line.replace(f', "run": {json.dumps(str(run))}', "") for line in twice[::2]]
    assert fast == expected
    assert len(fast) == 12
    assert regard("explain", run, "--file", source, *top, "--limit", "4").out.splitlines() == fast[:4]
    chosen = regard("explain", run, "--file", source, *top, "--target", json.loads(fast[0])["target"])
    assert chosen.out.splitlines()[0] == fast[0]


@pytest.mark.parametrize("top", [["--top", "1"], []], ids=["words", "explanations"])
def test_a_large_file_is_read_while_lines_are_written(
    top: list[str], regard: Regard, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "texts.jsonl", tmp_path / "words.jsonl"
    source.write_text('{"text": "good food"}\n' * 5 + '{"text": 3}\n' + '{"text": "bad"}\n', encoding="utf-8")
    command = ("explain", run, "--file", source, *top, "--out", out)
    held = regard(*command, "--skip-bad-rows")
    lines = out.read_text(encoding="utf-8")
    monkeypatch.setattr(reading, "LARGE", 1)
    streamed = regard(*command, "--skip-bad-rows")
    assert out.read_text(encoding="utf-8") == lines
    assert (held.code, streamed.code, len(lines.splitlines())) == (0, 0, 6)
    assert "1 row was skipped" in held.err
    assert "1 row was skipped" in streamed.err
    out.unlink()
    failed = regard(*command)
    assert (failed.code, out.exists()) == (2, False)
    assert "row 6" in failed.error


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
