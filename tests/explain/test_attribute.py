"""What holds for every explainer and every kind of model: words, order, batches, targets, costs, records, bad input."""

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
from regard.explain import integrated_gradients as integrated
from regard.explain import leave_one_out as leaving
from regard.explain import reading
from regard.explain.attribute import attribute, is_fast
from regard.explain.explain import explain
from regard.explain.explainers import EXPLAINERS, default_method, methods
from regard.explain.word_scores import Attributed
from regard.faithfulness.judged import judge_erased
from regard.faithfulness.scored import Scored, check
from regard.models.trained import Trained
from regard.report.text.highlights import rows

FAST = {"surrogate": {"samples": 40}, "integrated_gradients": {"steps": 6}}
every_method = pytest.mark.parametrize("method", EXPLAINERS)
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def attributed(trained: Trained, texts: list[str], method: str, **given: Any) -> list[Attributed]:
    return attribute(trained, texts, method, **FAST.get(method, {}), **given)


@every_variant
@every_method
def test_every_word_has_a_finite_score(variant: str, method: str) -> None:
    trained = make(variant)
    found = attributed(trained, TEXTS, method)
    for text, one in zip(TEXTS, found, strict=True):
        assert (one.text, one.method) == (text, method)
        assert list(one.spans) == spans(text)
        assert one.scores.shape == (len(one.spans),) == (len(one.known),)
        assert np.isfinite(one.scores).all()
        assert EXPLAINERS[method].signed or (one.scores >= 0).all()
        outline = trained.tokenizer.outline(text)
        assert [(unit.start, unit.end) for unit in one.sentences] == outline.sentences
        assert [(unit.start, unit.end) for unit in one.parts] == outline.parts


@pytest.mark.parametrize("method", [name for name in EXPLAINERS if name != "tfidf"])  # it is about texts among others
@every_variant
def test_batches_padding_and_order_change_nothing(variant: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = make(variant)
    whole = attributed(trained, TEXTS, method)
    monkeypatch.setattr(reading, "BATCH", 2)
    monkeypatch.setattr(reading, "HELD", 50)
    monkeypatch.setattr(integrated, "ROWS", 4)
    monkeypatch.setattr(leaving, "CHUNK", 3)
    order = np.random.default_rng(0).permutation(len(TEXTS))
    for place, one in zip(order, attributed(trained, [TEXTS[place] for place in order], method), strict=True):
        alike(one, whole[place])
    for text, one in zip(TEXTS, whole, strict=True):
        alike(attributed(trained, [text], method)[0], one)


def alike(one: Attributed, other: Attributed) -> None:
    assert (one.text, one.target, one.prediction.value) == (other.text, other.target, other.prediction.value)
    np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-9)
    for units, others in ((one.sentences, other.sentences), (one.parts, other.parts)):
        assert [x.weight for x in units] == pytest.approx([x.weight for x in others], abs=1e-9)
    assert {key: one.cost[key] for key in ("forward", "backward")} == {
        key: other.cost[key] for key in ("forward", "backward")
    }


@every_method
@pytest.mark.parametrize("variant", ["units", "bilstm", "han-apln", "three"])
def test_passes_are_those_that_the_model_made(variant: str, method: str) -> None:
    trained = make(variant)
    trained.device = "cpu:0"  # a flat model's tables would answer without a pass
    with counted(trained) as passes:
        found = attributed(trained, TEXTS, method)
    assert sum(one.cost["forward"] for one in found) == passes["forward"]
    assert sum(one.cost["backward"] for one in found) == passes["backward"]
    assert len({one.cost["seconds"] for one in found}) == 1
    assert found[0].cost["seconds"] > 0


@contextmanager
def counted(trained: Trained) -> Iterator[dict[str, int]]:
    passes = {"forward": 0, "backward": 0}

    def forth(_: Any, given: Any, output: Any) -> None:
        passes["forward"] += len(output.logits)
        if output.logits.requires_grad and len(given) > 1 and given[1].requires_grad:
            output.logits.register_hook(back)

    def back(slope: torch.Tensor) -> None:
        passes["backward"] += len(slope)

    hook = trained.model.register_forward_hook(forth)
    yield passes
    hook.remove()


@every_method
def test_what_is_noted_of_one_text_is_not_of_another(method: str) -> None:
    one, other = attributed(make("embedding"), TEXTS[:2], method)
    one.facts["mine"] = True  # type: ignore[index]
    assert "mine" not in other.facts


@every_method
def test_gradients_leave_the_model_as_it_was(method: str) -> None:
    trained = make("bilstm")
    before = {name: value.clone() for name, value in trained.model.state_dict().items()}
    with torch.no_grad():  # whoever calls may have switched gradients off
        attributed(trained, TEXTS, method)
    for name, value in trained.model.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(p.grad is None and p.requires_grad for p in trained.model.parameters())


@every_method
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_answers_are_the_models_and_the_target_is_the_decision(task: str, method: str) -> None:
    trained = make("cnn", task)
    answers = trained.answers(TEXTS)
    said = trained.task.predictions(answers)
    for one, prediction, row in zip(attributed(trained, TEXTS, method), said, answers, strict=True):
        assert one.target == (None if task == "regression" else row.argmax())
        assert one.prediction.value == (pytest.approx(prediction.value) if task == "regression" else prediction.value)


@pytest.mark.parametrize("method", ["gradient_times_input", "integrated_gradients", "leave_one_out", "surrogate"])
def test_two_classes_are_each_others_opposite(method: str) -> None:
    trained = make("bilstm", "binary")
    no, yes = (attributed(trained, TEXTS, method, targets=name) for name in ("no", "yes"))
    for one, other in zip(no, yes, strict=True):
        assert (one.target, other.target) == (0, 1)
        np.testing.assert_allclose(one.scores, -other.scores, atol=1e-12)


def test_targets_by_name_by_number_and_left_open() -> None:
    trained = make("bilstm")
    given = attribute(trained, TEXTS[:3], "gradient", ["high", 0, None])
    assert [one.target for one in given] == [2, 0, attribute(trained, TEXTS[2:3], "gradient")[0].target]
    for name, number in (("low", 0), ("middle", 1)):
        for one, other in zip(
            attribute(trained, TEXTS, "gradient", name), attribute(trained, TEXTS, "gradient", number), strict=True
        ):
            np.testing.assert_array_equal(one.scores, other.scores)


@every_method
def test_no_texts_give_none(method: str) -> None:
    assert attributed(make("bilstm"), [], method) == []


def test_words_beyond_max_words_have_no_score() -> None:
    for variant in ("embedding", "han"):
        trained = make(variant, max_words=3)
        for method in EXPLAINERS:
            (one,) = attributed(trained, ["One two. Three four. Five six."], method)
            assert [one.text[a:b] for a, b in one.spans] == ["One", "two", "."]
            assert len(one.scores) == 3


def test_drawn_weights_are_those_of_explain() -> None:
    for variant in ("embedding", "bilstm", "han-apln", "three"):
        trained = make(variant)
        trained.model.float()
        for one, other in zip(explain(trained, TEXTS), attribute(trained, TEXTS, "attention_norm"), strict=True):
            drawn = other.explanation()
            assert [x.weight for x in drawn.tokens] == pytest.approx([x.weight for x in one.tokens], abs=1e-6)
            assert [x.weight for x in drawn.sentences] == pytest.approx([x.weight for x in one.sentences], abs=1e-6)
            assert [x.weight for x in drawn.parts] == pytest.approx([x.weight for x in one.parts], abs=1e-6)
            assert [x.known for x in drawn.tokens] == [x.known for x in one.tokens]
            assert drawn.prediction.value == one.prediction.value


@pytest.mark.parametrize("variant", ["embedding", "units", "affine"])
@pytest.mark.parametrize("method", ["attention", "attention_norm"])
def test_tables_give_what_the_model_gives(variant: str, method: str) -> None:
    trained = make(variant)
    assert is_fast(trained, method)
    fast = attribute(trained, TEXTS, method, targets=["low", None, 2, *[None] * (len(TEXTS) - 3)])
    trained.device = "cpu:0"  # another name is enough
    assert not is_fast(trained, method)
    slow = attribute(trained, TEXTS, method, targets=["low", None, 2, *[None] * (len(TEXTS) - 3)])
    for one, other in zip(fast, slow, strict=True):
        assert (one.text, one.method, one.spans, one.known) == (other.text, other.method, other.spans, other.known)
        assert (one.target, one.prediction.value) == (other.target, other.prediction.value)
        assert one.scores == pytest.approx(other.scores, abs=1e-6)
        assert (one.cost["forward"], one.cost["backward"]) == (other.cost["forward"], other.cost["backward"])


def test_weights_are_called_the_same_by_everyone() -> None:
    for variant in VARIANTS:
        trained = make(variant)
        sharpens = "apln" in variant
        assert default_method(trained) == ("attention_norm" if sharpens else "attention")
        assert ("attention_norm" in methods(trained)) == sharpens
        (drawn,) = explain(trained, TEXTS[:1])
        (plain, sharpened) = (attribute(trained, TEXTS[:1], name)[0] for name in ("attention", "attention_norm"))
        assert drawn.method == default_method(trained)
        assert [token.weight for token in drawn.tokens] == pytest.approx(sharpened.scores.tolist(), abs=1e-9)
        assert (plain.scores.tolist() != pytest.approx(sharpened.scores.tolist(), abs=1e-6)) == sharpens


def test_the_table_has_everything_that_pages_need() -> None:
    titles = [explainer.title for explainer in EXPLAINERS.values()]
    assert len(set(titles)) == len(titles)
    for name, explainer in EXPLAINERS.items():
        assert explainer.function.__name__ == name
        assert explainer.sentence
        assert explainer.passes is None or explainer.passes >= 1
        assert not (explainer.signed and explainer.reads in ("weights", "nothing"))
    assert [name for name, explainer in EXPLAINERS.items() if explainer.is_control] == ["random", "tfidf"]


@every_method
def test_records_can_be_drawn_and_measures_take_the_scores(method: str) -> None:
    trained = make("han")
    found = attributed(trained, TEXTS, method)
    for one in found:
        for side in ("for", "against", "both"):
            drawn = one.explanation("high", side)
            weights = [token.weight for token in drawn.tokens]
            assert all(weight >= 0 for weight in weights)
            assert sum(weights) == pytest.approx(1) or not any(weights)
            assert drawn.method == method
            assert rows(drawn) or not one.text
    scored = [Scored(*one.scored(2)) for one in found]
    check(scored, method)
    assert set(judge_erased(trained.answers, {method: scored}, cuts=[1], draws=0)) == {method}


def test_sides_by_hand() -> None:
    (one,) = attribute(make("average", "binary"), ["good bad not"], "random")
    object.__setattr__(one, "scores", np.array([3.0, -2.0, 1.0]))
    assert [x.weight for x in one.explanation(side="for").tokens] == [0.75, 0, 0.25]
    assert [x.weight for x in one.explanation(side="against").tokens] == [0, 1, 0]
    assert [x.weight for x in one.explanation(side="both").tokens] == pytest.approx([1 / 2, 1 / 3, 1 / 6])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "shap"}, "method = 'shap': accepted are attention, attention_norm"),
        ({"method": "attention", "steps": 3}, "steps: no option of attention; it has none"),
        ({"method": "surrogate", "steps": 3}, "steps: no option of surrogate; accepted are samples, ridge, of, seed"),
        ({"steps": 0}, "steps = 0: a whole number above 0 is accepted"),
        ({"targets": ["low"]}, "targets: 1 for 2 texts; one a text, or one for all, is accepted"),
        ({"targets": "best"}, "targets: the label 'best' was not among the training labels"),
        ({"targets": 3}, "targets: there is no class number 3; 0 to 2, or a class's name, is accepted"),
        ({"targets": -1}, "targets: there is no class number -1"),
        ({"targets": True}, "targets: there is no class number True"),
        ({"texts": "good"}, "texts: a single string is given; a list of texts is accepted"),
        ({"texts": ["good", 3]}, "texts: number 2 is no text but int; strings are accepted"),
        ({"steps": 2.5}, "steps = 2.5: a whole number above 0 is accepted"),
        (
            {"method": "tfidf", "background": "good"},
            "background: a single string is given; a list of texts is accepted",
        ),
        (
            {"method": "tfidf", "background": ["good", 3]},
            "background: number 2 is no text but int; strings are accepted",
        ),
        ({"method": "random", "seed": -1}, "seed = -1: a whole number from 0 is accepted"),
        ({"method": "surrogate", "seed": 0.5}, "seed = 0.5: a whole number from 0 is accepted"),
        ({"method": "surrogate", "ridge": "1"}, "ridge = '1': a number above 0 is accepted"),
        ({"method": "surrogate", "samples": 1}, "samples = 1: a whole number above 1 is accepted"),
        ({"method": "surrogate", "ridge": 0.0}, "ridge = 0.0: a number above 0 is accepted"),
        ({"method": "surrogate", "of": "odds"}, "of = 'odds': accepted are logit, probability"),
        (
            {"method": "leave_one_out", "texts": ["good", "a " * 5001]},
            "leave_one_out, text 2: 5001 words would take as many passes over the whole text; up to 5000 are accepted",
        ),
    ],
)
def test_bad_input_is_told_in_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        attribute(make("bilstm"), **{"texts": ["good", "not bad"], **given})
    assert said in str(error.value)


def test_numbers_have_no_classes_to_choose() -> None:
    with pytest.raises(InputError, match="targets: 'high' is given, but the model answers with a number"):
        attribute(make("bilstm", "regression"), ["good"], targets="high")
    (one,) = attribute(make("bilstm", "regression"), ["good"])
    with pytest.raises(InputError, match="side = 'left': accepted are for, against, both"):
        one.explanation(side="left")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [name for name in EXPLAINERS if name not in ("leave_one_out", "surrogate")])
def test_a_very_long_text_is_explained(method: str) -> None:
    (one,) = attribute(make("cnn"), ["good bad " * 10_000], method, **FAST.get(method, {}))
    assert np.isfinite(one.scores).all()
    assert len(one.scores) == 20_000
