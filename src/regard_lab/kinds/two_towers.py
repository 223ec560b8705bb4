"""The kind "two_towers": ratings guessed from the other reviews of a user and of an item, by two towers and by rivals.

A corpus is a file of reviews with user, item, rating and text, or, where it names none, a made-up world of known effects
(`towers/synthetic_ratings`). Only training reviews are read, whatever is to be rated. Of a made-up world the training part
is seven tenths of the ratings, dev one tenth and test the rest; the same reader is then put among strangers, a second
world of the same law, where nothing can be remembered and all must be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Recorder
from regard_lab.kinds.train import numbers, paths
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    from regard_lab.kinds.rating_baselines import Effects, Predictor
    from regard_lab.tables.table import Cell
    from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex
    from regard_lab.towers.synthetic_ratings import World

WORLD: Options = {  # of a corpus that is made up: see `towers/synthetic_ratings.WorldOptions`
    **dict.fromkeys(("users", "items", "each", "sentences", "length", "evidence", "kind", "neutral"), int),
    **dict.fromkeys(("user_spread", "item_spread", "noise", "slope", "silent"), float),
}
KEYS: Options = {
    "reader": Literal["towers", "mean", "ridge", "ideal"],  # of a method: who guesses
    "side": Literal["both", "user", "item"],  # of a method: what is read
    "max_reviews": int,  # a user or item, at most; the first ones
    **WORLD,
}
MEASURES = {
    **{
        f"rmse_{group}": Measure(f"RMSE, {told}", 1, 3, -1)
        for group, told in (
            ("both", "both known"),
            ("user", "user known"),
            ("item", "item known"),
            ("neither", "neither known"),
            ("strangers", "among strangers"),
        )
    },
    **{f"n_{group}": Measure(f"Ratings, {group}", 1, 0) for group in ("both", "user", "item", "neither")},
    "gap": Measure("% of the way from noise to the mean", 100, 1, -1),
    "gap_strangers": Measure("the same among strangers", 100, 1, -1),
    "user_r": Measure("r of users' effects", 1, 3, 1),
    "item_r": Measure("r of items' effects", 1, 3, 1),
    "user_r_strangers": Measure("r of strange users' effects", 1, 3, 1),
    "item_r_strangers": Measure("r of strange items' effects", 1, 3, 1),
}


class RatingData(NamedTuple):
    train: list[Rating]
    dev: list[Rating]
    test: list[Rating]
    world: World | None  # the truth, of a made-up corpus
    strangers: World | None
    data: dict[str, str]


class Reader(NamedTuple):
    """Who guesses: ratings from what may be read, and each user's and item's effect."""

    guess: Predictor
    effects: Callable[[ReviewIndex], Effects]
    told: Row  # of its training


def check(cell: Cell) -> None:
    options, corpus = cell.options, cell.corpus
    made = corpus.train is None
    if made and (corpus.dev or corpus.test):
        raise InputError(f"{cell.name}: dev or test without train; give all three, or none for a made-up world")
    if not made and not (corpus.dev and corpus.test):
        raise InputError(f"{cell.name}: two_towers needs train, dev and test; one is missing")
    if not made and (extra := sorted(set(options) & set(WORLD))):
        raise InputError(f"{cell.name}: {extra[0]} is of a made-up world, but train = {corpus.train!r} is read")
    if not made and options.get("reader") == "ideal":
        raise InputError(f"{cell.name}: the ideal reader knows made-up worlds only; towers, mean or ridge is accepted")
    if options.get("reader", "towers") == "towers" and options.get("levels") != 3:
        raise InputError(f"{cell.name}: levels = {options.get('levels', 1)}; two towers have 3")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    check(cell)
    rated = read_rating_data(cell)
    for seed in seeds:
        begun = time.perf_counter()
        try:
            result = judge(cell.options, rated, seed, context)
        except InputError as error:
            result = {"error": str(error)}
        yield {"seed": seed, "seconds": time.perf_counter() - begun, "data": rated.data, **result}


def read_rating_data(cell: Cell) -> RatingData:
    from regard_lab.tables.corpora import digests, sources
    from regard_lab.towers.ratings import read_ratings
    from regard_lab.towers.synthetic_ratings import WorldOptions, world

    if cell.corpus.train is None:
        given = WorldOptions(**{key: value for key, value in cell.options.items() if key in WORLD})
        here, there = world(given, seed=0), world(given, seed=1)
        first, second = round(len(here.ratings) * 0.7), round(len(here.ratings) * 0.8)
        parts = here.ratings[:first], here.ratings[first:second], here.ratings[second:]
        return RatingData(*parts, here, there, {})
    files = sources(cell.corpus)
    found = {split: read_ratings(path) for split, path in files.items()}
    data = digests(files.values(), cell.options.get("vectors"))
    return RatingData(found["train"], found["dev"], found["test"], None, None, data)


def judge(options: Options, rated: RatingData, seed: int, context: Context) -> Row:
    """Make a reader and let it guess the test ratings, and those among strangers."""
    import numpy as np
    import sklearn
    import torch

    from regard import __version__
    from regard.training.fit_torch import environment
    from regard_lab.kinds.rating_baselines import by_coverage, effect_correlations, scores
    from regard_lab.towers.ratings import ReviewIndex

    known, most, side = ReviewIndex(rated.train), options.get("max_reviews"), options.get("side", "both")
    reader = make_reader(options, rated, known, seed, context)
    meetings = [known.meeting(rating, most, side) for rating in rated.test]
    mean = float(np.mean([rating.value for rating in rated.train]))
    said = reader.guess(known, meetings)
    values = scores(said, rated.test, mean)
    values |= by_coverage(said, rated.test, [known.meeting(rating, most) for rating in rated.test], context.recorder)
    if rated.world is not None and rated.strangers is not None:
        floor, strange = rated.world.noise, rated.strangers
        values["gap"] = (values["rmse"] - floor) / (values["rmse_of_mean"] - floor)
        values |= effect_correlations(reader.effects(known), rated.world, "")
        there = ReviewIndex(strange.ratings)
        others = [there.meeting(rating, most, side) for rating in strange.ratings]
        among = scores(reader.guess(there, others), strange.ratings, mean)
        values["rmse_strangers"] = among["rmse"]
        values["gap_strangers"] = (among["rmse"] - floor) / (among["rmse_of_mean"] - floor)
        values |= effect_correlations(reader.effects(there), strange, "_strangers")
    versions = {**environment(torch.device(context.device)), "scikit-learn": sklearn.__version__, "regard": __version__}
    return {"values": values, **reader.told, "environment": versions}


def make_reader(options: Options, rated: RatingData, known: ReviewIndex, seed: int, context: Context) -> Reader:
    from functools import partial

    from regard_lab.kinds.rating_baselines import ideal_predictor, mean_predictor, one_sided_effects, ridge_predictor

    most, side, name = options.get("max_reviews"), options.get("side", "both"), options.get("reader", "towers")
    if name == "towers":
        own = {key: value for key, value in options.items() if key not in KEYS}
        config = Config().override({**own, "device": context.device, "seed": seed})
        return towers(config, rated, most, side, context.recorder)
    if name == "ridge":
        parts = [[known.meeting(rating, most, side) for rating in part] for part in (rated.train, rated.dev)]
        guess = ridge_predictor(known, parts[0], rated.dev, parts[1], options.get("max_words"))
    elif name == "ideal" and rated.world is not None:
        guess = ideal_predictor(rated.world)
    else:
        guess = mean_predictor(rated.train)
    return Reader(guess, partial(one_sided_effects, guess, most=most), {})


def towers(config: Config, rated: RatingData, most: int | None, side: Any, recorder: Recorder) -> Reader:
    from regard_lab.towers.fit_pairs import fit_pairs, predicted_effects

    trained = fit_pairs(config, rated.train, rated.dev, recorder, most, side)

    def guess(known: ReviewIndex, meetings: Sequence[ReviewContext]) -> Any:
        among = trained if known.ratings is rated.train else trained.knowing(known.ratings)
        return among.said(meetings)

    metrics = trained.metrics
    norms = metrics["history"][metrics["best_epoch"] - 1]["norms"]
    told: Row = {
        "dev": {**numbers(metrics["dev"]), **{f"norm_{name}": spread["mean"] for name, spread in norms.items()}},
        "history": paths(metrics["history"]),
        "best_epoch": metrics["best_epoch"],
        "epochs": metrics["epochs"],
    }
    return Reader(guess, lambda known: predicted_effects(trained.knowing(known.ratings)), told)
