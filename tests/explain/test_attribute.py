"""Properties of every explainer with every kind of model: words, order, batches, targets, costs, records, bad input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from drawn_models import TEXTS, VARIANTS, make

from regard.data.words import spans
from regard.errors import InputError
from regard.explain import gradients, reading
from regard.explain import leave_one_out as leaving
from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.explainers import EXPLAINERS, default_method, is_fast, methods
from regard.explain.word_scores import Attributed
from regard.faithfulness.judged import judge_erased
from regard.faithfulness.scored import Scored, check
from regard.models.trained import Trained
from regard.report.text.highlights import rows

FAST = {"surrogate": {"samples": 40}, "integrated_gradients": {"steps": 6}}
every_method = pytest.mark.parametrize("method", EXPLAINERS)
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def attributed(trained: Trained, texts: list[str], method: str, **options: Any) -> list[Attributed]:
    return attribute(trained, texts, method, **FAST.get(method, {}), **options)


@every_variant
@every_method
def test_every_word_has_a_finite_score(variant: str, method: str) -> None:
    trained = make(variant)
    results = attributed(trained, TEXTS, method)
    for text, one in zip(TEXTS, results, strict=True):
        assert (one.text, one.method) == (text, method)
        assert list(one.spans) == spans(text)
        assert one.scores.shape == (len(one.spans),) == (len(one.known),)
        assert np.isfinite(one.scores).all()
        assert EXPLAINERS[method].signed or (one.scores >= 0).all()
        outline = trained.tokenizer.outline(text)
        assert [(unit.start, unit.end) for unit in one.sentences] == outline.sentences
        assert [(unit.start, unit.end) for unit in one.parts] == outline.parts


@pytest.mark.parametrize("method", [name for name in EXPLAINERS if name != "tfidf"])  # it depends on the other texts
@every_variant
def test_batches_padding_and_order_do_not_matter(variant: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = make(variant)
    whole = attributed(trained, TEXTS, method)
    monkeypatch.setattr(reading, "BATCH", 2)
    monkeypatch.setattr(reading, "HELD", 50)
    monkeypatch.setattr(gradients, "ROWS", 4)
    monkeypatch.setattr(leaving, "CHUNK", 3)
    order = np.random.default_rng(0).permutation(len(TEXTS))
    for index, one in zip(order, attributed(trained, [TEXTS[index] for index in order], method), strict=True):
        assert_equal(one, whole[index])
    for text, one in zip(TEXTS, whole, strict=True):
        assert_equal(attributed(trained, [text], method)[0], one)


def assert_equal(one: Attributed, other: Attributed) -> None:
    assert (one.text, one.target, one.prediction.value) == (other.text, other.target, other.prediction.value)
    np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-9)
    for units, others in ((one.sentences, other.sentences), (one.parts, other.parts)):
        assert [x.weight for x in units] == pytest.approx([x.weight for x in others], abs=1e-9)
    assert {key: one.cost[key] for key in ("forward", "backward")} == {
        key: other.cost[key] for key in ("forward", "backward")
    }


@every_method
@pytest.mark.parametrize("variant", ["units", "bilstm", "han-apln", "three"])
def test_reported_passes_are_those_that_the_model_made(variant: str, method: str) -> None:
    trained = make(variant)
    trained.device = "cpu:0"  # the tables of a flat model would give scores without a pass
    with counted(trained) as passes:
        results = attributed(trained, TEXTS, method)
    assert sum(one.cost["forward"] for one in results) == passes["forward"]
    assert sum(one.cost["backward"] for one in results) == passes["backward"]
    assert len({one.cost["seconds"] for one in results}) == 1
    assert results[0].cost["seconds"] > 0


@contextmanager
def counted(trained: Trained) -> Iterator[dict[str, int]]:
    passes = {"forward": 0, "backward": 0}

    def count_forward(_: Any, inputs: Any, output: Any) -> None:
        passes["forward"] += len(output.logits)
        if output.logits.requires_grad and len(inputs) > 1 and inputs[1].requires_grad:
            output.logits.register_hook(count_backward)

    def count_backward(slope: torch.Tensor) -> None:
        passes["backward"] += len(slope)

    hook = trained.model.register_forward_hook(count_forward)
    yield passes
    hook.remove()


@every_method
def test_facts_are_not_shared_between_texts(method: str) -> None:
    one, other = attributed(make("embedding"), TEXTS[:2], method)
    one.facts["extra"] = True  # type: ignore[index]
    assert "extra" not in other.facts


@every_method
def test_explainers_do_not_change_the_model(method: str) -> None:
    trained = make("bilstm")
    before = {name: value.clone() for name, value in trained.model.state_dict().items()}
    with torch.no_grad():  # the caller may have switched gradients off
        attributed(trained, TEXTS, method)
    for name, value in trained.model.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(p.grad is None and p.requires_grad for p in trained.model.parameters())


@every_method
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_predictions_are_the_models_and_the_default_target_is_the_predicted_class(task: str, method: str) -> None:
    trained = make("cnn", task)
    answers = trained.answers(TEXTS)
    predictions = trained.task.predictions(answers)
    for one, prediction, row in zip(attributed(trained, TEXTS, method), predictions, answers, strict=True):
        assert one.target == (None if task == "regression" else row.argmax())
        assert one.prediction.value == (pytest.approx(prediction.value) if task == "regression" else prediction.value)


@pytest.mark.parametrize("method", ["gradient_times_input", "integrated_gradients", "leave_one_out", "surrogate"])
def test_scores_of_two_classes_are_opposite(method: str) -> None:
    trained = make("bilstm", "binary")
    no, yes = (attributed(trained, TEXTS, method, targets=name) for name in ("no", "yes"))
    for one, other in zip(no, yes, strict=True):
        assert (one.target, other.target) == (0, 1)
        np.testing.assert_allclose(one.scores, -other.scores, atol=1e-12)


def test_targets_by_name_by_number_or_by_default() -> None:
    trained = make("bilstm")
    results = attribute(trained, TEXTS[:3], "gradient", ["high", 0, None])
    assert [one.target for one in results] == [2, 0, attribute(trained, TEXTS[2:3], "gradient")[0].target]
    for name, number in (("low", 0), ("middle", 1)):
        for one, other in zip(
            attribute(trained, TEXTS, "gradient", name), attribute(trained, TEXTS, "gradient", number), strict=True
        ):
            np.testing.assert_array_equal(one.scores, other.scores)


@every_method
def test_no_texts_give_no_results(method: str) -> None:
    assert attributed(make("bilstm"), [], method) == []


def test_words_beyond_max_words_have_no_score() -> None:
    for variant in ("embedding", "han"):
        trained = make(variant, max_words=3)
        for method in EXPLAINERS:
            (one,) = attributed(trained, ["One two. Three four. Five six."], method)
            assert [one.text[a:b] for a, b in one.spans] == ["One", "two", "."]
            assert len(one.scores) == 3


def test_weights_are_those_of_explain() -> None:
    for variant in ("embedding", "bilstm", "han-apln", "three"):
        trained = make(variant)
        trained.model.float()
        for one, other in zip(explain(trained, TEXTS), attribute(trained, TEXTS, "attention_norm"), strict=True):
            shown = other.explanation()
            assert [x.weight for x in shown.tokens] == pytest.approx([x.weight for x in one.tokens], abs=1e-6)
            assert [x.weight for x in shown.sentences] == pytest.approx([x.weight for x in one.sentences], abs=1e-6)
            assert [x.weight for x in shown.parts] == pytest.approx([x.weight for x in one.parts], abs=1e-6)
            assert [x.known for x in shown.tokens] == [x.known for x in one.tokens]
            assert shown.prediction.value == one.prediction.value


@pytest.mark.parametrize("variant", ["embedding", "units", "affine"])
@pytest.mark.parametrize("method", ["attention", "attention_norm"])
def test_tables_give_the_same_scores_as_the_model(variant: str, method: str) -> None:
    trained = make(variant)
    assert is_fast(trained, method)
    fast = attribute(trained, TEXTS, method, targets=["low", None, 2, *[None] * (len(TEXTS) - 3)])
    trained.device = "cpu:0"  # any other name of the device turns the tables off
    assert not is_fast(trained, method)
    slow = attribute(trained, TEXTS, method, targets=["low", None, 2, *[None] * (len(TEXTS) - 3)])
    for one, other in zip(fast, slow, strict=True):
        assert (one.text, one.method, one.spans, one.known) == (other.text, other.method, other.spans, other.known)
        assert (one.target, one.prediction.value) == (other.target, other.prediction.value)
        assert one.scores == pytest.approx(other.scores, abs=1e-6)
        assert (one.cost["forward"], one.cost["backward"]) == (other.cost["forward"], other.cost["backward"])


def test_weights_have_the_same_name_everywhere() -> None:
    for variant in VARIANTS:
        trained = make(variant)
        sharpens = "apln" in variant
        assert default_method(trained) == ("attention_norm" if sharpens else "attention")
        assert ("attention_norm" in methods(trained)) == sharpens
        (shown,) = explain(trained, TEXTS[:1])
        (plain, sharpened) = (attribute(trained, TEXTS[:1], name)[0] for name in ("attention", "attention_norm"))
        assert shown.method == default_method(trained)
        assert [token.weight for token in shown.tokens] == pytest.approx(sharpened.scores.tolist(), abs=1e-9)
        assert (plain.scores.tolist() != pytest.approx(sharpened.scores.tolist(), abs=1e-6)) == sharpens


def test_the_table_is_complete() -> None:
    titles = [explainer.title for explainer in EXPLAINERS.values()]
    assert len(set(titles)) == len(titles)
    for name, explainer in EXPLAINERS.items():
        assert explainer.function.__name__ == name
        assert explainer.sentence
        assert explainer.passes is None or explainer.passes >= 1
        assert not (explainer.signed and explainer.reads in ("weights", "nothing"))
    assert [name for name, explainer in EXPLAINERS.items() if explainer.is_control] == ["random", "tfidf"]


@every_method
def test_records_can_be_shown_and_measures_accept_the_scores(method: str) -> None:
    trained = make("han")
    results = attributed(trained, TEXTS, method)
    for one in results:
        for side in ("for", "against", "both"):
            shown = one.explanation("high", side)
            weights = [token.weight for token in shown.tokens]
            assert all(weight >= 0 for weight in weights)
            assert sum(weights) == pytest.approx(1) or not any(weights)
            assert shown.method == method
            assert rows(shown) or not one.text
    scored = [Scored(*one.scored(2)) for one in results]
    check(scored, method)
    assert set(judge_erased(trained.answers, {method: scored}, cuts=[1], draws=0)) == {method}


def test_sides_by_hand() -> None:
    (one,) = attribute(make("average", "binary"), ["good bad not"], "random")
    object.__setattr__(one, "scores", np.array([3.0, -2.0, 1.0]))
    assert [x.weight for x in one.explanation(side="for").tokens] == [0.75, 0, 0.25]
    assert [x.weight for x in one.explanation(side="against").tokens] == [0, 1, 0]
    assert [x.weight for x in one.explanation(side="both").tokens] == pytest.approx([1 / 2, 1 / 3, 1 / 6])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "shap"}, f"method: expected one of {', '.join(EXPLAINERS)}, got 'shap'"),
        ({"method": "attention", "steps": 3}, "steps: not an option of attention; it has no options"),
        (
            {"method": "surrogate", "steps": 3},
            "steps: not an option of surrogate; expected one of samples, ridge, of, seed",
        ),
        ({"steps": 0}, "steps: expected a whole number above 0, got 0"),
        ({"targets": ["low"]}, "targets: expected one per text or one for all, got 1 for 2 texts"),
        ({"targets": "best"}, "target: expected one of 'low', 'middle', 'high', got 'best'"),
        ({"targets": 3}, "target: expected a class name or a number from 0 to 2, got 3"),
        ({"targets": -1}, "target: expected a class name or a number from 0 to 2, got -1"),
        ({"targets": True}, "target: expected a class name or a number from 0 to 2, got True"),
        ({"texts": "good"}, "texts: expected a list of texts, got a single string"),
        ({"texts": ["good", 3]}, "texts, number 2: expected a string, got int"),
        ({"steps": 2.5}, "steps: expected a whole number above 0, got 2.5"),
        (
            {"method": "tfidf", "background": "good"},
            "background: expected a list of texts, got a single string",
        ),
        (
            {"method": "tfidf", "background": ["good", 3]},
            "background, number 2: expected a string, got int",
        ),
        ({"method": "random", "seed": -1}, "seed: expected a whole number of at least 0, got -1"),
        ({"method": "surrogate", "seed": 0.5}, "seed: expected a whole number of at least 0, got 0.5"),
        ({"method": "surrogate", "ridge": "1"}, "ridge: expected a number above 0, got '1'"),
        ({"method": "surrogate", "samples": 1}, "samples: expected a whole number above 1, got 1"),
        ({"method": "surrogate", "ridge": 0.0}, "ridge: expected a number above 0, got 0.0"),
        ({"method": "surrogate", "of": "odds"}, "of: expected one of logit, probability, got 'odds'"),
        (
            {"method": "leave_one_out", "texts": ["good", "a " * 5001]},
            "leave_one_out, text 2: expected at most 5000 words, got 5001; each word takes a pass over the whole text",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        attribute(make("bilstm"), **{"texts": ["good", "not bad"], **options})
    assert message in str(error.value)


def test_a_regression_has_no_target_classes() -> None:
    with pytest.raises(InputError, match="target: expected None for a regression model, got 'high'"):
        attribute(make("bilstm", "regression"), ["good"], targets="high")
    (one,) = attribute(make("bilstm", "regression"), ["good"])
    with pytest.raises(InputError, match="side: expected one of for, against, both, got 'left'"):
        one.explanation(side="left")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [name for name in EXPLAINERS if name not in ("leave_one_out", "surrogate")])
def test_a_very_long_text_is_explained(method: str) -> None:
    (one,) = attribute(make("cnn"), ["good bad " * 10_000], method, **FAST.get(method, {}))
    assert np.isfinite(one.scores).all()
    assert len(one.scores) == 20_000
