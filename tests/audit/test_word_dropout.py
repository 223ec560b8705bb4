"""Word dropout: which copies a judge is trained on, and what it and the other judges measure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited import GOOD, one_decides, the_cause

from command import Regard, write_csv
from regard.audit.audit_options import DIAGNOSTICS
from regard.audit.audit_run import AuditOptions, audit_run
from regard.audit.measuring import CUTS
from regard.audit.retraining import Audited, make_retraining
from regard.audit.word_dropout import drop_words, dropout_parts, judge_facts, with_copies
from regard.data.reviews import splits
from regard.data.words import spans
from regard.facts.audit import AuditFacts
from regard.faithfulness.scored import Scored
from regard.recorder import Silent
from regard.records import Example

ALONE = AuditOptions(["gradient"], retrain=True, without=tuple(name for name in DIAGNOSTICS if name != "word_dropout"))
TEXT = "one two three four five six seven eight nine ten"


def test_copies_depend_on_the_seed_and_the_text_only() -> None:
    assert drop_words(TEXT, 0) == drop_words(TEXT, 0)
    assert len({drop_words(TEXT, seed) for seed in range(20)}) > 10
    assert [one.text for one in with_copies([Example(TEXT, "a")], 3, ())] == [TEXT, drop_words(TEXT, 3)]


def test_a_copy_keeps_some_words_in_their_order_and_is_never_empty() -> None:
    counts = []
    for seed in range(1000):
        left = drop_words(TEXT, seed).split()
        assert left == [word for word in TEXT.split() if word in left]
        counts.append(len(left))
    # of ten words 0 to 9 are deleted, each number equally often: 1000 draws have a mean of 5.5 ± 0.09 words left
    assert set(counts) == set(range(1, 11))
    assert np.mean(counts) == pytest.approx(5.5, abs=0.4)


@pytest.mark.parametrize("text", ["", "   ", "word", " word.\n"])
def test_texts_that_have_hardly_any_words(text: str) -> None:
    for seed in range(20):
        copy = drop_words(text, seed)
        assert len(spans(copy)) >= min(1, len(spans(text)))
        assert copy == text or len(spans(text)) > 1


def test_a_copy_has_the_label_of_its_text_but_no_evidence() -> None:
    example = Example(TEXT, "a", 7, ((0, 3),))
    whole, copy = with_copies([example], 0, ())
    assert whole is example
    assert (copy.label, copy.row, copy.evidence) == ("a", 7, ())


def test_a_copy_that_equals_an_audited_text_is_left_out() -> None:
    copy = drop_words(TEXT, 0)
    assert copy != TEXT
    assert [one.text for one in with_copies([Example(TEXT, "a")], 0, {copy})] == [TEXT]
    # and through the audit: the one word that is left of a training text may be an audited text
    short = [Example(word, "positive" if word in GOOD else "negative") for word in (*GOOD, "n0", "n1")]
    model, learned = the_cause(), one_decides(300, seed=1)
    audited = Audited(model, [one.text for one in short], None, 0, Silent())
    retraining = make_retraining(model, audited.texts, np.array([1] * 6 + [0] * 2), 0, learned)
    parts, copies = dropout_parts(retraining, audited)
    given = {one.text for part in (parts.train, parts.dev or ()) for one in part}
    assert not given & set(audited.texts)
    assert 0 < copies < 300, "some copies are a single audited word"


def test_the_held_out_texts_are_not_trained_on_as_copies() -> None:
    model, texts = the_cause(), one_decides(30)
    audited = Audited(model, [one.text for one in texts], None, 0, Silent())
    retraining = make_retraining(model, audited.texts, np.zeros(30, dtype=np.int64), 0, one_decides(100, seed=1))
    parts, copies = dropout_parts(retraining, audited)
    train, dev = list(parts.train), list(parts.dev or ())
    assert (len(train), len(dev), copies) == (180, 20, 100)
    assert not {one.row for one in train} & {one.row for one in dev}
    assert [one.text for one in dev[10:]] == [drop_words(one.text, 0) for one in dev[:10]]


def judge(texts: Any) -> Any:
    """0.9 for class 1 with "good", 0.4 without, and 0.5 for an empty text."""
    one = np.array([0.9 if "good" in text.split() else 0.4 if text else 0.5 for text in texts])
    return np.stack([1 - one, one], axis=1)


def test_measures_by_hand() -> None:
    """The top word is the deciding one in two texts, and at every cut-off of four words at most two are erased."""
    texts = ["good b c d", "a good c d"]
    scored = {"mine": [Scored(text, spans(text), [float(word == "good") for word in text.split()]) for text in texts]}
    for target, sign in ((1, 1.0), (0, -1.0)):  # the drop of another class has the opposite sign
        facts = judge_facts("one", judge, scored, np.full(2, target), {}, 0)
        by = {(one.measure, one.explainer): one for one in facts.measured}
        assert len(CUTS) == 5
        assert by["comprehensiveness", "mine"].mean.mean == pytest.approx(sign * (0.9 - 0.4))
        assert by["sufficiency", "mine"].mean.mean == pytest.approx(0.0, abs=1e-9)
        random = by["comprehensiveness", "random"]
        less = by["comprehensiveness", "mine"].less_random
        assert random.less_random is None
        assert less is not None
        assert less.mean is not None
        assert random.mean.mean is not None
        assert less.mean == pytest.approx(sign * 0.5 - random.mean.mean, abs=1e-6)
        assert facts.same.mean == target


def test_texts_without_scores_are_left_out() -> None:
    texts = ["good b c d", "a b c d"]
    scored = {"mine": [Scored(text, spans(text), [1.0, 0.0, 0.0, 0.0]) for text in texts]}
    facts = judge_facts("one", judge, scored, np.array([1, 0]), {"mine": np.array([False, True])}, 0)
    assert [one.mean.n for one in facts.measured] == [1, 2, 1, 2]
    assert facts.measured[0].less_random is not None
    assert facts.measured[0].less_random.n == 1


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return audit_run(the_cause(), one_decides(40), ALONE, learned_from=one_decides(200, seed=1))


def test_the_audited_model_measures_what_the_audit_does(facts: dict[str, Any]) -> None:
    means = {(one["measure"], one["explainer"]): one["mean"] for one in facts["faithfulness"]["curves"]}
    compared = {(one["measure"], one["other"]): one for one in facts["faithfulness"]["comparisons"]}
    audited = facts["diagnostics"]["word_dropout"]["judges"][0]
    assert audited["name"] == "audited"
    assert audited["same"]["mean"] == 1.0
    assert [one["explainer"] for one in audited["measured"]] == ["attention", "gradient", "random"] * 2
    for one in audited["measured"]:
        assert one["mean"] == pytest.approx(means[one["measure"], one["explainer"]], abs=1e-5)
        if one["explainer"] == "attention":
            expected = {key: compared[one["measure"], "random"][key] for key in one["less_random"]}
            assert one["less_random"] == pytest.approx(expected, abs=1e-5)


def test_attention_on_the_deciding_word_beats_random_words_for_every_judge(facts: dict[str, Any]) -> None:
    found = facts["diagnostics"]["word_dropout"]
    assert (found["learned_from"], found["judged_on"], found["copies"]) == (200, 40, 200)
    assert [one["name"] for one in found["judges"]] == ["audited", "plain", "dropout"]
    for one in found["judges"]:
        assert one["measured"][0]["less_random"]["low"] > 0.01
    sentences = {one["evidence"]: one["text"] for one in facts["verdict"]["may"]}
    assert sentences["word_dropout"].startswith("It still beats random words when the judge has seen texts")


def test_the_same_seed_gives_the_same_facts(facts: dict[str, Any]) -> None:
    again = audit_run(the_cause(), one_decides(40), ALONE, learned_from=one_decides(200, seed=1))
    assert json.dumps(again) == json.dumps(facts)


def test_facts_are_read_again_and_older_files_have_none(facts: dict[str, Any]) -> None:
    typed = AuditFacts.from_json(json.loads(json.dumps(facts)))
    assert typed.diagnostics.word_dropout is not None
    assert typed.to_json() == facts
    older = {**facts, "diagnostics": {}}
    assert AuditFacts.from_json(older).diagnostics.word_dropout is None
    assert "word_dropout" not in AuditFacts.from_json(older).to_json()["diagnostics"]


def test_texts_without_labels_and_without_an_alternative() -> None:
    texts = [replace(example, label=None) for example in one_decides(30)]
    options = replace(ALONE, explainers=["tfidf"])
    found = audit_run(the_cause(), texts, options, learned_from=one_decides(100, seed=1))["diagnostics"]["word_dropout"]
    assert (found["learned_from"], found["judged_on"]) == (80, 20)
    assert [one["explainer"] for one in found["judges"][2]["measured"]] == ["attention", "random"] * 2
    assert found["judges"][2]["same"]["n"] == 30
    assert found["accuracies"][0]["plain"]["n"] == 20


def test_the_command_on_the_built_in_reviews(regard: Regard, tmp_path: Path) -> None:
    parts = splits(train=300, dev=50, test=40)
    files = {
        name: write_csv(tmp_path / f"{name}.csv", [(one.text, one.label) for one in part])
        for name, part in parts.items()
    }
    options = ("--task", "multiclass", "--epochs", 2, "--no-pairs", "--out", tmp_path / "run")
    assert regard("train", files["train"], "--dev", files["dev"], *options).code == 0
    done = regard("audit", tmp_path / "run", "--data", files["test"], "--retrain", "--method", "gradient")
    assert done.code == 0, done.err
    assert "retrained with word dropout" in " ".join(done.out.split())
    written = json.loads((tmp_path / "run" / "audit" / "audit.json").read_text(encoding="utf-8"))
    found = written["diagnostics"]["word_dropout"]
    assert (found["learned_from"], found["judged_on"], found["epochs"], found["copies"]) == (300, 40, 2, 300)
    for one in found["accuracies"]:
        assert all(
            0 <= one[name]["low"] <= one[name]["mean"] <= one[name]["high"] <= 1 for name in ("plain", "dropout")
        )
        assert one["difference"]["mean"] == pytest.approx(one["dropout"]["mean"] - one["plain"]["mean"], abs=1e-5)
    for judged in found["judges"]:
        assert 0 <= judged["same"]["mean"] <= 1
        random = {one["measure"]: one["mean"]["mean"] for one in judged["measured"] if one["explainer"] == "random"}
        for one in judged["measured"]:
            assert -1 <= one["mean"]["low"] <= one["mean"]["mean"] <= one["mean"]["high"] <= 1
            assert one["mean"]["n"] == 40
            if one["explainer"] != "random":
                less = one["less_random"]["mean"]
                assert less == pytest.approx(one["mean"]["mean"] - random[one["measure"]], abs=1e-5)
    assert 'id="evidence-word_dropout"' in (tmp_path / "run" / "audit" / "audit.html").read_text(encoding="utf-8")
