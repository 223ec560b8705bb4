"""Runs built to deserve each verdict, what is left out and why, and the same file for the same seed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited import hardly_varies, made_model, one_decides, points_elsewhere, the_cause

from command import Regard, write_csv
from regard.audit import training_texts
from regard.audit.audit_run import DIAGNOSTICS, TRAINING, AuditOptions, Wish, audit_run
from regard.audit.retraining import EVEN, make_retraining
from regard.config import Config
from regard.data.rationales import Rationales
from regard.data.read_options import ReadOptions
from regard.data.readers import read, stream
from regard.data.synthetic import TwoClasses, data_one
from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.facts.audit import AuditFacts
from regard.models.folder import save
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.report.pages.audit_evidence import PARTS, evidence
from regard.report.pages.audit_figures import audit_figures
from regard.report.text.audit_tables import audit_tables
from regard.training.fit import Parts, fit

PLAIN, AGAIN = AuditOptions(), AuditOptions(retrain=True)


def said(found: dict[str, Any]) -> str:
    return " ".join(one["text"] for kind in ("may", "may_not", "change") for one in found["verdict"][kind])


def test_attention_that_is_the_cause_is_faithful() -> None:
    found = audit_run(the_cause(), one_decides(80), PLAIN)
    assert found["verdict"]["name"] == "faithful", found["verdict"]
    assert "can be read as a ranking of the words that the model decides by" in said(found)
    assert found["diagnostics"]["permutation"]["moved"]["low"] > 0.3
    # the deciding word is the only one marked, and comes first in every text
    own = found["plausibility"]["explainers"][0]
    assert own["name"] == "attention"
    for measure in ("auprc", "f"):
        assert own[measure] == {"n": 80, "mean": 1.0, "low": pytest.approx(0.9542, abs=1e-4), "high": 1.0}
    assert found["separation"]["auc"] == 1.0


def test_a_trained_model_of_one_deciding_word_is_faithful() -> None:
    examples = data_one(400, 3, TwoClasses(8, 8, 40, evidence=1))
    options = {"engine": "sparse", "pairs": False, "beginnings": 0, "min_count": 1, "embedding": 20, "scale": 1.0}
    steps = {"optimizer": "sgd", "lr": 2.0, "decay": False, "patience": 0, "batch_size": 20, "dropout": 0.0}
    run = fit(
        Config().override({**options, **steps, "attention": "dot", "epochs": 40}),
        Parts(examples[:300], examples[300:350]),
    )
    found = audit_run(run, examples[300:], PLAIN)
    assert found["verdict"]["name"] == "faithful", found["verdict"]


def test_weights_that_hardly_vary_are_irrelevant() -> None:
    found = audit_run(hardly_varies(), one_decides(80), PLAIN)
    assert found["verdict"]["name"] == "irrelevant", found["verdict"]
    assert found["diagnostics"]["permutation"]["uneven"]["high"] < 0.01
    # the order still finds the word, and the verdict says so, but of the order only
    assert "Only the order of attention can be read, not its values" in said(found)
    assert "smaller λ" in said(found)


def test_attention_on_a_word_that_says_nothing_misleads() -> None:
    found = audit_run(points_elsewhere(), one_decides(80, loud=True), PLAIN)
    assert found["verdict"]["name"] == "misleading", found["verdict"]
    assert found["verdict"]["checks"]["below_chance"]
    assert "cannot be read as importance" in said(found)
    assert "--vtw" in said(found)
    assert found["plausibility"]["above_chance"]["high"] < 0


def test_few_texts_are_inconclusive_whatever_they_show() -> None:
    found = audit_run(the_cause(), one_decides(8), PLAIN)
    assert found["verdict"]["name"] == "inconclusive"
    assert "8 different texts are fewer than the 30" in said(found)
    assert found["verdict"]["may"] == []
    assert "Use more texts" in said(found)


def test_one_text_of_one_word_is_told_of_without_numbers() -> None:
    found = audit_run(the_cause(), [Example("p1", "positive")], PLAIN)
    json.dumps(found, allow_nan=False)
    assert found["verdict"]["name"] == "inconclusive"
    assert found["diagnostics"]["permutation"]["moved"]["mean"] is None


def test_texts_without_labels_leave_out_what_needs_them() -> None:
    found = audit_run(the_cause(), [replace(x, label=None, evidence=()) for x in one_decides(40)], PLAIN)
    left = {one["what"]: one["why"] for one in found["left_out"]}
    assert set(left) == {"accuracy_after", "accuracy_fall", "post_hoc", "plausibility", "separation", *TRAINING}
    assert left["post_hoc"] == left["separation"] == "not every text has a label"
    assert {one["measure"] for one in found["faithfulness"]["curves"]} == {
        "comprehensiveness",
        "sufficiency",
        "flipped",
    }
    assert found["verdict"]["name"] == "faithful"


def test_unknown_words_and_several_classes() -> None:
    words = {f"c{k}": tuple(4.0 * (j == k) for j in range(3)) for k in range(3)}
    model = made_model(dict.fromkeys(words, 2.0), words, 3)
    texts = [Example(f"x{n} c{n % 3} y z{n}", str(n % 3)) for n in range(40)]
    found = audit_run(model, texts, PLAIN)
    json.dumps(found, allow_nan=False)
    assert found["classes"] == ["0", "1", "2"]
    assert not found["diagnostics"]["adversary"]["exact"]
    assert found["verdict"]["checks"]["above_chance"]


def test_what_is_written_fits_together() -> None:
    model, examples = the_cause(), one_decides(120)
    found = audit_run(model, examples, AuditOptions(explainers=["gradient_times_input", "random"], limit=110))
    assert [one["name"] for one in found["explainers"]] == ["attention", "gradient_times_input", "random"]
    assert found["texts"] == 110
    assert len(found["details"]) == 100
    assert {one["explainer"] for one in found["faithfulness"]["curves"]} == {
        "attention",
        "gradient_times_input",
        "random",
    }
    one = found["details"][0]
    assert set(one["scores"]) == {"attention", "gradient_times_input"}
    (own,) = attribute(model, [one["text"]], "attention")
    assert one["scores"]["attention"] == pytest.approx(own.scores, abs=1e-4)
    assert [tuple(span) for span in one["spans"]] == list(own.spans)
    assert one["decided"] == int(np.argmax(one["probabilities"]))
    compared = [each for each in found["faithfulness"]["comparisons"] if each["p"] is not None]
    assert all(each["holm"] >= each["p"] for each in compared)
    assert len(found["diagnostics"]["permutation"]["by_text"]["moved"]) == 110


def test_the_same_seed_gives_the_same_file_and_another_seed_another() -> None:
    model, examples = the_cause(), one_decides(60)
    one, again, other = (
        json.dumps(audit_run(model, examples, AuditOptions(limit=40, seed=seed)), allow_nan=False) for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other


def test_any_diagnostic_can_be_left_out() -> None:
    found = audit_run(the_cause(), one_decides(6), AuditOptions(["tfidf"], without=("adversary",)))
    assert set(found["diagnostics"]) == {"permutation"}
    left = {one["what"]: one["why"] for one in found["left_out"]}
    assert left["adversary"] == "left out as requested"
    assert left["correlation"] == "neither gradient nor leave_one_out is among the explainers"
    assert found["verdict"]["checks"]["keeps_up"] is None


def test_the_old_name_of_the_options_still_works() -> None:
    assert Wish is AuditOptions


def test_weights_held_even_are_even() -> None:
    retraining = make_retraining(the_cause(), [], None, 0, one_decides(40))
    (found,) = attribute(retraining.fit(Silent(), "even", scale=EVEN), ["p1 o1 o2 n3"], "attention")
    assert found.scores == pytest.approx([0.25] * 4)


@pytest.fixture(scope="module")
def retrained() -> dict[str, Any]:
    return audit_run(the_cause(), one_decides(40), AGAIN, learned_from=one_decides(200, seed=1))


def test_diagnostics_that_train(retrained: dict[str, Any]) -> None:
    json.dumps(retrained, allow_nan=False)
    found = retrained["diagnostics"]
    assert set(found) == {"correlation", "permutation", "adversary", *TRAINING}
    assert found["even"]["learned_from"] == 200
    assert found["seeds"]["seeds"] == 3
    assert len(found["seeds"]["by_text"]["divergence"]) == 40
    assert found["guided"]["guided"]["n"] == 40
    assert [point["factor"] for point in found["trained_adversary"]["points"]] == [0.0, 0.01, 0.1, 1.0]


def test_attention_of_the_cause_guides_another_model(retrained: dict[str, Any]) -> None:
    found = retrained["diagnostics"]["guided"]
    assert found["guided"]["mean"] > 0.9
    assert found["guided_less_even"]["mean"] >= 0


def test_every_part_of_an_audit_is_on_its_page(retrained: dict[str, Any]) -> None:
    found = audit_run(the_cause(), one_decides(40))
    assert found.page() == audit_run(the_cause(), one_decides(40)).page()
    more = audit_run(
        the_cause(), one_decides(120), AuditOptions(["tfidf"])
    )  # 40 have too few words for a separation's interval
    retrained = retrained | {"separation": more["separation"]}
    facts = AuditFacts.from_json(retrained)
    figures, tables = audit_figures(facts), audit_tables(facts)
    assert {*DIAGNOSTICS, "faithfulness", "differences", "separation", "plausibility"} == set(figures)
    parts = evidence(figures, tables)
    assert set(retrained["diagnostics"]) <= set(parts)
    assert set(figures) == {name for part in PARTS.values() for name in part.figures}
    assert set(tables) == {name for part in PARTS.values() for name in part.tables}
    for kind in ("may", "may_not", "change"):
        for sentence in retrained["verdict"][kind]:
            assert sentence["evidence"] in parts


def test_an_adversary_with_more_to_gain_looks_farther_away(retrained: dict[str, Any]) -> None:
    points = retrained["diagnostics"]["trained_adversary"]["points"]
    assert points[-1]["divergence"]["mean"] > points[0]["divergence"]["mean"]
    assert points[-1]["distance"]["mean"] >= points[0]["distance"]["mean"]
    assert all(0 <= point["divergence"]["mean"] <= 0.6932 for point in points)


def test_training_again_gives_the_same_numbers(retrained: dict[str, Any]) -> None:
    again = audit_run(the_cause(), one_decides(40), AGAIN, learned_from=one_decides(200, seed=1))
    assert json.dumps(again) == json.dumps(retrained)


def test_a_run_that_cannot_be_trained_again_says_why() -> None:
    found = audit_run(the_cause(), one_decides(40), AGAIN)
    left = {one["what"]: one["why"] for one in found["left_out"]}
    assert {left[name] for name in TRAINING} == {"the run does not say what it was trained on"}


def test_no_model_learns_again_from_a_text_that_is_audited() -> None:
    examples = one_decides(100)
    found = audit_run(the_cause(), examples[:40], AuditOptions(["gradient"], retrain=True), learned_from=examples)
    assert found["diagnostics"]["even"]["learned_from"] == 60
    left = {x["what"]: x["why"] for x in audit_run(the_cause(), examples, AGAIN, learned_from=examples)["left_out"]}
    assert {left[name] for name in TRAINING} == {
        "every training text of the run is audited, so none is left to learn from"
    }


@pytest.mark.parametrize("asked", [None, ["gradient", "leave_one_out"]])
def test_a_text_too_long_for_leave_one_out_has_no_scores_by_it_and_others_have(asked: list[str] | None) -> None:
    examples = [*one_decides(40), Example("p1 " * 5001, "positive", evidence=((0, 2),))]
    found = audit_run(the_cause(), examples, AuditOptions(asked, without=("adversary",)))
    assert found["notes"] == [
        "leave one out: 1 of 41 texts has more than 5,000 words, each of which would take a pass, and no scores by it; "
        "what is said of it is of the others"
    ]
    assert "leave_one_out" not in {one["what"] for one in found["left_out"]}
    counted = {one["explainer"]: one["mean"]["n"] for one in found["faithfulness"]["curves"]}
    assert counted.pop("leave_one_out") == 40
    assert set(counted.values()) == {41}
    compared = {one["other"]: one["n"] for one in found["faithfulness"]["comparisons"]}
    assert (compared["leave_one_out"], compared["gradient"]) == (40, 41)
    for one in found["agreement"]:
        assert one["overlap"]["n"] == one["overlap_by_chance"]["n"] == one["divergence"]["n"]
        assert one["overlap"]["n"] == (40 if "leave_one_out" in (one["one"], one["other"]) else 41)
    assert found["diagnostics"]["correlation"]["leave_one_out"]["tau"]["n"] == 40
    marked = {one["name"]: (one["auprc"]["n"], one["f"]["n"]) for one in found["plausibility"]["explainers"]}
    assert (marked["leave_one_out"], marked["attention"]) == ((40, 40), (41, 41))
    assert [name for name in found["details"][0]["scores"] if name not in found["details"][40]["scores"]] == [
        "leave_one_out"
    ]
    costs = {one["name"]: one.get("forward") for one in found["explainers"]}
    assert costs["leave_one_out"] == 9.0, "the text, and the text without each of its eight words"
    assert found.page()


def test_numbers_without_leave_one_out_are_the_same_with_it() -> None:
    examples = [*one_decides(40), Example("p1 " * 5001, "positive")]
    one, other = (
        audit_run(the_cause(), examples, AuditOptions(asked, without=("adversary",)))
        for asked in (["gradient"], ["gradient", "leave_one_out"])
    )
    assert one["faithfulness"]["lead"] == other["faithfulness"]["lead"]
    assert [curve for curve in other["faithfulness"]["curves"] if curve["explainer"] != "leave_one_out"] == (
        one["faithfulness"]["curves"]
    )


def test_what_refuses_most_of_the_texts_is_left_out_unless_it_was_asked_for() -> None:
    examples = [*one_decides(1), Example("p1 " * 5001, "positive"), Example("n1 " * 5002, "negative")]
    found = audit_run(the_cause(), examples, AuditOptions(without=DIAGNOSTICS))
    assert "leave_one_out" not in [one["name"] for one in found["explainers"]]
    (why,) = (one["why"] for one in found["left_out"] if one["what"] == "leave_one_out")
    assert why.startswith("text 2: expected at most 5000 words, got 5001")
    with pytest.raises(InputError, match="leave_one_out, text 2: expected at most 5000 words, got 5001"):
        audit_run(the_cause(), examples, AuditOptions(["leave_one_out"]))


def test_a_very_long_text_has_no_farthest_weights_and_others_do() -> None:
    """Of 50,000 words all pairs would take minutes, and a square of them all memory."""
    examples = [*one_decides(2), Example("p1 o1 " * 25_000, "positive")]
    found = audit_run(the_cause(), examples, AuditOptions(["tfidf"]))["diagnostics"]
    assert [value is None for value in found["adversary"]["by_text"]["divergence"]] == [False, False, True]
    assert found["permutation"]["moved"]["n"] == 3


def test_on_three_even_words_no_weights_are_far() -> None:
    """Whatever the weights: all on one of three places lies 0.318 away, less than half of log 2."""
    same = made_model({}, {"p1": (5.0,)})
    found = audit_run(
        same, [Example(f"p1 {'p1 ' * (n % 2)}p1", "positive") for n in range(40)], AuditOptions(["tfidf"])
    )
    adversary = found["diagnostics"]["adversary"]
    assert (adversary["far"]["mean"], adversary["far_of_possible"]["n"]) == (0.0, 0)
    assert adversary["divergence"]["mean"] == pytest.approx((0.3183 + 0.2158) / 2, abs=1e-3)


def test_an_audit_of_the_training_texts_says_so(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.csv", tmp_path / "other.csv"
    mine.touch()
    other.touch()
    again = f"{tmp_path}/../{tmp_path.name}/mine.csv"
    model, found = the_cause(), []
    # of a corpus the test part is audited
    for learned, data in ((mine, mine), (mine, again), (mine, other), ("corpus", "corpus")):
        model.config = model.config.override({"train": str(learned)})
        notes = audit_run(model, one_decides(3), AuditOptions(["tfidf"], data=str(data)))["notes"]
        found.append(any("learned from these texts" in note for note in notes))
    assert found == [True, True, False, False]


def test_an_audit_tells_how_many_texts_were_trained_with() -> None:
    texts = one_decides(5)
    notes = audit_run(the_cause(), texts, AuditOptions(["tfidf"]), learned_from=[*texts[:2], *one_decides(9, seed=1)])[
        "notes"
    ]
    assert any(note.startswith("2 of these 5 texts stand word for word among those") for note in notes)


def test_one_text_that_was_trained_with_is_told_of_as_one() -> None:
    texts = one_decides(5)
    notes = audit_run(the_cause(), texts, AuditOptions(["tfidf"]), learned_from=[texts[0], *one_decides(9, seed=1)])[
        "notes"
    ]
    assert any(note.startswith("1 of these 5 texts stands word for word among those") for note in notes)


def test_texts_of_which_the_model_knows_no_word_and_one_answer_to_all_are_told_of() -> None:
    strange, known = [Example(f"x{n} y z{n}", "negative") for n in range(3)], [Example("p1 o1", "positive")]
    assert audit_run(the_cause(), strange + known, AuditOptions(["tfidf"]))["notes"] == [
        "3 of 4 texts have no word that the model knows"
    ]
    assert audit_run(the_cause(), known * 2, AuditOptions(["tfidf"]))["notes"] == [
        "1 of 2 texts is a duplicate, which intervals count as a text of its own",
        "all 2 texts get the same answer, 'positive': what is said is of this answer alone",
    ]


def test_the_training_texts_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = one_decides(60)
    path = write_csv(tmp_path / "learned.csv", [(example.text, example.label) for example in learned])
    opened = []
    monkeypatch.setattr(training_texts, "stream", lambda *given: opened.append(given) or stream(*given))
    model = the_cause()
    model.config = model.config.override({"train": str(path)})
    without = ("correlation", "permutation", "adversary", "seeds", "guided", "trained_adversary")
    found = audit_run(model, learned[:30], AuditOptions(["tfidf"], retrain=True, without=without))
    assert found["diagnostics"]["even"]["learned_from"] == 30
    assert found["notes"] == [
        "30 of these 30 texts stand word for word among those that the run was trained with: the model is more "
        "confident on such texts than on others"
    ]
    assert len(opened) == 1


def test_without_labels_models_are_judged_on_training_texts_held_back() -> None:
    texts = [replace(example, label=None) for example in one_decides(30)]
    found = audit_run(the_cause(), texts, AGAIN, learned_from=one_decides(100, seed=1))["diagnostics"]
    assert (found["even"]["learned_from"], found["even"]["judged_on"]) == (80, 20)
    assert found["trained_adversary"]["points"][0]["accuracy"] is None


def trained(**options: Any) -> Trained:
    small = {"embedding": 8, "hidden": 8, "query": 8, "epochs": 1, "min_count": 1, "device": "cpu"}
    return fit(Config().override({**small, **options}), Parts(one_decides(40)))


@pytest.mark.parametrize("pooling", ["apln", "bottleneck", "attention"])
def test_levels_and_other_poolings_have_every_diagnostic(pooling: str) -> None:
    model = trained(encoder="cnn", levels=2, pooling=f"attention,{pooling}")
    texts = [replace(x, text=x.text.replace(" o1 ", " o1. ") + ". O2 again.", evidence=()) for x in one_decides(6)]
    found = audit_run(model, texts, AuditOptions(retrain=True), learned_from=one_decides(30, seed=1))
    json.dumps(found, allow_nan=False)
    assert set(found["diagnostics"]) == {"correlation", "permutation", "adversary", *TRAINING}
    names = [one["name"] for one in found["explainers"]]
    assert ("attention_norm" in names) == (pooling == "apln")
    left = {one["what"]: one["why"] for one in found["left_out"]}
    assert "levels: expected a model with one level of attention, got 2" in left["separation"]


def test_attention_below_the_highest_level_has_no_weights_to_permute() -> None:
    model = trained(encoder="cnn", levels=2, pooling="attention,max")
    found = audit_run(model, one_decides(40), PLAIN)
    assert set(found["diagnostics"]) == {"correlation"}
    assert found["verdict"]["name"] != "faithful", "that weights take part in the answer was not seen"


def test_what_cannot_be_audited_is_refused_in_a_sentence() -> None:
    texts = one_decides(4)
    with pytest.raises(InputError, match="got 'max', which has no attention to audit"):
        audit_run(trained(encoder="cnn", pooling="max"), texts)
    with pytest.raises(InputError, match="task: expected a classifier, got 'regression', whose answers are numbers"):
        audit_run(
            fit(Config().override({"task": "regression"}), Parts([Example("a b", 1.0), Example("b c", 2.0)])), texts
        )
    with pytest.raises(InputError, match=r"explainers: expected names of explainers \(attention, .*\), got 'magic'"):
        audit_run(the_cause(), texts, AuditOptions(explainers=["magic"]))
    with pytest.raises(InputError, match="limit: expected at least 1, got 0"):
        audit_run(the_cause(), texts, AuditOptions(limit=0))
    with pytest.raises(InputError, match=r"without: expected diagnostics \(correlation, .*\), got 'magic'"):
        audit_run(the_cause(), texts, AuditOptions(without=["magic"]))
    with pytest.raises(InputError, match="texts: expected at least one text, got none"):
        audit_run(the_cause(), [])
    with pytest.raises(InputError, match="'odd' was not among the training labels"):
        audit_run(the_cause(), [Example("p1 o1", "odd", 3)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("audit") / "run"
    save(the_cause(), place)
    return place


@pytest.fixture(scope="module")
def texts(folder: Path) -> Path:
    return write_csv(folder.parent / "texts.csv", [(example.text, example.label) for example in one_decides(40)])


def test_the_command_prints_the_verdict_and_writes_the_file(regard: Regard, folder: Path, texts: Path) -> None:
    figures = texts.parent / "figures"
    done = regard("audit", folder, "--data", texts, "--figures", figures)
    assert done.code == 0, done.err
    assert "Attention points to the words that decide" in done.out
    assert "can be read as" in done.out
    found = json.loads((folder / "audit" / "audit.json").read_text(encoding="utf-8"))
    assert found["verdict"]["name"] == "faithful"
    assert (found["run"], found["data"]) == (str(folder), str(texts))
    page = (folder / "audit" / "audit.html").read_text(encoding="utf-8")
    assert found["verdict"]["title"] in page
    assert f"open {folder / 'audit' / 'audit.html'}" in done.out
    names = {path.name for path in figures.iterdir()}
    assert {f"permutation.{kind}" for kind in ("svg", "pdf", "csv")} <= names
    assert {"table_comparisons.tex", "table_comparisons.csv"} <= names


def test_the_command_takes_evidence_from_the_file(regard: Regard, folder: Path, tmp_path: Path) -> None:
    rows = [json.dumps({"text": x.text, "label": x.label, "evidence": x.evidence}) for x in one_decides(30)]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows), encoding="utf-8")
    done = regard("audit", folder, "--data", tmp_path / "texts.jsonl", "--json")
    assert json.loads(done.out)["plausibility"]["texts"] == 30
    assert "agrees with the words that people marked" in done.out


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    rows = [(x.text, x.label, json.dumps([list(span) for span in x.evidence])) for x in one_decides(30)]
    return write_csv(tmp_path / "marked.csv", rows, ("text", "label", "marks"))


def test_rationales_of_a_file_are_on_the_page(marked: Path) -> None:
    corpus = read(marked, ReadOptions(text="text", label="label", rationales=Rationales("marks")))
    found = audit_run(the_cause(), corpus.examples)
    assert found["plausibility"]["texts"] == 30
    page = found.page()
    assert 'id="evidence-plausibility"' in page
    assert "30 texts have words that people marked" in page
    assert audit_run(the_cause(), read(marked, ReadOptions("text", "label")).examples)["plausibility"] is None


def test_the_command_takes_rationales_from_a_column(regard: Regard, folder: Path, marked: Path) -> None:
    done = regard("audit", folder, "--data", marked, "--rationales", "marks", "--json")
    assert json.loads(done.out)["plausibility"]["texts"] == 30


def test_the_command_prints_json_and_writes_nothing(regard: Regard, folder: Path, texts: Path, tmp_path: Path) -> None:
    places = ("--out", tmp_path / "out", "--figures", tmp_path / "figures")
    done = regard("audit", folder, "--data", texts, "--json", *places, "--limit", 10)
    assert json.loads(done.out)["texts"] == 10
    assert not any((tmp_path / name).exists() for name in ("out", "figures"))


def test_bad_input_gets_one_sentence_each(regard: Regard, folder: Path, texts: Path, run: Path, tmp_path: Path) -> None:
    empty, none = tmp_path / "empty.csv", tmp_path / "none.csv"
    empty.write_text("", encoding="utf-8")
    for argv, sentence in (
        ((folder, "--data", empty), "the file is empty"),
        ((folder, "--data", none), "no such file"),
        ((folder, "--data", texts, "--out", texts), "cannot be a folder"),
        ((folder, "--data", texts, "--limit", 0), "limit: expected at least 1, got 0"),
        ((folder, "--data", texts, "--seed", -1), "seed: expected at least 0, got -1"),
        ((folder, "--data", texts, "--explainers", "magic"), "got 'magic'"),
        ((folder, "--data", texts, "--rationales", "no"), "column 'no': the row has no such field"),
        ((folder, "--data", texts, "--rationales", "text"), "expected a JSON list of [start, end] in characters"),
        ((folder, "--data", texts, "--rationales-in", "tokens"), "needs --rationales"),
        ((tmp_path / "nowhere", "--data", texts), "there is no such folder"),
        ((run, "--data", texts), "was not among the training labels"),
    ):
        done = regard("audit", *argv)
        assert done.code == 2
        assert sentence in done.complaint
