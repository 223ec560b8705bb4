"""Synthetic ratings: the effects are as documented, and the texts show them."""

from __future__ import annotations

import math
from collections import Counter
from statistics import mean, pstdev

import pytest

from regard.errors import InputError
from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex
from regard_lab.towers.synthetic_ratings import MEAN, WorldOptions, expected, ideal, logistic, world

SMALL = WorldOptions(users=40, items=20, each=10)
WORLD = world(SMALL, seed=3)


def test_a_rating_is_the_sum_of_its_effects_and_noise() -> None:
    noise = [x.value - MEAN - WORLD.users[str(x.user)] - WORLD.items[str(x.item)] for x in WORLD.ratings]
    assert len(noise) == 400
    assert abs(mean(noise)) < 4 * WORLD.noise / math.sqrt(400)
    assert pstdev(noise) == pytest.approx(WORLD.noise, rel=0.15)


def test_effects_are_centred_and_as_spread_as_asked() -> None:
    assert mean(WORLD.users.values()) == pytest.approx(0, abs=1e-12)
    assert mean(WORLD.items.values()) == pytest.approx(0, abs=1e-12)
    assert pstdev(WORLD.users.values()) == pytest.approx(0.6, rel=0.05)
    assert pstdev(WORLD.items.values()) == pytest.approx(0.8, rel=0.07)


def test_every_user_rates_different_items_and_every_item_equally_often() -> None:
    assert len({(x.user, x.item) for x in WORLD.ratings}) == 400
    assert set(Counter(x.user for x in WORLD.ratings).values()) == {10}
    assert set(Counter(x.item for x in WORLD.ratings).values()) == {20}
    assert [x.row for x in WORLD.ratings] == list(range(1, 401))


def test_words_show_only_the_effect_of_their_user_or_item() -> None:
    """Counted over a user's reviews, the share of mild words follows σ(slope · effect / spread)."""
    for letters, effects, owner, spread in (("ms", WORLD.users, "user", 0.6), ("gb", WORLD.items, "item", 0.8)):
        words = {name: Counter[str]() for name in effects}
        for x in WORLD.ratings:
            words[getattr(x, owner)].update(word[0] for word in x.text.replace(".", "").split())
        for name, effect in effects.items():
            first, second = (words[name][letter] for letter in letters)
            share, total = logistic(WORLD.slope * effect / spread), first + second
            assert abs(first / total - share) < 4.5 * math.sqrt(share * (1 - share) / total) + 0.01


def test_silent_reviews_contain_only_neutral_words() -> None:
    kinds = [{word[0] for word in x.text.replace(".", "").split()} for x in WORLD.ratings]
    silent = sum(kind == {"o"} for kind in kinds)
    assert 0.3 * 400 - 4 * math.sqrt(400 * 0.21) < silent < 0.3 * 400 + 4 * math.sqrt(400 * 0.21)
    assert all(kind == {"o"} or (len(kind & set("gb")) and len(kind & set("ms"))) for kind in kinds)
    assert all(x.text.count(".") == 4 for x in WORLD.ratings)


def test_the_same_seed_gives_the_same_world() -> None:
    assert world(SMALL, seed=3) == WORLD
    assert world(SMALL, seed=4).ratings != WORLD.ratings


def test_the_optimal_predictor_by_hand() -> None:
    """Nothing read: the mean. One mild word: E[z σ(z)] / E[σ(z)] of a standard normal z, which is 2 E[z σ(z)]."""
    assert expected([], "ms", 1.0, 0.6) == pytest.approx(0, abs=1e-12)
    step = 0.001
    grid = [step * k for k in range(-8000, 8001)]
    moment = sum(z / (1 + math.exp(-z)) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * step for z in grid)
    assert expected(["o1 m3."], "ms", 1.0, 0.6) == pytest.approx(0.6 * 2 * moment, abs=2e-3)
    assert expected(["o1 s3."], "ms", 1.0, 0.6) == pytest.approx(-0.6 * 2 * moment, abs=2e-3)


def test_the_optimal_error_is_between_noise_and_spread() -> None:
    known = ReviewIndex(WORLD.ratings)
    predictions = ideal(WORLD, WORLD.ratings, [known.context(x) for x in WORLD.ratings])
    error = math.sqrt(mean((guess - x.value) ** 2 for guess, x in zip(predictions, WORLD.ratings, strict=True)))
    assert WORLD.noise < error < 0.65 * pstdev(x.value for x in WORLD.ratings)
    blind = ideal(WORLD, WORLD.ratings, [ReviewContext((), ())])
    assert blind == [pytest.approx(MEAN)]


def test_unambiguous_words_can_be_written_and_read() -> None:
    clear = world(WorldOptions(users=4, items=4, each=2, slope=5000.0))
    known = ReviewIndex(clear.ratings)
    assert all(map(math.isfinite, ideal(clear, clear.ratings, [known.context(x) for x in clear.ratings])))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"users": 1}, "users: expected a whole number of at least .*, got 1"),
        ({"each": 61}, "each: expected at most the number of items, 60, got 61"),
        ({"noise": 0.0}, "noise: expected a finite number above 0, got 0.0"),
        ({"silent": 1.5}, "silent: expected a share between 0 and 1, got 1.5"),
        ({"length": 3}, "length: expected a whole number of at least .*, got 3"),
    ],
)
def test_invalid_options_of_a_world_are_rejected(keys: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        world(WorldOptions(**keys))  # type: ignore[arg-type]


def test_ratings_are_reviews() -> None:
    assert all(isinstance(x, Rating) and x.text for x in WORLD.ratings)
