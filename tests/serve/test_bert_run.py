"""A run with a pretrained encoder, from training to every page: it reads word pieces, and all output is in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from serving import Serving, serving

from command import Regard, write_csv
from regard.cli import main
from regard.data.words import spans
from regard.explain.explainers import EXPLAINERS
from regard.models.folder import load
from regard.models.trained import Trained
from regard.serve.methods import MAX_WORK, REFERENCE_WEIGHTS, budget
from tiny_bert import save_bert

pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")

TEXT = "The food was unbelievably lovely, isn't it? 好 zzz\nIt wasn't wonderful."
OPINIONS = (
    ("lovely", "good"),
    ("wonderful", "good"),
    ("great", "good"),
    ("rude", "bad"),
    ("poor", "bad"),
    ("bad", "bad"),
)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    things = product(("food", "film", "service", "story", "number"), OPINIONS)
    rows = [(f"The {thing} wasn't so unbelievably {how}. It was {how}.", label) for thing, (how, label) in things]
    return write_csv(tmp_path_factory.mktemp("bert") / "texts.csv", rows)


@pytest.fixture(scope="module", params=[1, 2])
def run(request: pytest.FixtureRequest, texts: Path) -> Path:
    pretrained, folder = texts.parent / "tiny", texts.parent / f"levels-{request.param}"
    if not pretrained.exists():
        save_bert(pretrained)
    encoder = "bert" if request.param == 1 else "bert,lstm"
    options = ("--encoder", encoder, "--levels", request.param, "--pretrained", pretrained, "--hidden", 6, "--query", 6)
    arguments = ("train", texts, "--dev", texts, *options, "--epochs", 1, "--device", "cpu", "--out", folder)
    assert main(list(map(str, arguments))) == 0
    return folder


@pytest.fixture(scope="module")
def served(run: Path) -> Iterator[Serving]:
    with serving(run) as server:
        yield server


@pytest.mark.parametrize("method", EXPLAINERS)
def test_every_explainer_scores_words(method: str, served: Serving) -> None:
    answer = served.ask("/api/explain", text=TEXT, method=method)
    assert answer.status == 200, answer.body
    (result,) = answer.value["results"]
    assert [(token["start"], token["end"]) for token in result["tokens"]] == spans(TEXT)
    assert "unbelievably" in [token["text"] for token in result["tokens"]]
    assert all(isinstance(token["score"], float) for token in result["tokens"])


@pytest.mark.parametrize("method", ["attention", "gradient_times_input"])
def test_crossing_out_a_word_erases_all_its_pieces(method: str, served: Serving) -> None:
    text = "The food was unbelievably lovely"
    (crossed,) = served.ask("/api/explain", text=text, without=[3], method=method).value["results"]
    (unwritten,) = served.ask("/api/explain", text="The food was lovely", method=method).value["results"]
    assert crossed["probabilities"] == pytest.approx(unwritten["probabilities"], abs=1e-6)
    left = [token["score"] for token in crossed["tokens"] if token["score"] is not None]
    assert left == pytest.approx([token["score"] for token in unwritten["tokens"]], abs=1e-6)


def test_long_texts_are_read_in_windows_or_refused(served: Serving) -> None:
    assert len(served.ask("/api/explain", text="good " * 1000).value["results"][0]["tokens"]) == 1000
    answer = served.ask("/api/explain", text="good " * 50_000, method="integrated_gradients")
    assert answer.status == 400
    assert re.fullmatch(
        r"integrated_gradients: expected at most [\d,]+ words, got 50,000; more would take too long", answer.error
    )


def test_a_larger_encoder_has_a_smaller_budget(run: Path) -> None:
    tiny = load(run)
    assert budget(tiny) == MAX_WORK
    weights = {"levels.0.encoder.layer": np.broadcast_to(np.float32(0), (2 * REFERENCE_WEIGHTS,))}
    assert budget(Trained(tiny.config, tiny.tokenizer, tiny.task, weights=weights)) == MAX_WORK / 2


def test_the_command_line_explains_words(run: Path, regard: Regard) -> None:
    result = regard("explain", run, TEXT, "--format", "jsonl")
    assert result.code == 0, result.err
    explanation = json.loads(result.out)
    assert [token["text"] for token in explanation["tokens"]] == [TEXT[a:b] for a, b in spans(TEXT)]


def test_the_report_shows_texts_in_words(run: Path, texts: Path, regard: Regard, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = regard("report", run, "--data", texts, "--out", page)
    assert result.code == 0, result.err
    section = re.search(r'<section aria-labelledby="texts">.*?</section>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert section
    assert ">unbelievably<" in section[0]
    assert "##" not in section[0]  # only the section on word vectors lists pieces


def test_the_audit_reports_words(run: Path, texts: Path, regard: Regard) -> None:
    result = regard("audit", run, "--data", texts, "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert "##" not in result.out
    assert facts["texts"] == 30
