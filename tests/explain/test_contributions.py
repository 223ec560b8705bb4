"""Signed contributions: the drop of the target's log-odds without a word, and what else an explanation says about words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from drawn_models import TEXTS, make

from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.explainers import default_contribution
from regard.explain.flat_texts import without
from regard.models.trained import Trained
from regard.records import Explanation


def log_odds(trained: Trained, text: str, target: int) -> float:
    p = float(trained.answers([text])[0, target])
    return math.log(p) - math.log1p(-p)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("target", [None, 0, 1])
def test_a_contribution_is_the_drop_of_the_log_odds_without_the_word(task: str, target: int | None) -> None:
    trained = make("units", task)
    text = "One is good , two is not"
    (shown,) = explain(trained, [text], target=target)
    words = text.split()
    chosen = int(trained.answers([text]).argmax()) if target is None else target
    assert shown.target == trained.task.classes[chosen]  # type: ignore[attr-defined]
    for index, token in enumerate(shown.tokens):
        rest = " ".join([*words[:index], *words[index + 1 :]])
        drop = log_odds(trained, text, chosen) - log_odds(trained, rest, chosen)
        assert token.contribution == pytest.approx(drop, abs=2e-5)
        p = float(trained.answers([text])[0, chosen])
        assert without(p, np.array([token.contribution])) == pytest.approx(trained.answers([rest])[0, chosen], abs=1e-5)


def test_a_regressions_contribution_is_in_the_unit_of_the_ratings() -> None:
    trained = make("units", "regression")
    (shown,) = explain(trained, ["good bad"])
    values = trained.answers(["good bad", "bad", "good"])[:, 0]
    assert [token.contribution for token in shown.tokens] == pytest.approx(
        [values[0] - values[1], values[0] - values[2]], abs=1e-4
    )
    assert shown.target is None
    assert shown.strong == trained.task.scale / 2  # type: ignore[attr-defined]


def test_the_only_word_of_a_text_is_compared_with_the_bias_alone() -> None:
    trained = make("units", "binary")
    (shown,) = explain(trained, ["good"], target=1)
    (token,) = shown.tokens
    assert token.contribution == pytest.approx(log_odds(trained, "good", 1) - float(trained.tables.bias[0]), abs=1e-5)


@pytest.mark.parametrize("variant", ["units", "embedding", "bilstm", "han"])
def test_repeated_words_have_a_joint_contribution(variant: str) -> None:
    trained = make(variant, "binary")
    text = "Bad , bad and not good ; Good is good"
    method = "leave_one_out"
    (shown,) = explain(trained, [text], method=method, target=1)
    joint = {one.text: one for one in shown.repeated}
    assert {name: one.tokens for name, one in joint.items()} == {"Bad": (0, 2), "good": (5, 7, 9)}
    rest = {"Bad": ", and not good ; Good is good", "good": "Bad , bad and not ; is"}
    for name, one in joint.items():
        drop = log_odds(trained, text, 1) - log_odds(trained, rest[name], 1)
        assert one.contribution == pytest.approx(drop, abs=2e-5)


def test_the_joint_contribution_of_an_additive_method_is_the_sum() -> None:
    (shown,) = explain(make("bilstm"), ["bad bad good"], method="integrated_gradients")
    (one,) = shown.repeated
    assert one.contribution == pytest.approx(sum(shown.tokens[k].contribution or 0 for k in one.tokens))


def test_how_words_are_read() -> None:
    flat, words = make("units"), make("embedding")
    text = "good goodness qwerty is"
    assert [x.read_as for x in next(explain(flat, [text])).tokens] == ["word", "beginning", "nothing", "word"]
    assert [x.read_as for x in next(explain(words, [text])).tokens] == ["word", "unknown", "unknown", "word"]
    assert [x.read_as for x in next(explain(flat, ["qwerty asdf"])).tokens] == ["unknown", "unknown"]
    assert [x.read_as for x in next(explain(make("bilstm"), [text])).tokens] == ["word", "unknown", "unknown", "word"]
    for trained in (flat, words):
        assert all(x.known == (x.read_as == "word") for one in explain(trained, TEXTS) for x in one.tokens)


def test_a_word_that_is_not_read_can_matter_by_separating_its_neighbours() -> None:
    """ "is good" is a pair of the model; with a word between them it is not."""
    (shown,) = explain(make("units"), ["is qwerty good"])
    between = shown.tokens[1]
    assert (between.read_as, between.weight) == ("nothing", 0.0)
    assert between.contribution != 0.0


@pytest.mark.parametrize("variant", ["units", "bilstm", "apln", "han", "three"])
def test_a_signed_method_gives_contributions_and_another_weights(variant: str) -> None:
    trained = make(variant)
    plain = list(explain(trained, TEXTS))
    for method in ("integrated_gradients", "surrogate"):
        shown = list(explain(trained, TEXTS, method=method))
        assert {one.contribution_method for one in shown} == {method}
        assert [one.method for one in shown] == [one.method for one in plain]
        for one, scores in zip(shown, attribute(trained, TEXTS, method), strict=True):
            assert [token.contribution for token in one.tokens] == scores.scores.tolist()
            assert [x.contribution for x in one.sentences] == pytest.approx([x.weight for x in scores.sentences])
    for method in ("random", "weighted_norm"):
        shown = list(explain(trained, TEXTS, method=method))
        assert {one.method for one in shown} == {method}
        assert {one.contribution_method for one in shown} == {default_contribution(trained)}
        for one in shown:
            weights = [token.weight for token in one.tokens]
            assert not weights or (min(weights) >= 0 and sum(weights) == pytest.approx(1))


@pytest.mark.parametrize(
    ("variant", "method"),
    [
        ("units", "leave_one_out"),
        ("bilstm", "two_point_gradients"),
        ("apln", "two_point_gradients"),
        ("han", "gradient_times_input"),
        ("three", "gradient_times_input"),
    ],
)
def test_the_default_is_exact_where_that_is_cheap_and_else_a_gradient(variant: str, method: str) -> None:
    trained = make(variant)
    assert default_contribution(trained) == method
    for one, scores in zip(explain(trained, TEXTS), attribute(trained, TEXTS, method), strict=True):
        assert one.contribution_method == method
        assert [token.contribution for token in one.tokens] == scores.scores.tolist()


def test_top_words_are_those_with_the_largest_contributions() -> None:
    (shown,) = explain(make("units"), [TEXTS[3]])
    contributions = [token.contribution or 0 for token in shown.top(100)]
    assert contributions == sorted(contributions, reverse=True)


@pytest.mark.parametrize("variant", ["units", "han", "three"])
def test_the_json_form_returns(variant: str) -> None:
    for one in explain(make(variant, "binary"), TEXTS, ["yes"] * len(TEXTS)):
        assert Explanation.from_dict(json.loads(json.dumps(one.as_dict()))) == one


def test_bad_methods_and_targets() -> None:
    with pytest.raises(InputError, match=r"method: expected one of attention, .*, got 'guess'"):
        list(explain(make("units"), ["good"], method="guess"))
    with pytest.raises(InputError, match=r"target: expected one of .*, got 'best'"):
        list(explain(make("units"), ["good"], target="best"))
