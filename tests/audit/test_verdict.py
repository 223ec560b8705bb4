"""The verdict is a table over intervals: each row with handmade numbers, and never more than the intervals allow."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from regard.audit import verdict as judging
from regard.audit.rule import AREA, EVEN, FEWEST, SMALLEST, TABLE
from regard.audit.sentences import sentences
from regard.facts.audit import Agreement, Correlation, Measurements
from regard.facts.intervals import Interval
from regard.facts.json_form import from_json, to_json
from regard.report.text.audit_tables import CHECKS, checks_table
from regard.report.text.intervals import percent


def span(low: float, high: float) -> dict[str, Any]:
    return {"n": 100, "mean": (low + high) / 2, "low": low, "high": high}


NOTHING: dict[str, Any] = {"n": 0, "mean": None, "low": None, "high": None}
RETRAINED = {"learned_from": 100, "judged_on": 100, "epochs": 1}
# what the rule does not use
UNSEEN: dict[str, Any] = {
    "format": "regard audit 1",
    "run": None,
    "data": None,
    "seed": 0,
    "classes": ["0", "1"],
    "explainers": [],
    "agreement": [],
    "details": [],
    "left_out": [],
    "notes": [],
}
UNSEEN_PARTS: dict[str, Any] = {
    "faithfulness": {"how": "deletion", "cuts": [], "curves": []},
    "separation": {"tied": 100, "neutral": 100, "by_type": [], "meaning": ""},
    "plausibility": {"share": 0.1, "base_rate": NOTHING, "explainers": []},
}
UNSEEN_DIAGNOSTICS: dict[str, Any] = {
    "permutation": {
        "draws": 100,
        "largest": NOTHING,
        "evened": NOTHING,
        "by_largest": [],
        "by_text": {"moved": [], "largest": []},
    },
    "adversary": {"largest": 0.693147, "distance": NOTHING, "by_text": {"divergence": []}},
    "even": RETRAINED,
    "seeds": {**RETRAINED, "seeds": 3, "by_seed": [], "accuracy": [], "by_text": {"divergence": []}},
    "guided": {**RETRAINED, "learned": NOTHING, "guided_less_learned": NOTHING},
    "trained_adversary": {"learned_from": 100, "epochs": 5},
    "word_dropout": {**RETRAINED, "copies": 100, "accuracies": []},
}


def completed(facts: dict[str, Any]) -> Measurements:
    """Filled in with what the rule does not use."""
    whole = {**UNSEEN, **facts}
    for name, part in UNSEEN_PARTS.items():
        whole[name] = None if whole[name] is None else {**part, **whole[name]}
    whole["diagnostics"] = {name: {**UNSEEN_DIAGNOSTICS[name], **one} for name, one in facts["diagnostics"].items()}
    return from_json(Measurements, whole)


def verdict(facts: dict[str, Any]) -> dict[str, Any]:
    return dict(to_json(judging.verdict(completed(facts))))


def measurements(
    against_random: tuple[float, float] = (0.1, 0.2),
    contrast: tuple[float, float] | None = (0.01, 0.02),
    moved: tuple[float, float] | None = (0.1, 0.2),
    uneven: tuple[float, float] = (0.3, 0.4),
    separation: tuple[float, float] | None = None,
    texts: int = 100,
    holm: float | None = 0.001,
    inside: bool = True,
    levels: int = 1,
    best_lead: tuple[float, float] = (0.2, 0.3),
    **others: Any,
) -> dict[str, Any]:
    """The part of audit.json that the verdict uses."""
    model = {
        "encoder": "embedding",
        "pooling": "attention",
        "levels": levels,
        "attention": "dot",
        "scale": 3.0,
        "head_hidden": False,
    }
    lead = {
        "measure": "comprehensiveness",
        "best": "rival",
        "kept": 0.8,
        "own_lead": span(*against_random),
        "best_lead": span(*best_lead),
    }
    diagnostics: dict[str, Any] = {**others}
    if moved is not None:
        diagnostics["permutation"] = {"moved": span(*moved), "uneven": span(*uneven)}
    return {
        "texts": texts,
        "different": texts,
        "focus": "attention",
        "model": model if inside else None,
        "faithfulness": {
            "comparisons": [
                {
                    "measure": "comprehensiveness",
                    "one": "attention",
                    "other": "random",
                    **span(*against_random),
                    "p": 0.001,
                    "holm": holm,
                }
            ],
            "lead": None if contrast is None else {**lead, "contrast": span(*contrast)},
        },
        "diagnostics": diagnostics,
        "separation": None
        if separation is None
        else {"auc": sum(separation) / 2, "low": separation[0], "high": separation[1]},
        "plausibility": None,
    }


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("faithful", {}),
        ("faithful", {"inside": False, "moved": None}),
        ("faithful", {"contrast": (0.0, 0.1)}),
        ("partial", {"contrast": (-0.2, -0.1)}),
        ("partial", {"contrast": (-0.1, 0.1)}),
        ("partial", {"contrast": None}),
        ("partial", {"best_lead": (-0.1, 0.1)}),
        ("partial", {"best_lead": (0.005, 0.1)}),
        ("partial", {"moved": (0.001, 0.009), "levels": 2}),
        ("partial", {"moved": (0.005, 0.02), "uneven": (0.01, 0.04), "levels": 2}),
        ("partial", {"moved": None}),
        ("partial", {"moved": (0.005, 0.02)}),
        ("irrelevant", {"moved": (0.001, 0.009)}),
        ("irrelevant", {"moved": (0.005, 0.02), "uneven": (0.01, 0.04)}),
        ("faithful", {"moved": (0.02, 0.03), "uneven": (0.01, 0.04)}),
        ("misleading", {"against_random": (-0.2, -0.1)}),
        ("misleading", {"against_random": (-0.1, 0.1), "separation": (0.2, 0.4)}),
        ("faithful", {"separation": (0.2, 0.4)}),
        ("inconclusive", {"against_random": (-0.1, 0.1)}),
        ("inconclusive", {"against_random": (0.001, 0.002)}),
        ("inconclusive", {"against_random": (0.005, 0.02)}),
        ("inconclusive", {"against_random": (-0.02, -0.005)}),
        ("inconclusive", {"against_random": (-0.1, 0.1), "separation": (0.46, 0.49)}),
        ("inconclusive", {"holm": 0.06}),
        ("inconclusive", {"holm": None}),
        ("inconclusive", {"against_random": (-0.2, -0.1), "holm": 0.06}),
        ("inconclusive", {"texts": FEWEST - 1}),
        ("inconclusive", {"against_random": (-0.2, -0.1), "texts": FEWEST - 1}),
    ],
)
def test_rows_of_the_table(name: str, options: dict[str, Any]) -> None:
    assert verdict(measurements(**options))["name"] == name


@pytest.mark.parametrize(
    ("against_random", "holm", "why"),
    [
        ((0.001, 0.002), 0.001, "a clear difference but too small to matter"),
        ((-0.002, -0.001), 0.001, "a clear difference but too small to matter"),
        ((-0.001, 0.002), 0.6, "too small to matter"),
        ((0.001, 0.002), 0.06, "too small to matter"),
        ((0.001, 0.03), 0.001, "a clear difference but may be too small to matter"),
        ((-0.03, -0.001), 0.001, "a clear difference but may be too small to matter"),
        ((-0.001, 0.03), 0.6, None),
        ((0.001, 0.03), 0.06, None),
    ],
)
def test_a_significant_lead_may_be_too_small_to_matter(
    against_random: tuple[float, float], holm: float, why: str | None
) -> None:
    one = verdict(measurements(against_random=against_random, holm=holm))
    (sentence,) = [each["text"] for each in one["may_not"] if each["evidence"] == "faithfulness"]
    size = f", which is {why} (less than 0.01)" if why else ""
    assert sentence.endswith(f"than removing random words{size}.")
    assert not [sentence for sentence in one["may"] if sentence["evidence"] == "faithfulness"]
    assert not one["checks"]["above_chance"]
    assert not one["checks"]["below_chance"]


def test_more_texts_are_not_advised_if_the_lead_is_small_for_sure() -> None:
    one = verdict(measurements(against_random=(0.001, 0.002), inside=False, moved=None, contrast=(-0.2, -0.1)))
    assert one["title"] == "attention points to words that matter hardly more than others"
    assert "cannot be read as a ranking of words" in texts_of(one, "may_not")
    assert "Use more texts" not in texts_of(one, "change")
    assert "Show rival next to it" in texts_of(one, "change")
    inside = verdict(measurements(against_random=(0.001, 0.002), contrast=None))
    assert "--pooling apln or bottleneck, now attention" in texts_of(inside, "change")
    unclear = verdict(measurements(against_random=(0.001, 0.03)))
    assert unclear["title"] == "These texts are inconclusive"
    assert "Use more texts: over 100 the" in texts_of(unclear, "change")
    alone = verdict(measurements(against_random=(0.001, 0.002), inside=False, moved=None, contrast=None))
    assert alone["change"] == [], "there is nothing to try"


def test_small_differences_of_the_other_measures() -> None:
    right = {"even": span(0.8, 0.9), "attention": span(0.8, 0.9), "guided": span(0.8, 0.9)}
    facts = measurements(
        even={**right, "difference": span(0.001, 0.009)},
        guided={**right, "guided_less_even": span(0.004, 0.02)},
        separation=(0.51, 0.53),
    )
    facts["plausibility"] = {"texts": 100, "above_chance": span(0.001, 0.002)}
    one = verdict(facts)
    texts = {sentence["evidence"]: sentence["text"] for sentence in one["may_not"]}
    assert "no evidence that attention helps in this task" in texts["even"]
    assert texts["even"].endswith(
        "(0.001 to 0.009), which is a clear difference but too small to matter (less than 0.01)."
    )
    assert texts["guided"].endswith(", which is a clear difference but may be too small to matter (less than 0.01).")
    assert texts["plausibility"].endswith(
        "in 100 texts, which is a clear difference but too small to matter (less than 0.01)."
    )
    assert texts["separation"].endswith(
        "0.520 (0.510 to 0.530), which is a clear difference but too small to matter (within 0.05 of 0.5)."
    )
    none = verdict(measurements(even={**right, "difference": span(0.0, 0.0)}))
    assert "too small" not in texts_of(none, "may_not"), "if all texts have the same prediction, the size is unknown"
    wider = verdict(measurements(against_random=(-0.1, 0.1), separation=(0.4, 0.47)))
    assert wider["checks"]["below_neutral"] is False
    assert "which is a clear difference but may be too small to matter (within 0.05 of 0.5)" in texts_of(
        wider, "may_not"
    )


def test_every_row_has_a_title() -> None:
    assert {name for name, _ in TABLE} == set(sentences()["titles"]) - {"slight", "neutral"}
    assert TABLE[-1] == ("inconclusive", {}), "there is always a verdict"


def test_every_check_is_on_the_page() -> None:
    assert set(CHECKS) == set(verdict(measurements())["checks"])


def test_copies_of_a_text_do_not_count() -> None:
    one = verdict({**measurements(), "different": FEWEST - 1})
    assert one["name"] == "inconclusive"
    assert "29 different texts are fewer than the 30" in texts_of(one, "may_not")
    assert {sentence["evidence"] for sentence in one["may_not"]} == {"faithfulness"}, "and there are no other sentences"
    assert one["may"] == []


def test_intervals_of_few_texts_do_not_count() -> None:
    """For example because most texts have one sentence, or no marks."""
    few = {"n": FEWEST - 1}
    right = {"even": span(0.7, 0.8), "attention": span(0.8, 0.9), "guided": span(0.8, 0.9)}
    facts = measurements(
        adversary={
            "far": span(0.8, 0.9) | few,
            "far_of_possible": span(0.8, 0.9) | few,
            "exact": True,
            "epsilon": 0.01,
            "divergence": span(0.5, 0.6),
        },
        even={**right, "difference": span(0.05, 0.1) | few},
        guided={**right, "guided_less_even": span(0.05, 0.1) | few},
    )
    facts["diagnostics"]["permutation"] = {"moved": span(0.1, 0.2) | few, "uneven": span(0.3, 0.4) | few}
    facts["plausibility"] = {"texts": FEWEST - 1, "above_chance": span(0.1, 0.2) | few}
    one = verdict(facts)
    assert one["name"] == "partial"
    assert {sentence["evidence"] for sentence in one["may"]} == {"faithfulness"}
    assert texts_of(one, "may_not").count("only 29 texts have a value, fewer than the 30 needed") == 4
    facts["diagnostics"]["permutation"]["moved"] = span(0.001, 0.002) | few
    assert verdict(facts)["name"] == "partial"


def test_sentences_name_the_weights_that_they_are_about() -> None:
    """Only weights of the highest level are permuted, which shows nothing about the weights of words below."""
    seeds = {"seeds": {"divergence": span(0.1, 0.2)}}
    far = {
        "adversary": {
            "far": span(0.8, 0.9),
            "far_of_possible": span(0.8, 0.9),
            "exact": True,
            "epsilon": 0.01,
            "divergence": span(0.5, 0.6),
        }
    }
    one = verdict(measurements(moved=(0.001, 0.009), levels=2, **far, **seeds))
    assert "The values of the weights of sentences cannot be read as the cause of the prediction" in texts_of(
        one, "may_not"
    )
    assert "The weights of sentences are not the only ones" in texts_of(one, "may_not")
    assert "seeds" not in texts_of(one, "may") + texts_of(one, "may_not"), "those are weights of words"
    even = verdict(measurements(uneven=(0.01, 0.02), **far, **seeds))
    assert "seeds" not in texts_of(even, "may"), "uniform weights are alike with any seed"
    above = measurements(moved=(0.001, 0.009), levels=2)
    above["model"]["pooling"] = "max,attention"
    assert verdict(above)["name"] == "irrelevant", "there are no other weights"


def test_separation_alone_does_not_show_which_words_decide() -> None:
    assert "words that decide" not in verdict(measurements(against_random=(-0.1, 0.1), separation=(0.2, 0.4)))["title"]
    assert "words that decide" in verdict(measurements(against_random=(-0.2, -0.1), separation=(0.2, 0.4)))["title"]


def test_names_of_users_are_not_capitalized() -> None:
    theirs = verdict({**measurements(inside=False, moved=None), "focus": "coef"})
    assert theirs["title"].startswith("coef points to the words")
    assert theirs["may"][0]["text"].startswith("coef can be read")
    assert theirs["may"][1]["text"].startswith("It keeps")
    assert verdict(measurements())["title"].startswith("Attention points to")


def test_a_separation_of_few_words_is_not_interpreted() -> None:
    facts = measurements(against_random=(-0.1, 0.1))
    facts["separation"] = {"auc": 0.1, "low": None, "high": None, "tied": 487, "neutral": 3}
    result = verdict(facts)
    assert (result["name"], result["checks"]["below_neutral"]) == ("inconclusive", None)
    (sentence,) = [
        one["text"] for kind in ("may", "may_not") for one in result[kind] if one["evidence"] == "separation"
    ]
    assert (
        "is unknown: only 3 neutral, at least 10 of each are needed; a word of a class has a higher score than a neutral "
        "word in this fraction of pairs (0.5 would be guessing): 0.100." in sentence
    )


def test_verdicts_never_claim_more_than_the_intervals() -> None:
    rng = np.random.default_rng(0)

    def random_interval(width: float, low: float = -0.5) -> tuple[float, float]:
        start = rng.uniform(low, 0.5) * width
        return float(start), float(start + rng.uniform(0, width))

    for _ in range(500):
        facts = measurements(
            against_random=random_interval(0.2),
            contrast=random_interval(0.2) if rng.random() < 0.8 else None,
            moved=random_interval(0.03, 0.0) if rng.random() < 0.8 else None,
            uneven=random_interval(0.1, 0.0),
            separation=tuple(0.5 + side for side in random_interval(0.4)) if rng.random() < 0.5 else None,  # type: ignore[arg-type]
            texts=int(rng.integers(10, 60)),
            holm=float(rng.uniform(0, 0.1)),
        )
        one = verdict(facts)
        compared, lead = facts["faithfulness"]["comparisons"][0], facts["faithfulness"]["lead"]
        permuted, sure = facts["diagnostics"].get("permutation"), compared["holm"] < 0.05
        if one["name"] != "inconclusive":
            assert facts["texts"] >= FEWEST
        if one["name"] == "faithful":
            assert sure
            assert compared["low"] > SMALLEST
            assert lead["contrast"]["low"] >= 0
            assert permuted["moved"]["low"] > SMALLEST
        elif one["name"] == "partial":
            assert sure
            assert compared["low"] > SMALLEST
        elif one["name"] == "irrelevant":
            assert permuted["moved"]["high"] < SMALLEST or permuted["uneven"]["high"] < EVEN
        elif one["name"] == "misleading":
            assert (sure and compared["high"] < -SMALLEST) or facts["separation"]["high"] < 0.5 - AREA
        for kind in ("may", "may_not", "change"):
            for sentence in one[kind]:
                assert re.search(r"\d", sentence["text"]), "each sentence has the numbers behind it"
                assert sentence["text"].endswith(".")
        assert one["change"]
        if one["name"] in ("misleading", "inconclusive", "irrelevant"):
            assert one["may_not"]
        if one["name"] in ("faithful", "partial"):
            assert one["may"]


def texts_of(one: dict[str, Any], kind: str) -> str:
    return " ".join(sentence["text"] for sentence in one[kind])


def test_sentences_of_the_other_diagnostics() -> None:
    right = {"even": span(0.7, 0.8), "attention": span(0.8, 0.9), "guided": span(0.8, 0.9)}
    good = verdict(
        measurements(
            adversary={
                "far": span(0.1, 0.2),
                "far_of_possible": span(0.1, 0.2),
                "exact": True,
                "epsilon": 0.01,
                "divergence": span(0.5, 0.6),
            },
            seeds={"divergence": span(0.1, 0.2)},
            even={**right, "difference": span(0.05, 0.1)},
            guided={**right, "guided_less_even": span(0.05, 0.1)},
            trained_adversary={"points": [{"factor": 1.0, "distance": span(0.01, 0.02), "divergence": span(0.1, 0.2)}]},
        )
    )
    for words in (
        "none of them gives the same prediction",
        "varies much less between seeds than an adversary",
        "Attention helps in this task",
        "beyond this model",
    ):
        assert words in texts_of(good, "may")
    bad = verdict(
        measurements(
            adversary={
                "far": span(0.8, 0.9),
                "far_of_possible": span(0.8, 0.9),
                "exact": False,
                "epsilon": 0.01,
                "divergence": span(0.5, 0.6),
            },
            seeds={"divergence": span(0.4, 0.5)},
            even={**right, "difference": span(-0.05, 0.1)},
            guided={**right, "guided_less_even": span(-0.05, 0.1)},
            trained_adversary={"points": [{"factor": 1.0, "distance": span(0.01, 0.02), "divergence": span(0.5, 0.6)}]},
        )
    )
    for words in (
        "the only ones that explain the prediction",
        "single run cannot be read",
        "no evidence that attention helps in this task",
        "no evidence that attention helps another model",
        "makes the same predictions with different attention",
    ):
        assert words in texts_of(bad, "may_not")


def dropout_judges(**leads: tuple[float, float]) -> dict[str, Any]:
    """Judges by name, with the difference from random words in comprehensiveness."""
    return {
        "judges": [
            {
                "name": name,
                "same": span(0.9, 1.0),
                "measured": [
                    {
                        "measure": "comprehensiveness",
                        "explainer": "attention",
                        "mean": span(0.1, 0.2),
                        "less_random": span(*lead),
                    }
                ],
            }
            for name, lead in leads.items()
        ]
    }


@pytest.mark.parametrize(
    ("against_random", "plain", "dropout", "kind", "words"),
    [
        ((0.1, 0.2), (0.1, 0.2), (0.05, 0.15), "may", "It still beats random words when the judge has seen"),
        ((0.1, 0.2), (-0.1, 0.2), (0.05, 0.15), "may", "It still beats random words when the judge has seen"),
        ((0.1, 0.2), (0.1, 0.2), (-0.05, 0.15), "may_not", "may be an effect of erased texts"),
        ((0.1, 0.2), (0.1, 0.2), (0.001, 0.005), "may_not", "a clear difference but too small to matter"),
        ((0.1, 0.2), (-0.1, 0.2), (-0.05, 0.15), "may_not", "the same model trained again does not confirm the lead"),
        ((-0.1, 0.1), (-0.1, 0.2), (0.05, 0.15), "may_not", "may hide that its top words matter"),
        ((-0.1, 0.1), (0.1, 0.2), (-0.05, 0.15), None, ""),
    ],
)
def test_what_word_dropout_shows(
    against_random: tuple[float, float],
    plain: tuple[float, float],
    dropout: tuple[float, float],
    kind: str | None,
    words: str,
) -> None:
    judges = dropout_judges(audited=against_random, plain=plain, dropout=dropout)
    one = verdict(measurements(against_random=against_random, word_dropout=judges))
    found = [each for side in ("may", "may_not") for each in one[side] if each["evidence"] == "word_dropout"]
    assert [each["kind"] for each in found] == ([] if kind is None else [kind])
    assert all(words in each["text"] for each in found)
    without = verdict(measurements(against_random=against_random))
    assert (one["name"], one["title"], one["checks"]) == (without["name"], without["title"], without["checks"])


def test_word_dropout_without_all_judges_has_no_sentence() -> None:
    one = verdict(measurements(word_dropout=dropout_judges(audited=(0.1, 0.2), dropout=(0.1, 0.2))))
    assert "word_dropout" not in {each["evidence"] for each in (*one["may"], *one["may_not"])}


def test_a_search_that_finds_nothing_far_proves_nothing() -> None:
    near = {"points": [{"factor": 1.0, "distance": span(0.01, 0.02), "divergence": span(0.1, 0.2)}]}
    other = verdict(measurements(trained_adversary=near))
    assert "attend elsewhere" not in texts_of(other, "may") + texts_of(other, "may_not")
    one = verdict(
        measurements(
            adversary={
                "far": span(0.1, 0.2),
                "far_of_possible": span(0.1, 0.2),
                "exact": False,
                "epsilon": 0.01,
                "divergence": span(0.1, 0.2),
            }
        )
    )
    assert "gives the same prediction" not in texts_of(one, "may") + texts_of(one, "may_not")


def test_texts_of_few_words_have_no_far_weights() -> None:
    short = {"far": span(0.1, 0.2), "far_of_possible": span(0.1, 0.2) | {"n": FEWEST - 1}, "divergence": span(0.1, 0.2)}
    one = verdict(measurements(adversary={**short, "exact": True, "epsilon": 0.01}))
    assert "gives the same prediction" not in texts_of(one, "may") + texts_of(one, "may_not")


def test_advice_names_options() -> None:
    turned = texts_of(verdict(measurements(against_random=(-0.2, -0.1))), "change")
    assert "--scale, now 3" in turned
    assert "--vtw" in turned
    assert "--pooling apln or bottleneck, now attention" in turned
    assert "--vtw" not in texts_of(verdict(measurements(moved=(0.0, 0.001))), "change")
    deeper = measurements(against_random=(-0.2, -0.1))
    deeper["model"]["head_hidden"] = True  # there is no W for the penalty
    assert "--vtw" not in texts_of(verdict(deeper), "change")
    behind = measurements(contrast=(-0.2, -0.1))
    behind["faithfulness"]["lead"]["best"] = "integrated_gradients"
    shown = "Show integrated gradients next to it (`regard explain RUN TEXT --method integrated_gradients`): its lead"
    assert shown in texts_of(verdict(behind), "change")
    elsewhere = texts_of(verdict(measurements(contrast=(-0.2, -0.1), inside=False, moved=None)), "change")
    assert "Show rival next to it: its lead" in elsewhere, "no command shows scores from elsewhere"


def test_rank_correlations_decide_nothing() -> None:
    """Whatever Kendall's τ is, the verdict with its checks and sentences is the same."""
    for options in ({}, {"contrast": (-0.2, -0.1)}, {"moved": (0.001, 0.009)}, {"against_random": (-0.2, -0.1)}):
        plain, others = measurements(**options), []  # type: ignore[arg-type]
        for low in (-1.0, -0.05, 0.9):
            tau = {"tau": span(low, low + 0.1), "deviation": 0.1, "significant": span(0.9, 1.0), "histogram": [0] * 20}
            facts = completed(plain)
            correlation = {name: from_json(Correlation, tau) for name in ("gradient", "leave_one_out")}
            other = from_json(
                Agreement,
                {"one": "attention", "other": "gradient"}
                | dict.fromkeys(("tau", "divergence", "overlap", "overlap_by_chance"), span(low, low + 0.1)),
            )
            diagnostics = replace(facts.diagnostics, correlation=correlation)
            others.append(judging.verdict(replace(facts, diagnostics=diagnostics, agreement=(other,))))
        assert all(one == judging.verdict(completed(plain)) for one in others)


def test_a_rival_that_attention_keeps_up_with_is_not_advised() -> None:
    still = {"moved": (0.001, 0.009)}
    assert "beside it" not in texts_of(verdict(measurements(**still)), "change")
    assert "Show rival next to it" in texts_of(verdict(measurements(contrast=(-0.2, 0.1), **still)), "change")


def test_a_comparison_with_random_words_only_is_stated() -> None:
    one = verdict(measurements(contrast=None))
    assert (
        "It was compared with random words only, and with no other explainer: its lead is 0.150 (0.100 to 0.200)."
        in texts_of(one, "may_not")
    )


def test_more_different_texts_are_advised_if_there_are_copies() -> None:
    assert "Use more texts: over 29 the" in texts_of(verdict(measurements(texts=29)), "change")
    one = verdict({**measurements(), "different": 2})
    assert "Use more different texts: over 100, of which 2 differ, the difference" in texts_of(one, "change")


def test_a_smaller_drop_than_random_has_no_minus_sign() -> None:
    text = texts_of(verdict(measurements(against_random=(-0.02, 0.004))), "may_not")
    assert "predicted class by 0.008 (−0.004 to 0.020) less than removing random words" in text
    text = texts_of(verdict(measurements(against_random=(-0.2, -0.1))), "may_not")
    assert "predicted class by 0.150 (0.100 to 0.200) less than removing random words." in text
    assert "predicted class by 0.150 (0.100 to 0.200) more than" in texts_of(verdict(measurements()), "may")
    unsigned = verdict(measurements(against_random=(-0.0004, 0.0002)))  # −0.0001, written 0.000
    assert "predicted class by 0.000 (0.000 to 0.000) more than" in texts_of(unsigned, "may_not")


def test_shares_are_written_as_percentages() -> None:
    text = texts_of(verdict(measurements()), "may")
    assert "It keeps at least 80 % of the lead" in text
    assert percent(Interval(100, 0.5, 0.25, 0.75)) == "50.0 % (25.0 % to 75.0 %)"
    assert percent(Interval(1, 0.5, None, None)) == "50.0 %"


def test_the_table_of_checks_states_the_thresholds() -> None:
    title = checks_table({}).caption
    assert f"{SMALLEST:g}" in title
    assert f"{AREA:g}" in title
