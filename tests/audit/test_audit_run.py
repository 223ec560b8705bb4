"""Models built for each verdict, what is left out and why, and the same file for the same seed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited import hardly_varies, model_by_hand, one_decides, points_elsewhere, the_cause

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
from regard.models.saving import save
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.report.pages.audit_evidence import PARTS, evidence
from regard.report.pages.audit_figures import audit_figures
from regard.report.text.audit_tables import audit_tables
from regard.training.fit import Parts, fit

PLAIN, RETRAIN = AuditOptions(), AuditOptions(retrain=True)


def sentences_of(facts: dict[str, Any]) -> str:
    return " ".join(one["text"] for kind in ("may", "may_not", "change") for one in facts["verdict"][kind])


def test_attention_on_the_deciding_word_is_faithful() -> None:
    facts = audit_run(the_cause(), one_decides(80), PLAIN)
    assert facts["verdict"]["name"] == "faithful", facts["verdict"]
    assert "can be read as a ranking of the words that the model bases its decision on" in sentences_of(facts)
    assert facts["diagnostics"]["permutation"]["moved"]["low"] > 0.3
    # the deciding word is the only one marked, and has the highest score in every text
    attention = facts["plausibility"]["explainers"][0]
    assert attention["name"] == "attention"
    for measure in ("auprc", "f"):
        assert attention[measure] == {"n": 80, "mean": 1.0, "low": pytest.approx(0.9542, abs=1e-4), "high": 1.0}
    assert facts["separation"]["auc"] == 1.0


def test_a_trained_model_with_one_deciding_word_is_faithful() -> None:
    examples = data_one(400, 3, TwoClasses(8, 8, 40, evidence=1))
    options = {"engine": "sparse", "pairs": False, "beginnings": 0, "min_count": 1, "embedding": 20, "scale": 1.0}
    steps = {"optimizer": "sgd", "lr": 2.0, "decay": False, "patience": 0, "batch_size": 20, "dropout": 0.0}
    run = fit(
        Config().override({**options, **steps, "attention": "dot", "epochs": 40}),
        Parts(examples[:300], examples[300:350]),
    )
    facts = audit_run(run, examples[300:], PLAIN)
    assert facts["verdict"]["name"] == "faithful", facts["verdict"]


def test_weights_that_hardly_vary_are_irrelevant() -> None:
    facts = audit_run(hardly_varies(), one_decides(80), PLAIN)
    assert facts["verdict"]["name"] == "irrelevant", facts["verdict"]
    assert facts["diagnostics"]["permutation"]["uneven"]["high"] < 0.01
    # the order still finds the word, and the verdict says so, but only about the order
    assert "Only the order of attention can be read, not its values" in sentences_of(facts)
    assert "smaller λ" in sentences_of(facts)


def test_attention_on_a_neutral_word_is_misleading() -> None:
    facts = audit_run(points_elsewhere(), one_decides(80, loud=True), PLAIN)
    assert facts["verdict"]["name"] == "misleading", facts["verdict"]
    assert facts["verdict"]["checks"]["below_chance"]
    assert "cannot be read as importance" in sentences_of(facts)
    assert "--vtw" in sentences_of(facts)
    assert facts["plausibility"]["above_chance"]["high"] < 0


def test_few_texts_are_inconclusive_whatever_they_show() -> None:
    facts = audit_run(the_cause(), one_decides(8), PLAIN)
    assert facts["verdict"]["name"] == "inconclusive"
    assert "8 different texts are fewer than the 30" in sentences_of(facts)
    assert facts["verdict"]["may"] == []
    assert "Use more texts" in sentences_of(facts)


def test_one_text_of_one_word_is_described_without_numbers() -> None:
    facts = audit_run(the_cause(), [Example("p1", "positive")], PLAIN)
    json.dumps(facts, allow_nan=False)
    assert facts["verdict"]["name"] == "inconclusive"
    assert facts["diagnostics"]["permutation"]["moved"]["mean"] is None


def test_texts_without_labels() -> None:
    facts = audit_run(the_cause(), [replace(x, label=None, evidence=()) for x in one_decides(40)], PLAIN)
    left = {one["what"]: one["why"] for one in facts["left_out"]}
    assert set(left) == {"accuracy_after", "accuracy_fall", "post_hoc", "plausibility", "separation", *TRAINING}
    assert left["post_hoc"] == left["separation"] == "not every text has a label"
    assert {one["measure"] for one in facts["faithfulness"]["curves"]} == {
        "comprehensiveness",
        "sufficiency",
        "flipped",
    }
    assert facts["verdict"]["name"] == "faithful"


def test_unknown_words_and_several_classes() -> None:
    words = {f"c{k}": tuple(4.0 * (j == k) for j in range(3)) for k in range(3)}
    model = model_by_hand(dict.fromkeys(words, 2.0), words, 3)
    texts = [Example(f"x{n} c{n % 3} y z{n}", str(n % 3)) for n in range(40)]
    facts = audit_run(model, texts, PLAIN)
    json.dumps(facts, allow_nan=False)
    assert facts["classes"] == ["0", "1", "2"]
    assert not facts["diagnostics"]["adversary"]["exact"]
    assert facts["verdict"]["checks"]["above_chance"]


def test_the_parts_of_the_file_are_consistent() -> None:
    model, examples = the_cause(), one_decides(120)
    facts = audit_run(model, examples, AuditOptions(explainers=["gradient_times_input", "random"], limit=110))
    assert [one["name"] for one in facts["explainers"]] == ["attention", "gradient_times_input", "random"]
    assert facts["texts"] == 110
    assert len(facts["details"]) == 100
    assert {one["explainer"] for one in facts["faithfulness"]["curves"]} == {
        "attention",
        "gradient_times_input",
        "random",
    }
    one = facts["details"][0]
    assert set(one["scores"]) == {"attention", "gradient_times_input"}
    (expected,) = attribute(model, [one["text"]], "attention")
    assert one["scores"]["attention"] == pytest.approx(expected.scores, abs=1e-4)
    assert [tuple(span) for span in one["spans"]] == list(expected.spans)
    assert one["decided"] == int(np.argmax(one["probabilities"]))
    compared = [each for each in facts["faithfulness"]["comparisons"] if each["p"] is not None]
    assert all(each["holm"] >= each["p"] for each in compared)
    assert len(facts["diagnostics"]["permutation"]["by_text"]["moved"]) == 110


def test_the_seed_determines_the_file() -> None:
    model, examples = the_cause(), one_decides(60)
    one, again, other = (
        json.dumps(audit_run(model, examples, AuditOptions(limit=40, seed=seed)), allow_nan=False) for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other


def test_any_diagnostic_can_be_left_out() -> None:
    facts = audit_run(the_cause(), one_decides(6), AuditOptions(["tfidf"], without=("adversary",)))
    assert set(facts["diagnostics"]) == {"permutation"}
    left = {one["what"]: one["why"] for one in facts["left_out"]}
    assert left["adversary"] == "left out as requested"
    assert left["correlation"] == "neither gradient nor leave_one_out is among the explainers"
    assert facts["verdict"]["checks"]["keeps_up"] is None


def test_the_old_name_of_the_options_still_works() -> None:
    assert Wish is AuditOptions


def test_a_huge_scale_gives_uniform_weights() -> None:
    retraining = make_retraining(the_cause(), [], None, 0, one_decides(40))
    (scored,) = attribute(retraining.fit(Silent(), "even", scale=EVEN), ["p1 o1 o2 n3"], "attention")
    assert scored.scores == pytest.approx([0.25] * 4)


@pytest.fixture(scope="module")
def retrained() -> dict[str, Any]:
    return audit_run(the_cause(), one_decides(40), RETRAIN, learned_from=one_decides(200, seed=1))


def test_diagnostics_that_train(retrained: dict[str, Any]) -> None:
    json.dumps(retrained, allow_nan=False)
    facts = retrained["diagnostics"]
    assert set(facts) == {"correlation", "permutation", "adversary", *TRAINING}
    assert facts["even"]["learned_from"] == 200
    assert facts["seeds"]["seeds"] == 3
    assert len(facts["seeds"]["by_text"]["divergence"]) == 40
    assert facts["guided"]["guided"]["n"] == 40
    assert [point["factor"] for point in facts["trained_adversary"]["points"]] == [0.0, 0.01, 0.1, 1.0]


def test_attention_on_the_deciding_word_helps_another_model(retrained: dict[str, Any]) -> None:
    facts = retrained["diagnostics"]["guided"]
    assert facts["guided"]["mean"] > 0.9
    assert facts["guided_less_even"]["mean"] >= 0


def test_every_part_of_an_audit_is_on_its_page(retrained: dict[str, Any]) -> None:
    facts = audit_run(the_cause(), one_decides(40))
    assert facts.page() == audit_run(the_cause(), one_decides(40)).page()
    # 40 texts have too few words for an interval of the separation
    more = audit_run(the_cause(), one_decides(120), AuditOptions(["tfidf"]))
    retrained = retrained | {"separation": more["separation"]}
    typed = AuditFacts.from_json(retrained)
    figures, tables = audit_figures(typed), audit_tables(typed)
    assert {*DIAGNOSTICS, "faithfulness", "differences", "normalised", "separation", "plausibility"} == set(figures)
    parts = evidence(typed, figures, tables)
    assert set(retrained["diagnostics"]) <= set(parts)
    assert set(figures) == {name for part in PARTS.values() for name in part.figures}
    assert set(tables) == {name for part in PARTS.values() for name in part.tables}
    for kind in ("may", "may_not", "change"):
        for sentence in retrained["verdict"][kind]:
            assert sentence["evidence"] in parts


def test_a_larger_factor_gives_a_more_different_attention(retrained: dict[str, Any]) -> None:
    points = retrained["diagnostics"]["trained_adversary"]["points"]
    assert points[-1]["divergence"]["mean"] > points[0]["divergence"]["mean"]
    assert points[-1]["distance"]["mean"] >= points[0]["distance"]["mean"]
    assert all(0 <= point["divergence"]["mean"] <= 0.6932 for point in points)


def test_retraining_gives_the_same_numbers(retrained: dict[str, Any]) -> None:
    again = audit_run(the_cause(), one_decides(40), RETRAIN, learned_from=one_decides(200, seed=1))
    assert json.dumps(again) == json.dumps(retrained)


def test_a_run_that_cannot_be_retrained() -> None:
    facts = audit_run(the_cause(), one_decides(40), RETRAIN)
    left = {one["what"]: one["why"] for one in facts["left_out"]}
    assert {left[name] for name in TRAINING} == {"the run does not say what its train texts were"}


def test_audited_texts_are_not_trained_on() -> None:
    examples = one_decides(100)
    facts = audit_run(the_cause(), examples[:40], AuditOptions(["gradient"], retrain=True), learned_from=examples)
    assert facts["diagnostics"]["even"]["learned_from"] == 60
    left = {x["what"]: x["why"] for x in audit_run(the_cause(), examples, RETRAIN, learned_from=examples)["left_out"]}
    assert {left[name] for name in TRAINING} == {
        "every training text of the run is audited, so none is left to train on"
    }


@pytest.mark.parametrize("methods", [None, ["gradient", "leave_one_out"]])
def test_leave_one_out_skips_a_text_that_is_too_long(
    methods: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trained, "is_flat", False)  # from tables there is no limit
    examples = [*one_decides(40), Example("p1 " * 5001, "positive", evidence=((0, 2),))]
    facts = audit_run(the_cause(), examples, AuditOptions(methods, without=("adversary",)))
    assert facts["notes"] == [
        "leave-one-out: 1 of 41 texts has more than 5,000 words, each of which would take a forward pass, and no scores; "
        "its numbers are over the others"
    ]
    assert "leave_one_out" not in {one["what"] for one in facts["left_out"]}
    counted = {one["explainer"]: one["mean"]["n"] for one in facts["faithfulness"]["curves"]}
    assert counted.pop("leave_one_out") == 40
    assert set(counted.values()) == {41}
    compared = {one["other"]: one["n"] for one in facts["faithfulness"]["comparisons"]}
    assert (compared["leave_one_out"], compared["gradient"]) == (40, 41)
    for one in facts["agreement"]:
        assert one["overlap"]["n"] == one["overlap_by_chance"]["n"] == one["divergence"]["n"]
        assert one["overlap"]["n"] == (40 if "leave_one_out" in (one["one"], one["other"]) else 41)
    assert facts["diagnostics"]["correlation"]["leave_one_out"]["tau"]["n"] == 40
    marked = {one["name"]: (one["auprc"]["n"], one["f"]["n"]) for one in facts["plausibility"]["explainers"]}
    assert (marked["leave_one_out"], marked["attention"]) == ((40, 40), (41, 41))
    assert [name for name in facts["details"][0]["scores"] if name not in facts["details"][40]["scores"]] == [
        "leave_one_out"
    ]
    costs = {one["name"]: one.get("forward") for one in facts["explainers"]}
    assert costs["leave_one_out"] == 9.0, "the text, and the text without each of its eight words"
    assert facts.page()


def test_leave_one_out_does_not_change_other_numbers() -> None:
    examples = [*one_decides(40), Example("p1 " * 5001, "positive")]
    one, other = (
        audit_run(the_cause(), examples, AuditOptions(methods, without=("adversary",)))
        for methods in (["gradient"], ["gradient", "leave_one_out"])
    )
    assert one["faithfulness"]["lead"] == other["faithfulness"]["lead"]
    assert [curve for curve in other["faithfulness"]["curves"] if curve["explainer"] != "leave_one_out"] == (
        one["faithfulness"]["curves"]
    )


def test_a_flat_model_has_leave_one_out_of_texts_of_any_length() -> None:
    examples = [*one_decides(40), Example("p1 " * 5001, "positive", evidence=((0, 2),))]
    facts = audit_run(the_cause(), examples, AuditOptions(["leave_one_out"], without=DIAGNOSTICS))
    assert facts["notes"] == []
    assert {one["explainer"]: one["mean"]["n"] for one in facts["faithfulness"]["curves"]}["leave_one_out"] == 41
    assert {one["name"]: one.get("forward") for one in facts["explainers"]}["leave_one_out"] == 1.0


def test_an_explainer_that_refuses_most_texts_is_left_out_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trained, "is_flat", False)
    examples = [*one_decides(1), Example("p1 " * 5001, "positive"), Example("n1 " * 5002, "negative")]
    facts = audit_run(the_cause(), examples, AuditOptions(without=DIAGNOSTICS))
    assert "leave_one_out" not in [one["name"] for one in facts["explainers"]]
    (why,) = (one["why"] for one in facts["left_out"] if one["what"] == "leave_one_out")
    assert why.startswith("text 2: expected at most 5000 words, got 5001")
    with pytest.raises(InputError, match="leave_one_out, text 2: expected at most 5000 words, got 5001"):
        audit_run(the_cause(), examples, AuditOptions(["leave_one_out"]))


def test_a_very_long_text_has_no_farthest_weights() -> None:
    """All pairs of 50,000 words would take minutes, and a square matrix of them all memory."""
    examples = [*one_decides(2), Example("p1 o1 " * 25_000, "positive")]
    facts = audit_run(the_cause(), examples, AuditOptions(["tfidf"]))["diagnostics"]
    assert [value is None for value in facts["adversary"]["by_text"]["divergence"]] == [False, False, True]
    assert facts["permutation"]["moved"]["n"] == 3


def test_no_weights_are_far_from_uniform_ones_on_three_words() -> None:
    """All weight on one of three positions has a divergence of 0.318, less than half of log 2."""
    same = model_by_hand({}, {"p1": (5.0,)})
    facts = audit_run(
        same, [Example(f"p1 {'p1 ' * (n % 2)}p1", "positive") for n in range(40)], AuditOptions(["tfidf"])
    )
    adversary = facts["diagnostics"]["adversary"]
    assert (adversary["far"]["mean"], adversary["far_of_possible"]["n"]) == (0.0, 0)
    assert adversary["divergence"]["mean"] == pytest.approx((0.3183 + 0.2158) / 2, abs=1e-3)


def test_an_audit_of_the_training_texts_has_a_note(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.csv", tmp_path / "other.csv"
    mine.touch()
    other.touch()
    again = f"{tmp_path}/../{tmp_path.name}/mine.csv"
    model, has_note = the_cause(), []
    # the name of a corpus means its test part here
    for learned, data in ((mine, mine), (mine, again), (mine, other), ("corpus", "corpus")):
        model.config = model.config.override({"train": str(learned)})
        notes = audit_run(model, one_decides(3), AuditOptions(["tfidf"], data=str(data)))["notes"]
        has_note.append(any("was trained on these texts" in note for note in notes))
    assert has_note == [True, True, False, False]


def test_a_note_counts_training_texts() -> None:
    texts = one_decides(5)
    notes = audit_run(the_cause(), texts, AuditOptions(["tfidf"]), learned_from=[*texts[:2], *one_decides(9, seed=1)])[
        "notes"
    ]
    assert any(note.startswith("2 of these 5 texts are word for word among the training texts") for note in notes)


def test_a_note_on_a_single_training_text() -> None:
    texts = one_decides(5)
    notes = audit_run(the_cause(), texts, AuditOptions(["tfidf"]), learned_from=[texts[0], *one_decides(9, seed=1)])[
        "notes"
    ]
    assert any(note.startswith("1 of these 5 texts is word for word among the training texts") for note in notes)


def test_notes_on_unknown_words_and_on_a_single_prediction() -> None:
    unknown, known = [Example(f"x{n} y z{n}", "negative") for n in range(3)], [Example("p1 o1", "positive")]
    assert audit_run(the_cause(), unknown + known, AuditOptions(["tfidf"]))["notes"] == [
        "3 of 4 texts have no word that the model knows"
    ]
    assert audit_run(the_cause(), known * 2, AuditOptions(["tfidf"]))["notes"] == [
        "1 of 2 texts is a duplicate, which intervals count as a separate text",
        "all 2 texts get the same prediction, 'positive': the audit is only about this prediction",
    ]


def test_the_training_texts_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = one_decides(60)
    path = write_csv(tmp_path / "learned.csv", [(example.text, example.label) for example in learned])
    opened = []
    monkeypatch.setattr(training_texts, "stream", lambda *arguments: opened.append(arguments) or stream(*arguments))
    model = the_cause()
    model.config = model.config.override({"train": str(path)})
    without = ("correlation", "permutation", "adversary", "seeds", "guided", "trained_adversary")
    facts = audit_run(model, learned[:30], AuditOptions(["tfidf"], retrain=True, without=without))
    assert facts["diagnostics"]["even"]["learned_from"] == 30
    assert facts["notes"] == [
        "30 of these 30 texts are word for word among the training texts of the run: the model is more "
        "confident on such texts than on others"
    ]
    assert len(opened) == 1


def test_without_labels_models_are_evaluated_on_held_out_training_texts() -> None:
    texts = [replace(example, label=None) for example in one_decides(30)]
    facts = audit_run(the_cause(), texts, RETRAIN, learned_from=one_decides(100, seed=1))["diagnostics"]
    assert (facts["even"]["learned_from"], facts["even"]["judged_on"]) == (80, 20)
    assert facts["trained_adversary"]["points"][0]["accuracy"] is None


def trained(**options: Any) -> Trained:
    small = {"embedding": 8, "hidden": 8, "query": 8, "epochs": 1, "min_count": 1, "device": "cpu"}
    return fit(Config().override({**small, **options}), Parts(one_decides(40)))


@pytest.mark.parametrize("pooling", ["apln", "bottleneck", "attention"])
def test_levels_and_other_poolings_have_every_diagnostic(pooling: str) -> None:
    model = trained(encoder="cnn", levels=2, pooling=f"attention,{pooling}")
    texts = [replace(x, text=x.text.replace(" o1 ", " o1. ") + ". O2 again.", evidence=()) for x in one_decides(6)]
    facts = audit_run(model, texts, AuditOptions(retrain=True), learned_from=one_decides(30, seed=1))
    json.dumps(facts, allow_nan=False)
    assert set(facts["diagnostics"]) == {"correlation", "permutation", "adversary", *TRAINING}
    names = [one["name"] for one in facts["explainers"]]
    assert ("attention_norm" in names) == (pooling == "apln")
    left = {one["what"]: one["why"] for one in facts["left_out"]}
    assert "levels: expected a model with one level of attention, got 2" in left["separation"]


def test_attention_below_the_highest_level_has_no_weights_to_permute() -> None:
    model = trained(encoder="cnn", levels=2, pooling="attention,max")
    facts = audit_run(model, one_decides(40), PLAIN)
    assert set(facts["diagnostics"]) == {"correlation"}
    assert facts["verdict"]["name"] != "faithful", "it was not shown that the weights affect the prediction"


def test_what_cannot_be_audited_is_refused() -> None:
    texts = one_decides(4)
    with pytest.raises(InputError, match="got 'max', which has no attention to audit"):
        audit_run(trained(encoder="cnn", pooling="max"), texts)
    with pytest.raises(
        InputError, match="task: expected a classifier, got 'regression', whose predictions are numbers"
    ):
        audit_run(
            fit(Config().override({"task": "regression"}), Parts([Example("a b", 1.0), Example("b c", 2.0)])), texts
        )
    with pytest.raises(InputError, match=r"method: expected one of attention, .*, got 'magic'"):
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
    path = tmp_path_factory.mktemp("audit") / "run"
    save(the_cause(), path)
    return path


@pytest.fixture(scope="module")
def texts(folder: Path) -> Path:
    return write_csv(folder.parent / "texts.csv", [(example.text, example.label) for example in one_decides(40)])


def test_the_command_prints_the_verdict_and_writes_the_file(regard: Regard, folder: Path, texts: Path) -> None:
    figures = texts.parent / "figures"
    done = regard("audit", folder, "--data", texts, "--figures", figures)
    assert done.code == 0, done.err
    assert "Attention points to the words that decide" in done.out
    assert "can be read as" in done.out
    facts = json.loads((folder / "audit" / "audit.json").read_text(encoding="utf-8"))
    assert facts["verdict"]["name"] == "faithful"
    assert (facts["run"], facts["data"]) == (str(folder), str(texts))
    page = (folder / "audit" / "audit.html").read_text(encoding="utf-8")
    assert facts["verdict"]["title"] in page
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
    facts = audit_run(the_cause(), corpus.examples)
    assert facts["plausibility"]["texts"] == 30
    page = facts.page()
    assert 'id="evidence-plausibility"' in page
    assert "30 texts have words that people marked" in page
    assert audit_run(the_cause(), read(marked, ReadOptions("text", "label")).examples)["plausibility"] is None


def test_the_command_takes_rationales_from_a_column(regard: Regard, folder: Path, marked: Path) -> None:
    done = regard("audit", folder, "--data", marked, "--rationales", "marks", "--json")
    assert json.loads(done.out)["plausibility"]["texts"] == 30


def test_the_command_prints_json_and_writes_nothing(regard: Regard, folder: Path, texts: Path, tmp_path: Path) -> None:
    folders = ("--out", tmp_path / "out", "--figures", tmp_path / "figures")
    done = regard("audit", folder, "--data", texts, "--json", *folders, "--limit", 10)
    assert json.loads(done.out)["texts"] == 10
    assert not any((tmp_path / name).exists() for name in ("out", "figures"))


def test_bad_input(regard: Regard, folder: Path, texts: Path, run: Path, tmp_path: Path) -> None:
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
        assert sentence in done.error


def test_limits_of_an_audit_contain_every_explainer() -> None:
    facts = audit_run(points_elsewhere(), one_decides(60, loud=True))["faithfulness"]
    assert facts["limits"]["texts"] == facts["limits"]["exact"] == 60
    assert 0 < facts["limits"]["questions"] <= 500 * 60
    limits = {one["measure"]: (one["lower"]["mean"], one["upper"]["mean"]) for one in facts["limits"]["measures"]}
    normalised = [one for one in facts["curves"] if "normalised" in one]
    assert {one["measure"] for one in normalised} == {"comprehensiveness", "sufficiency"} == set(limits)
    for one in normalised:
        low, high = limits[one["measure"]]
        assert low - 1e-6 <= one["mean"]["mean"] <= high + 1e-6
        assert 0 <= one["normalised"]["mean"] <= 1
    by_name = {
        one["explainer"]: one["normalised"]["mean"] for one in normalised if one["measure"] == "comprehensiveness"
    }
    assert by_name["attention"] == pytest.approx(0, abs=1e-6), (
        "it points at the one word that holds the prediction back"
    )
    assert by_name["leave_one_out"] == 1


def test_erased_texts_that_look_empty_are_counted() -> None:
    facts = audit_run(the_cause(), one_decides(40))["faithfulness"]["emptiness"]
    assert facts["whole"]["mean"] == 0
    by_name = {one["name"]: one for one in facts["explainers"]}
    assert by_name["attention"]["deleted"]["mean"] == 1, "without the deciding word only neutral words are left"
    assert by_name["attention"]["kept"]["mean"] == 0
    assert 0 < by_name["random"]["deleted"]["mean"] < 1


def test_signs_of_leave_one_out_are_right_for_a_flat_model() -> None:
    for model, loud in ((the_cause(), False), (points_elsewhere(), True)):
        facts = audit_run(model, one_decides(40, loud=loud), AuditOptions(["gradient"]))["faithfulness"]["signs"]
        (one,) = facts["explainers"]
        assert (one["name"], one["default"]) == ("leave_one_out", True), "even if it is not compared"
        assert one["marked"] >= 40
        assert one["raised"] == one["share"]["mean"] == one["top"]["mean"] == 0
        assert one["top"]["high"] < 0.1
