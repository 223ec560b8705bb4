"""`audit` for the scores of any tool and any classifier."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from regard.audit.audit import audit
from regard.errors import InputError
from regard.facts.audit import AuditFacts
from regard.facts.intervals import Interval
from regard.faithfulness.scored import Doubles, Scored
from regard.report.text.audit import print_audit
from regard.report.text.intervals import mean_or_dash

WEIGHTS = {**{f"up{n}": 2.0 for n in range(5)}, **{f"down{n}": -2.0 for n in range(5)}}


def predict(texts: Sequence[str]) -> Doubles:
    """σ of the sum of the words' weights."""
    positive = 1 / (1 + np.exp(-np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])))
    return np.stack([1 - positive, positive], 1)


def make_scores(count: int = 60) -> tuple[list[str], dict[str, list[Any]]]:
    """Texts with the true scores, their opposite, random ones, and the true ones with noise."""
    rng = np.random.default_rng(0)
    texts: list[str] = []
    for number in range(count):
        words = [f"{('up', 'down')[number % 2]}{rng.integers(5)}", *(f"plain{n}" for n in rng.integers(0, 30, 9))]
        rng.shuffle(words)
        texts.append(" ".join(words))
    spans = [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]
    true = [[abs(WEIGHTS.get(word, 0.0)) for word in text.split()] for text in texts]
    return texts, {
        "true": list(zip(spans, true, strict=True)),
        "reversed": [(words, [-one for one in scores]) for words, scores in zip(spans, true, strict=True)],
        "drawn": [(words, rng.random(len(words))) for words in spans],
        "noisy": [(words, np.add(scores, rng.random(len(words)))) for words, scores in zip(spans, true, strict=True)],
    }


def test_verdicts_on_true_reversed_random_and_noisy_scores() -> None:
    texts, scores = make_scores()
    names = {focus: audit(predict, texts, scores, focus=focus)["verdict"]["name"] for focus in scores}
    assert names == {"true": "faithful", "reversed": "misleading", "drawn": "inconclusive", "noisy": "faithful"}


def test_without_a_rival_better_than_random_nothing_is_faithful() -> None:
    texts, scores = make_scores()
    one = audit(predict, texts, {name: scores[name] for name in ("true", "reversed", "drawn")})["verdict"]
    assert (one["name"], one["checks"]["keeps_up"]) == ("partial", None)
    assert any(
        "compared with no explainer that clearly beats random words" in sentence["text"] for sentence in one["may_not"]
    )


def test_copies_of_one_text_are_inconclusive() -> None:
    texts, scores = make_scores(1)
    result = audit(predict, texts * 60, {name: values * 60 for name, values in scores.items()})
    assert result["verdict"]["name"] == "inconclusive"
    assert result["notes"] == ["59 of 60 texts are duplicates, which intervals count as separate texts"]


def test_a_single_attribution_is_compared_with_random_words() -> None:
    texts, scores = make_scores()
    result = audit(predict, texts, {"true": scores["true"]})
    json.dumps(result, allow_nan=False)
    assert result["faithfulness"]["lead"] is None
    assert result["verdict"]["name"] == "partial", "there is nothing to compare with"
    assert result["diagnostics"] == {}
    assert {one["what"] for one in result["left_out"]} >= {"post_hoc", "plausibility"}


def test_page_and_save(tmp_path: Path) -> None:
    texts, scores = make_scores()
    result = audit(predict, texts, scores)
    assert result["verdict"]["title"] in result.page()
    assert result.save(tmp_path / "audit", tmp_path / "figures") == tmp_path / "audit"
    assert (tmp_path / "audit" / "audit.html").read_text(encoding="utf-8") == result.page()
    assert json.loads((tmp_path / "audit" / "audit.json").read_text(encoding="utf-8")) == result
    assert (tmp_path / "figures" / "faithfulness.pdf").read_bytes().startswith(b"%PDF-1.5")


def test_names_cannot_send_escape_codes_to_the_terminal() -> None:
    texts, scores = make_scores(30)
    result = audit(predict, texts, {"\x1b]0;mine": scores["true"], "gradient_times_input": scores["drawn"]})
    hostile = {**result, "data": "\x1b[2Jfile", "notes": ["\x9b2J"]}
    console = Console(file=io.StringIO(), width=120)
    print_audit(AuditFacts.from_json(hostile), console)
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert "␛]0;mine on ␛[2Jfile" in printed
    assert not set(printed) & {"\x1b", "\x9b"}
    assert "gradient × input" in printed, "named as on the page"


def test_means_have_a_minus_sign_unless_they_round_to_zero() -> None:
    assert [mean_or_dash(Interval(1, mean, None, None)) for mean in (None, -0.0004, -0.25)] == ["–", "0.000", "−0.250"]


def test_scored_texts_labels_and_evidence() -> None:
    texts, scores = make_scores()
    scored = [Scored(text, *one) for text, one in zip(texts, scores["true"], strict=True)]
    marks = [[spans[int(np.argmax(values))]] for spans, values in scores["true"]]
    result = audit(predict, texts, {"true": scored}, labels=[1 - n % 2 for n in range(60)], evidence=marks)
    assert result["left_out"] == []
    labelled = [one._replace(label=1 - n % 2) for n, one in enumerate(scored)]
    assert {one["what"] for one in audit(predict, texts, {"true": labelled})["left_out"]} == {"plausibility"}
    unknown = audit(predict, texts, {"true": scored}, labels=[-1] * 60)
    assert {one["what"] for one in unknown["left_out"]} >= {"post_hoc", "accuracy_fall"}
    assert result["plausibility"]["explainers"][0]["auprc"]["mean"] == 1.0
    # without the deciding word both classes are equally likely, and the first one is predicted: half of the texts are right
    fall = next(one for one in result["faithfulness"]["curves"] if one["measure"] == "accuracy_fall")
    assert fall["explainer"] == "true"
    assert fall["mean"]["mean"] == pytest.approx(0.5)


def test_bad_input() -> None:
    texts, scores = make_scores(3)
    (spans, numbers), *rest = scores["true"]
    for given, sentence in (
        ({}, "attributions: expected at least one, got none"),
        ({"a": rest}, "a: expected one entry for each of 3 texts, got 2"),
        ({"a": [(spans, numbers[:-1]), *rest]}, "a, text 1: expected one score per word, got 9 for 10 words"),
        ({"a": [(spans, [np.nan] * len(spans)), *rest]}, "a, text 1: expected finite scores, got NaN or infinity"),
        ({"a": [(spans, ["x"] * len(spans)), *rest]}, "a, text 1: expected a Scored or (spans, scores), got tuple"),
        ({"a": [None, *rest]}, "a, text 1: expected a Scored or (spans, scores), got NoneType"),
        (
            {"a": [Scored("another", [(0, 2)], [1.0]), *rest]},
            "a, text 1: expected scores of this text, got scores of another one",
        ),
        ({"a": [([(0, 99)], [1.0]), *rest]}, "expected words in order, without overlap and within the text, got"),
        ({"random": scores["true"]}, "attributions: expected at least one besides 'random', got none"),
    ):
        with pytest.raises(InputError, match=re.escape(sentence)):
            audit(predict, texts, given)
    with pytest.raises(InputError, match="texts: expected at least one, got none"):
        audit(predict, [], {"a": []})
    with pytest.raises(InputError, match="texts: expected a list of strings, got a single string"):
        audit(predict, "abc", scores)
    with pytest.raises(InputError, match=r"focus: expected 'true' or 'reversed' or .*, got 'b'"):
        audit(predict, texts, scores, focus="b")
    with pytest.raises(InputError, match="texts, number 1: expected str, got NoneType"):
        audit(predict, [None, *texts[1:]], scores)  # type: ignore[list-item]
    with pytest.raises(InputError, match="attributions: expected a dict of scores by name, got list"):
        audit(predict, texts, scores["true"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="labels: expected the numbers of classes, from 0, got 'up'"):
        audit(predict, texts, scores, labels=[0, 1, "up"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="seed: expected an integer of at least 0, got -1"):
        audit(predict, texts, scores, seed=-1)
    with pytest.raises(InputError, match="labels: expected one entry for each of 3 texts, got 1"):
        audit(predict, texts, scores, labels=[0])
    with pytest.raises(InputError, match="label: expected 0 to 1, since the judge has 2 classes, got 7"):
        audit(predict, texts, scores, labels=[0, 1, 7])
    with pytest.raises(InputError, match="judge: expected probabilities from 0 to 1, got 3"):
        audit(lambda batch: np.full((len(batch), 2), 3.0), texts, scores)
    with pytest.raises(InputError, match="judge: expected probabilities of shape"):
        audit(lambda batch: np.zeros(len(batch)), texts, scores)
