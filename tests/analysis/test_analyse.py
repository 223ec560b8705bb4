from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command import Regard, write_csv
from regard.analysis.analyse import analyse
from regard.analysis.interpretation import of_separation, of_vtw
from regard.analysis.separation import Separation
from regard.config import Config
from regard.data.synthetic import TwoClasses, classes, data_one
from regard.facts.analysis import Flow
from regard.models.trained import Trained
from regard.records import Example
from regard.training.fit import Parts, fit

FLAT = {
    "engine": "sparse",
    "pairs": False,
    "beginnings": 0,
    "min_count": 1,
    "embedding": 20,
    "scale": 2.0,
    "attention": "dot",
}
SGD = {"optimizer": "sgd", "lr": 2.0, "decay": False, "patience": 0, "batch_size": 20, "dropout": 0.0, "epochs": 30}


def known(count: int = 300) -> list[Example]:
    return data_one(count, 3, TwoClasses(8, 8, 40))


def trained(examples: list[Example], **options: object) -> Trained:
    return fit(Config().override({"members": 1, **FLAT, **SGD, **options}), Parts(examples[:250], examples[250:]))


def labels_of(run: Trained, examples: list[Example]) -> np.ndarray:
    return np.array([run.task.encode(example.label, "") for example in examples])


def test_tokens_of_known_types_are_recovered() -> None:
    examples = known()
    run = trained(examples, record="epoch", vtw=1e-3, epochs=60)
    analysis = analyse(run, [e.text for e in examples], labels_of(run, examples), "synthetic").to_json()
    json.dumps(analysis, allow_nan=False)
    assert [(one["name"], one["count"]) for one in analysis["types"]][:2] == [("negative", 8), ("positive", 8)]
    by_token = {one["token"]: one for one in analysis["tokens"]}
    assert all(by_token[f"p{k}"]["polarity"] > 0 > by_token[f"n{k}"]["polarity"] for k in range(8))
    assert {one["token"][0] for one in analysis["words"]["positive"][:8]} == {"p"}
    assert analysis["separation"]["auc"] > 0.9
    assert "readable" not in analysis["separation"]["meaning"]
    weights = run.weights
    vtw = float(weights["head.weight"][0] @ weights["levels.0.pooling.scorer.query"])
    assert analysis["vtw"]["values"][0] == pytest.approx(vtw, rel=1e-4)
    assert analysis["vtw"]["products"][0] == pytest.approx(vtw * 2, rel=1e-4)
    assert analysis["recording"]["moments"][0] == 0
    assert set(analysis["flow"]["attention"]) == {"D", "E", "F"}


def test_three_classes_and_a_lead() -> None:
    examples = classes(3, 300, 1, tokens=6, neutral=40)
    run = trained(examples)
    analysis = analyse(run, [e.text for e in examples], labels_of(run, examples), "synthetic").to_json()
    first = next(one for one in analysis["tokens"] if one["token"] == "c1t0")
    by_class = first["by_class"]
    assert max(by_class) == by_class[1]
    assert first["polarity"] == pytest.approx(by_class[1] - (by_class[0] + by_class[2]) / 2)
    assert len(analysis["vtw"]["products"]) == 3
    assert analysis["recording"] is None


def test_strongest_words_support_their_class() -> None:
    """Where few do, no others are listed in their place."""
    examples = data_one(300, 3, TwoClasses(8, 2, 20))
    run = trained(examples)
    analysis = analyse(run, [e.text for e in examples], labels_of(run, examples), "synthetic").to_json()
    assert {one["token"] for one in analysis["words"]["negative"]} >= {"n0", "n1"}
    assert all(one["polarity"] < 0 for one in analysis["words"]["negative"])
    assert all(one["polarity"] > 0 for one in analysis["words"]["positive"])


def test_contexts_have_local_and_global_scores() -> None:
    examples = known(120)
    run = fit(
        Config().override({"encoder": "bilstm", "attention": "dot", "embedding": 8, "hidden": 8, "epochs": 1}),
        Parts(examples[:100], examples[100:]),
    )
    texts, labels = [e.text for e in examples], labels_of(run, examples)
    local = analyse(run, texts, labels, "synthetic").to_json()
    alone = analyse(run, texts, labels, "synthetic", contexts=False).to_json()
    assert (local["scores"], alone["scores"]) == ("local", "global")
    assert local["model"]["form"] == "DP-L"
    assert local["flow"] is None
    assert local["types"][0]["attention"] != alone["types"][0]["attention"]
    assert local["types"][0]["weight"] == alone["types"][0]["weight"]


def test_the_order_of_texts_changes_nothing() -> None:
    examples = known(200)
    run = trained(examples, epochs=3)
    texts, labels = [e.text for e in examples], labels_of(run, examples)
    once = analyse(run, texts, labels, "synthetic").to_json()
    again = analyse(run, texts[::-1], labels[::-1].copy(), "synthetic").to_json()
    assert once["separation"]["auc"] == again["separation"]["auc"]
    for term, means in once["flow"]["attention"].items():
        for name, mean in means.items():
            assert again["flow"]["attention"][term][name] == pytest.approx(mean, rel=1e-9, abs=1e-15)


def test_analysis_without_typed_words() -> None:
    examples = known(120)
    run = trained(examples, epochs=2)
    few = [Example("p0 o1 o2", "positive"), Example("n0 o1 o2", "negative")]
    analysis = analyse(run, [e.text for e in few], labels_of(run, few), "two texts").to_json()
    assert analysis["separation"] is None
    assert any("no frequent word belongs to one class" in note for note in analysis["notes"])
    assert analysis["types"][0] == {"name": "negative", "count": 0, "polarity": None, "attention": None, "weight": None}


def test_sentences_follow_the_intervals() -> None:
    clear, weak, unknown = Separation(0.9, 0.85, 0.95), Separation(0.6, 0.55, 0.65), Separation(0.1, None, None)
    low = Separation(0.3, 0.2, 0.4)
    assert "clearly" in of_separation(clear, {"a": clear}, 99, 99)
    assert "not by much" in of_separation(weak, {"a": weak}, 99, 99)
    assert "but those of 'a' below" in of_separation(clear, {"a": low, "b": clear}, 99, 99)
    assert "clearly" in of_separation(clear, {"a": unknown, "b": clear}, 99, 99)
    assert "do not separate" in of_separation(Separation(0.52, 0.45, 0.59), {}, 99, 99)
    assert "below neutral" in of_separation(low, {}, 99, 99)
    assert of_separation(unknown, {"a": unknown}, 487, 3).endswith(": only 3 neutral, at least 10 of each are needed.")
    assert of_separation(unknown, {"a": unknown}, 2, 3).endswith(
        ": only 2 of a class and 3 neutral, at least 10 of each are needed."
    )
    pulls = Flow({}, {"D": {"bad": -2.0, "good": 2.0}, "E": {"bad": 1.0, "good": 1.0}})
    assert "is 2 times as large as" in of_vtw([3.0], ("bad", "good"), pulls)
    assert "it raises the attention of 'good' words" in of_vtw([3.0], ("bad", "good"), pulls)
    pulls.attention["D"] = {"bad": -0.1, "good": 0.1}
    assert "it is not the main influence on attention" in of_vtw([3.0], ("bad", "good"), pulls)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    examples = known()
    return write_csv(tmp_path_factory.mktemp("made") / "made.csv", [(e.text, e.label) for e in examples])


@pytest.fixture(scope="module")
def flat(synthetic: Path) -> Path:
    from regard.cli import main

    folder = synthetic.parent / "flat"
    options = ["--engine", "sparse", "--no-pairs", "--beginnings", "0", "--record", "epoch", "--epochs", "5"]
    assert main(["train", str(synthetic), *options, "--out", str(folder)]) == 0
    return folder


def test_the_command_prints_a_table_and_writes_a_page(
    flat: Path, synthetic: Path, regard: Regard, tmp_path: Path
) -> None:
    result = regard("analyse", flat, "--out", tmp_path / "analysis")
    assert result.code == 0
    assert "AUC" in result.out
    assert "VᵀW" in result.out
    page = (tmp_path / "analysis" / "analysis.html").read_text()
    assert "p0" in page
    assert json.loads((tmp_path / "analysis" / "analysis.json").read_text())["data"] == str(synthetic)
    assert (tmp_path / "analysis" / "scatter.svg").exists()
    assert json.loads(regard("analyse", flat, "--data", synthetic, "--json").out)["texts"] == 300


def test_bad_input_gives_one_sentence(flat: Path, synthetic: Path, run: Path, rated: Path, regard: Regard) -> None:
    folder = synthetic.parent
    write_csv(folder / "foreign.csv", [("eins zwei drei", "positive"), ("vier fünf", "negative")])
    write_csv(folder / "other.csv", [("p0 o1 o2", "splendid"), ("n0 o1 o2", "negative")])
    (folder / "plain.txt").write_text("p0 o1\nn0 o2\n")
    for arguments, sentence in [
        ((run,), f"{run}: levels: expected a model with one level of attention, got 2"),
        ((rated,), "task: expected a classifier, because token types need classes, got 'regression'"),
        ((flat, "--data", folder / "foreign.csv"), "of which the run knows at least 20 % of the words, got 0 %"),
        ((flat, "--data", folder / "other.csv"), "the label 'splendid' was not among the training labels"),
        ((flat, "--data", folder / "plain.txt"), "label"),
        ((flat, "--data", folder / "nowhere.csv"), "no such file"),
        ((folder / "none",), "there is no such folder"),
    ]:
        result = regard("analyse", *arguments)
        assert result.code == 2, arguments
        assert sentence in result.err
        assert result.err.count("\n") <= 3
    assert not (flat / "analysis").exists()
