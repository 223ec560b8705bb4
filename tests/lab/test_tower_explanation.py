"""What two towers read: shares that sum to 1 at every tier, terms that sum to the rating, and a page that escapes everything."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from small_towers import FORMS, TEST, TRAIN, fitted

from regard.config import Model
from regard.report.text.numbers import signed
from regard_lab.towers.explanation import GAP, ExplainedPair, explain
from regard_lab.towers.page import measure_rows, page
from regard_lab.towers.ratings import Rating, ReviewContext
from regard_lab.towers.trained_towers import TrainedTowers
from regard_lab.towers.two_towers import Form, build_towers

STRANGERS = [Rating("new", "i1", math.nan, ""), Rating(None, None, 2.0, "", 9)]
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture(scope="module", params=FORMS.values(), ids=FORMS)
def trained(request: pytest.FixtureRequest) -> TrainedTowers:
    return fitted(request.param, pooling="apln", lr=0.05)


def test_the_terms_sum_to_the_prediction(trained: TrainedTowers) -> None:
    asked = [*TEST, *STRANGERS]
    for pair, answer in zip(explain(trained, asked), trained.answers(asked), strict=True):
        assert pair.rating == pytest.approx(answer, abs=1e-5)
        assert sum(pair.terms.values()) == pytest.approx(answer, abs=1e-5)


def test_the_terms_by_hand() -> None:
    """u = (1, 2), i = (3, 5), of which the second numbers are ids; weights 1, 10 | 100, 1000 | ½, 2 and bias 7."""
    model = build_towers(Model(levels=3, embedding=1), 5, form=Form(ids=1))
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[1.0, 10.0, 100.0, 1000.0, 0.5, 2.0]]))
        model.head.bias.fill_(7.0)
        user, item = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 5.0]])
        terms = {name: value.tolist() for name, value in model.terms(user, item).items()}
        assert model.rate(user, item).tolist() == [[1 + 20 + 300 + 5000 + 1.5 + 20 + 7]]
    assert terms == {
        "user_reviews": [1],
        "item_reviews": [300],
        "together_reviews": [1.5],
        "user_ids": [20],
        "item_ids": [5000],
        "together_ids": [20],
        "bias": [7],
    }


def test_the_shares_of_each_tier_sum_to_one_and_to_the_tier_above(trained: TrainedTowers) -> None:
    for pair in explain(trained, TEST):
        for side in (pair.user, pair.item):
            shown = side.explanation
            assert len(shown.parts) == len(side.reviews) <= 5
            assert shown.text == GAP.join(review.text for review in side.reviews)
            for tier in (shown.tokens, shown.sentences, shown.parts):
                assert sum(unit.weight for unit in tier) == pytest.approx(1 if side.reviews else 0)
            for below, above in ((shown.tokens, shown.sentences), (shown.sentences, shown.parts)):
                for unit in above:
                    within = [one.weight for one in below if unit.start <= one.start < unit.end]
                    assert sum(within) == pytest.approx(unit.weight)
            for part, review in zip(shown.parts, side.reviews, strict=True):
                assert shown.text[part.start : part.end] == review.text
            assert all(shown.text[token.start : token.end] == token.text for token in shown.tokens)


def test_the_order_of_pairs_changes_nothing(trained: TrainedTowers) -> None:
    forwards, backwards = explain(trained, TEST), explain(trained, TEST[::-1])[::-1]
    for one, other in zip(forwards, backwards, strict=True):
        assert (one.user.reviews, one.item.reviews, one.row) == (other.user.reviews, other.item.reviews, other.row)
        weights, others = ([t.weight for t in x.user.explanation.tokens] for x in (one, other))
        np.testing.assert_allclose(weights, others, atol=1e-6)


def test_the_rated_review_is_not_among_those_that_are_read(trained: TrainedTowers) -> None:
    for rating, pair in zip(TRAIN, explain(trained, TRAIN), strict=True):
        assert rating not in [*pair.user.reviews, *pair.item.reviews]


def test_strangers_have_nothing_to_show(trained: TrainedTowers) -> None:
    new, nobody = explain(trained, STRANGERS)
    assert (new.user.name, new.user.reviews, new.user.explanation.tokens) == ("new", [], ())
    assert len(new.item.reviews) == 5
    assert new.actual is None
    assert (nobody.actual, nobody.row) == (2.0, 9)
    knows_ids = bool(trained.model.form.ids)
    assert new.user.known_id == (False if knows_ids else None)
    assert new.item.known_id == (True if knows_ids else None)


def test_a_line_of_json_has_all_tiers(trained: TrainedTowers) -> None:
    (pair,) = explain(trained, TEST[:1])
    row = json.loads(json.dumps(pair.as_dict()))
    assert (row["user"], row["item"], row["rating"]) == (TEST[0].user, TEST[0].item, TEST[0].value)
    assert row["prediction"] == pair.rating
    assert row["terms"] == pair.terms
    side = row["user_reviews"]
    assert {"method", "text", "reviews", "sentences", "tokens"} <= set(side)
    assert side["method"] == "attention_norm"
    assert [one["rating"] for one in side["reviews"]] == [review.value for review in pair.user.reviews]


def test_measures_by_what_is_known() -> None:
    """Errors 1 and −1 with both known, 2 with neither, and a rating that is not known."""
    ratings = [Rating("u", "i", value, "") for value in (1.0, 3.0, 2.0, math.nan)]
    both, neither = ReviewContext((0,), (1,)), ReviewContext((), ())
    rows = measure_rows(np.array([2.0, 2.0, 4.0, 4.0]), ratings, [both, both, neither, both])
    assert [(row.name, row.count, row.mae) for row in rows] == [
        ("all", 3, pytest.approx(4 / 3)),
        ("both known", 2, 1),
        ("neither known", 1, 2),
    ]
    assert [row.rmse for row in rows] == pytest.approx([math.sqrt(2), 1, 2])


def pages(explained: list[ExplainedPair], trained: TrainedTowers) -> str:
    return page(trained, f"A title {HOSTILE}", HOSTILE, [], explained, len(explained))


def test_a_page_escapes_texts_and_names() -> None:
    reviews = [
        Rating(f"u{HOSTILE}", "i1", 4.0, f"A fine {HOSTILE} cup. & more", 1),
        Rating(f"u{HOSTILE}", f"i{HOSTILE}", 2.0, 'A "poor" cup <b>indeed</b>.', 2),
        Rating("bob", f"i{HOSTILE}", 1.0, "Broken.", 3),
    ]
    trained = fitted(FORMS["ours with ids"], [*reviews, *TRAIN])
    explained = explain(
        trained, [Rating(f"u{HOSTILE}", f"i{HOSTILE}", 3.0, HOSTILE, 1), Rating(HOSTILE, "i1", 1.0, "")]
    )
    html = pages(explained, trained)
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "script-src" not in html, "no script may run"
    assert "http" not in html.replace("http-equiv", ""), "nothing is loaded from elsewhere"


def test_a_page_shows_both_sides_with_their_weights(trained: TrainedTowers) -> None:
    explained = explain(trained, TEST[:2])
    html = pages(explained, trained)
    for pair in explained:
        assert f"<bdi>{pair.user.name}</bdi> × <bdi>{pair.item.name}</bdi>" in html
        for value in pair.terms.values():
            assert signed(value) in html
        for review in (*pair.user.reviews, *pair.item.reviews):
            assert f"{review.user} on {review.item}, rated {review.value:.3f}, weight" in html
            assert review.text.split()[0] in html
