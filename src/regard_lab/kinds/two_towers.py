"""The kind "two_towers": ratings predicted from other reviews of a user and of an item, by two towers and by baselines.

A corpus is a file of reviews with user, item, rating and text, or, without a file, synthetic reviews with known effects
(`towers/synthetic_ratings`). Only training reviews are read, for all splits. Of synthetic reviews seven tenths are for
training, one tenth is dev and the rest test. The same predictor is then tested on strangers: the users and items of a second
synthetic world with the same distribution, about which nothing can have been memorised.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Recorder
from regard_lab.kinds.train import history_paths, numbers
from regard_lab.measures import Measure
from regard_lab.rows import Options, PackedPredictions, Row
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    from regard_lab.kinds.rating_baselines import Effects, Predictor
    from regard_lab.tables.table import Cell
    from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex, Side
    from regard_lab.towers.synthetic_ratings import World
    from regard_lab.towers.two_towers import Form

WORLD: Options = {  # of a synthetic corpus: see `towers/synthetic_ratings.WorldOptions`
    **dict.fromkeys(("users", "items", "each", "sentences", "length", "evidence", "kind", "neutral"), int),
    **dict.fromkeys(("user_spread", "item_spread", "noise", "slope", "silent"), float),
}
KEYS: Options = {
    "reader": Literal["towers", "mean", "ridge", "ideal"],  # of a method: the predictor
    "side": Literal["both", "user", "item"],  # of a method: whose reviews are read
    "max_reviews": int,  # per user or item, the first ones
    "ids": int,  # width of the vectors of user and item ids
    "head": Literal["concat", "product"],
    "relu": bool,
    **WORLD,
}
MEASURES = {
    **{
        f"rmse_{group}": Measure(f"RMSE, {title}", 1, 3, -1)
        for group, title in (
            ("both", "both known"),
            ("user", "user known"),
            ("item", "item known"),
            ("neither", "neither known"),
            ("strangers", "strangers"),
        )
    },
    **{f"n_{group}": Measure(f"Ratings, {group}", 1, 0) for group in ("both", "user", "item", "neither")},
    "gap": Measure("% of the gap from the noise to the RMSE of the mean", 100, 1, -1),
    "gap_strangers": Measure("the same, strangers", 100, 1, -1),
    "user_r": Measure("r of users' effects", 1, 3, 1),
    "item_r": Measure("r of items' effects", 1, 3, 1),
    "user_r_strangers": Measure("r of users' effects, strangers", 1, 3, 1),
    "item_r_strangers": Measure("r of items' effects, strangers", 1, 3, 1),
}


class RatingData(NamedTuple):
    train: list[Rating]
    dev: list[Rating]
    test: list[Rating]
    world: World | None  # the true effects of a synthetic corpus
    strangers: World | None
    data: dict[str, str]


class Reader(NamedTuple):
    """A predictor of ratings from the reviews that may be read, and of each user's and item's effect."""

    predict: Predictor
    effects: Callable[[ReviewIndex], Effects]
    facts: Row  # about its training


def check(cell: Cell) -> None:
    options, corpus = cell.options, cell.corpus
    is_synthetic = corpus.train is None
    if is_synthetic and (corpus.dev or corpus.test):
        raise InputError(f"{cell.name}: dev or test without train; give all three, or none for synthetic reviews")
    if not is_synthetic and not (corpus.dev and corpus.test):
        raise InputError(f"{cell.name}: expected train, dev and test; one is missing")
    if not is_synthetic and (extra := sorted(set(options) & set(WORLD))):
        raise InputError(f"{cell.name}: {extra[0]} is for synthetic reviews only, but train = {corpus.train!r} is read")
    if not is_synthetic and options.get("reader") == "ideal":
        raise InputError(
            f"{cell.name}: reader: expected towers, mean or ridge, got ideal, which is for synthetic reviews only"
        )
    if options.get("reader", "towers") == "towers" and options.get("levels") != 3:
        raise InputError(f"{cell.name}: levels: expected 3 for two towers, got {options.get('levels', 1)}")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    check(cell)
    rated = read_rating_data(cell)
    for seed in seeds:
        start = time.perf_counter()
        try:
            result = evaluate(cell.options, rated, seed, context)
        except InputError as error:
            result = {"error": str(error)}
        yield {"seed": seed, "seconds": time.perf_counter() - start, "data": rated.data, **result}


def read_rating_data(cell: Cell) -> RatingData:
    from regard_lab.tables.corpora import digests, sources
    from regard_lab.towers.ratings import read_ratings
    from regard_lab.towers.synthetic_ratings import WorldOptions, world

    if cell.corpus.train is None:
        options = WorldOptions(**{key: value for key, value in cell.options.items() if key in WORLD})
        first_world, strangers = world(options, seed=0), world(options, seed=1)
        ratings = first_world.ratings
        dev_start, test_start = round(len(ratings) * 0.7), round(len(ratings) * 0.8)
        parts = ratings[:dev_start], ratings[dev_start:test_start], ratings[test_start:]
        return RatingData(*parts, first_world, strangers, {})
    files = sources(cell.corpus)
    splits = {split: read_ratings(path) for split, path in files.items()}
    data = digests(files.values(), cell.options.get("vectors"))
    return RatingData(splits["train"], splits["dev"], splits["test"], None, None, data)


def evaluate(options: Options, rated: RatingData, seed: int, context: Context) -> Row:
    """Make a predictor and evaluate it on the test ratings, and on those of strangers."""
    import sklearn
    import torch

    from regard import __version__
    from regard.training.fit_torch import environment
    from regard_lab.kinds.rating_baselines import by_coverage, effect_correlations, scores
    from regard_lab.towers.ratings import ReviewIndex

    known, most, side = ReviewIndex(rated.train), options.get("max_reviews"), options.get("side", "both")
    reader = make_reader(options, rated, known, seed, context)
    contexts = [known.context(rating, most, side) for rating in rated.test]
    mean = float(np.mean([rating.value for rating in rated.train]))
    predictions = reader.predict(known, contexts)
    values = scores(predictions, rated.test, mean)
    values |= by_coverage(
        predictions, rated.test, [known.context(rating, most) for rating in rated.test], context.recorder
    )
    if rated.world is not None and rated.strangers is not None:
        noise, strangers = rated.world.noise, rated.strangers
        values["gap"] = (values["rmse"] - noise) / (values["rmse_of_mean"] - noise)
        values |= effect_correlations(reader.effects(known), rated.world, "")
        stranger_index = ReviewIndex(strangers.ratings)
        stranger_contexts = [stranger_index.context(rating, most, side) for rating in strangers.ratings]
        stranger_scores = scores(reader.predict(stranger_index, stranger_contexts), strangers.ratings, mean)
        values["rmse_strangers"] = stranger_scores["rmse"]
        values["gap_strangers"] = (stranger_scores["rmse"] - noise) / (stranger_scores["rmse_of_mean"] - noise)
        values |= effect_correlations(reader.effects(stranger_index), strangers, "_strangers")
    versions = {**environment(torch.device(context.device)), "scikit-learn": sklearn.__version__, "regard": __version__}
    return {
        "values": values,
        "predictions": packed(predictions, rated.test),
        **reader.facts,
        "environment": versions,
    }


def packed(predictions: NDArray[np.float64], test: Sequence[Rating]) -> PackedPredictions:
    from regard.models.tasks import Regression
    from regard.records import Example
    from regard_lab.predictions import checksum, pack

    texts = checksum(Example(rating.text, rating.value, rating.row) for rating in test)
    return pack(Regression(0.0, 1.0), predictions[:, None], np.array([rating.value for rating in test]), texts)


def make_reader(options: Options, rated: RatingData, known: ReviewIndex, seed: int, context: Context) -> Reader:
    from functools import partial

    from regard_lab.kinds.rating_baselines import ideal_predictor, mean_predictor, one_sided_effects, ridge_predictor
    from regard_lab.towers.two_towers import Form

    most, side, name = options.get("max_reviews"), options.get("side", "both"), options.get("reader", "towers")
    if name == "towers":
        model_options = {key: value for key, value in options.items() if key not in KEYS}
        config = Config().override({**model_options, "device": context.device, "seed": seed})
        form = Form(**{name: options[name] for name in ("ids", "head", "relu") if name in options})
        return towers(config, rated, (most, side, form), context.recorder)
    if name == "ridge":
        parts = [[known.context(rating, most, side) for rating in part] for part in (rated.train, rated.dev)]
        predict = ridge_predictor(known, parts[0], rated.dev, parts[1], options.get("max_words"))
    elif name == "ideal" and rated.world is not None:
        predict = ideal_predictor(rated.world)
    else:
        predict = mean_predictor(rated.train)
    return Reader(predict, partial(one_sided_effects, predict, most=most), {})


def towers(config: Config, rated: RatingData, options: tuple[int | None, Side, Form], recorder: Recorder) -> Reader:
    from regard_lab.towers.fit_pairs import fit_pairs
    from regard_lab.towers.trained_towers import TrainedTowers, predicted_effects

    trained = fit_pairs(config, rated.train, rated.dev, recorder, *options)

    def reading(known: ReviewIndex) -> TrainedTowers:
        return trained if known.ratings is rated.train else trained.with_reviews(known.ratings)

    def predict(known: ReviewIndex, contexts: Sequence[ReviewContext]) -> Any:
        return reading(known).predict(contexts)

    metrics = trained.metrics
    norms = metrics["history"][metrics["best_epoch"] - 1]["norms"]
    facts: Row = {
        "dev": {**numbers(metrics["dev"]), **{f"norm_{name}": spread["mean"] for name, spread in norms.items()}},
        "history": history_paths(metrics["history"]),
        "best_epoch": metrics["best_epoch"],
        "epochs": metrics["epochs"],
    }
    return Reader(predict, lambda known: predicted_effects(reading(known)), facts)
