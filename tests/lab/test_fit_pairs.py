"""Two towers learn from other reviews: known effects are recovered, and the rated review is never read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.towers.fit_pairs import fit_pairs
from regard_lab.towers.ratings import Rating
from regard_lab.towers.synthetic_ratings import World, WorldOptions, ideal, world
from regard_lab.towers.trained_towers import TrainedTowers, predicted_effects

OPTIONS: dict[str, Any] = {
    "levels": 3,
    "encoder": "affine,embedding,embedding",
    "embedding": 12,
    "hidden": 12,
    "query": 12,
    "lr": 0.01,
    "epochs": 8,
    "patience": 0,
    "batch_size": 32,
    "dropout": 0.1,
    "device": "cpu",
}
REVIEWS = WorldOptions(60, 40, 8, sentences=2, length=4, evidence=3, silent=0.1, slope=2.0, noise=0.3)
WORLD = world(REVIEWS)
TRAIN, DEV, TEST = WORLD.ratings[:340], WORLD.ratings[340:400], WORLD.ratings[400:]


def fitted(**options: Any) -> TrainedTowers:
    given: dict[str, Any] = {"most": options.pop("most", 6), "side": options.pop("side", "both")}
    return fit_pairs(Config().override({**OPTIONS, **options}), TRAIN, DEV, Silent(), **given)


@pytest.fixture(scope="module")
def trained() -> TrainedTowers:
    return fitted()


def rmse(predictions: NDArray[np.float64] | Sequence[float], ratings: Sequence[Rating]) -> float:
    return float(np.sqrt(np.mean((np.asarray(predictions) - [rating.value for rating in ratings]) ** 2)))


def strangers(seed: int = 9) -> World:
    return world(REVIEWS, seed)


def test_known_effects_are_recovered(trained: TrainedTowers) -> None:
    spread = rmse(np.full(len(TEST), np.mean([rating.value for rating in TRAIN])), TEST)
    assert rmse(trained.answers(TEST), TEST) < WORLD.noise + 0.5 * (spread - WORLD.noise)
    users, items = predicted_effects(trained)
    assert np.corrcoef([users[name] for name in WORLD.users], list(WORLD.users.values()))[0, 1] > 0.7
    assert np.corrcoef([items[name] for name in WORLD.items], list(WORLD.items.values()))[0, 1] > 0.7


def test_strangers_are_predicted_from_their_reviews(trained: TrainedTowers) -> None:
    other = strangers()
    among = trained.with_reviews(other.ratings)
    spread = rmse(np.full(len(other.ratings), 3.0), other.ratings)
    best = rmse(ideal(other, other.ratings, among.contexts(other.ratings)), other.ratings)
    assert best < rmse(among.answers(other.ratings), other.ratings) < 0.8 * spread


def test_the_rated_review_is_never_seen(trained: TrainedTowers) -> None:
    """Neither in training, nor where a rating of the training set is asked for."""
    before = trained.answers(TRAIN)
    for index in (0, 7, 99):
        changed = [*TRAIN]
        changed[index] = replace(TRAIN[index], text="g1 g2 g3 m1 m2 m3. b1 s1.")
        among = trained.with_reviews(changed)
        after = among.answers(changed)
        assert after[index] == pytest.approx(before[index], abs=1e-6)
        others = [k for k, x in enumerate(TRAIN) if x.user == TRAIN[index].user and k != index]
        assert np.abs(after[others] - before[others]).max() > 1e-4, "the others do read it"
    reworded = [replace(rating, text="b1 b2 b3 s1 s2.") for rating in TEST]
    assert trained.answers(reworded).tolist() == trained.answers(TEST).tolist()


def test_predictions_do_not_depend_on_the_order_of_ratings(trained: TrainedTowers) -> None:
    whole = trained.answers(TEST)
    assert trained.answers(TEST[::-1])[::-1] == pytest.approx(whole, abs=1e-5)
    assert trained.answers(TEST[3:4]) == pytest.approx(whole[3:4], abs=1e-5)


def test_unknown_users_and_items_all_get_the_same_prediction(trained: TrainedTowers) -> None:
    predictions = trained.answers([Rating("new", "other", 0.0, "any words"), Rating(None, None, 5.0, "others")])
    assert predictions[0] == predictions[1]


def test_a_model_of_one_side_reads_only_that_side() -> None:
    trained = fitted(side="user", epochs=2)
    rating = TEST[0]
    elsewhere = replace(rating, item=next(name for name in WORLD.items if name != rating.item))
    mates = [x for x in TRAIN if x.user == rating.user]
    assert all(x.item not in (rating.item, elsewhere.item) for x in mates)
    assert trained.answers([rating]) == trained.answers([elsewhere])
    _, items = predicted_effects(trained)
    assert max(items.values()) == min(items.values())


def test_the_same_seed_gives_the_same_answers() -> None:
    one, other, third = (fitted(epochs=1, seed=seed, pooling="apln").answers(TEST) for seed in (1, 1, 2))
    assert one.tolist() == other.tolist()
    assert one.tolist() != third.tolist()


def test_history_has_the_norms_of_both_towers() -> None:
    history = fitted(epochs=1, pooling="apln").metrics["history"]
    levels = ("words", "sentences", "parts")
    assert set(history[0]["norms"]) == {f"{side}_{level}" for side in ("user", "item") for level in levels}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": 2}, "levels: expected 3 for two towers .*, got 2"),
        ({"most": 0}, "max_reviews: expected 1 or more, got 0"),
        ({"lr": 1e6, "clip": 0.0}, "training diverged"),
    ],
)
def test_invalid_options_are_errors(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fitted(**change)


def test_constant_ratings_are_rejected() -> None:
    alike = [replace(rating, value=3.0) for rating in TRAIN]
    with pytest.raises(InputError, match="expected at least two different training ratings"):
        fit_pairs(Config().override(OPTIONS), alike, DEV, Silent())
    with pytest.raises(InputError, match="expected dev ratings for early stopping, got none"):
        fit_pairs(Config().override(OPTIONS), TRAIN, [], Silent())
