"""The command line with a model of another library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Regard, write_csv
from tiny_bert import save_classifier

pytestmark = pytest.mark.filterwarnings("ignore")  # of transformers
ROWS = [("good food", "pos"), ("bad food", "neg"), ("it was great. so good!", "pos")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return save_classifier(tmp_path_factory.mktemp("wrapped") / "tiny")


@pytest.mark.parametrize("form", ["option", "equals", "run"])
def test_explain(regard: Regard, folder: Path, form: str) -> None:
    model = f"hf:{folder}"
    named = {"option": ["--model", model], "equals": [f"--model={model}"], "run": [model]}[form]
    done = regard("explain", *named, "good food", "--format", "jsonl", "--device", "cpu")
    assert done.code == 0, done.err
    row = json.loads(done.out)
    assert [token["text"] for token in row["tokens"]] == ["good", "food"]
    assert any(token["contribution"] for token in row["tokens"])


def test_explain_refuses_what_needs_more_than_predictions(regard: Regard, folder: Path) -> None:
    done = regard("explain", "good food", "--model", f"hf:{folder}", "--method", "attention", "--device", "cpu")
    assert done.code == 2
    assert "for tiny, of which only predictions are available, got 'attention'" in done.error


def test_predict_and_evaluate(regard: Regard, folder: Path, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "texts.csv", ROWS)
    done = regard("predict", table, "--model", f"hf:{folder}", "--format", "jsonl", "--device", "cpu")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [set(row["probabilities"]) for row in rows] == [{"neg", "pos"}] * 3
    done = regard("evaluate", "--model", f"hf:{folder}", table, "--json", "--device", "cpu")
    right = sum(row["prediction"] == label for row, (_, label) in zip(rows, ROWS, strict=True))
    assert json.loads(done.out)["accuracy"] == pytest.approx(right / 3)


def test_commands_about_the_inside_of_a_model_need_a_run(regard: Regard, folder: Path) -> None:
    done = regard("analyse", f"hf:{folder}")
    assert done.code == 2
    assert "expected the folder that `regard train` wrote, got a model of another library" in done.error


@pytest.mark.parametrize("model", ["hf:nowhere", "fasttext:nowhere.bin"])
def test_a_missing_model_is_named(regard: Regard, model: str) -> None:
    if model.startswith("fasttext"):
        pytest.importorskip("fasttext")
    done = regard("explain", "--model", model, "a text", "--device", "cpu")
    assert done.code == 2
    assert done.error.startswith("nowhere")
    assert f"{model}: there is no 'nowhere" in regard("serve", "--model", model).error


def test_the_option_needs_a_value(regard: Regard) -> None:
    assert "--model" in regard("explain", "--model").error


def test_audit(regard: Regard, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = write_csv(tmp_path / "texts.csv", ROWS)
    named = ("--model", f"hf:{folder}", "--data", table, "--device", "cpu")
    done = regard("audit", *named)
    assert done.code == 0, done.err
    facts = json.loads((tmp_path / "audit" / "audit.json").read_text(encoding="utf-8"))
    assert facts["focus"] == "leave_one_out"
    assert [one["name"] for one in facts["explainers"]][:2] == ["leave_one_out", "surrogate"]
    assert "of which only predictions" in regard("audit", *named, "--explainers", "gradient").error


def test_report(regard: Regard, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = write_csv(tmp_path / "texts.csv", ROWS)
    done = regard("report", "--model", f"hf:{folder}", "--data", table, "--device", "cpu")
    assert done.code == 0, done.err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "tiny, of which only predictions are available" in page
    assert "no words by class: only predictions of this model are available" in page
    assert "Audits of models from other libraries are separate pages" in page
