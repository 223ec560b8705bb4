"""Baselines for two towers, and the accuracy of predicted ratings.

The baselines: the training mean, ridge regression on bags of the same words, and the optimal predictor for synthetic reviews,
which knows how they were generated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.words import forms
from regard.recorder import Recorder
from regard.training.metrics import regression_metrics
from regard_lab.kinds.train import numbers
from regard_lab.towers.ratings import GROUPS, Rating, ReviewContext, ReviewIndex, coverage
from regard_lab.towers.synthetic_ratings import World, ideal

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # tried on dev

Predictor = Callable[
    [ReviewIndex, Sequence[ReviewContext]], NDArray[np.float64]
]  # ratings, from the reviews that may be read
Effects = tuple[dict[str, float], dict[str, float]]  # of users and of items


def mean_predictor(train: Sequence[Rating]) -> Predictor:
    """Predicts the training mean for every user and item."""
    mean = float(np.mean([rating.value for rating in train]))
    return lambda known, contexts: np.full(len(contexts), mean)


def ideal_predictor(world: World) -> Predictor:
    """The optimal predictor for synthetic reviews: it knows how words depend on effects, but not the effects."""
    return lambda known, contexts: np.array(ideal(world, known.ratings, contexts))


def ridge_predictor(
    train: ReviewIndex,
    contexts: Sequence[ReviewContext],
    dev: Sequence[Rating],
    dev_contexts: Sequence[ReviewContext],
    max_words: int | None = None,
) -> Predictor:
    """Ridge regression on TF-IDF of the user's reviews and TF-IDF of the item's reviews; the penalty is chosen on dev."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge

    def words(text: str) -> list[str]:
        return [word for review in text.split("\0") if review for word in forms(review)[:max_words]]

    read, read_dev = table(train, contexts), table(train, dev_contexts)
    sides = [side for side in (0, 1) if any(read[:, side])]
    bags = ColumnTransformer([(str(side), TfidfVectorizer(analyzer=words, min_df=2), side) for side in sides])
    rows, rows_dev = bags.fit_transform(read), bags.transform(read_dev)
    truth, truth_dev = (np.array([rating.value for rating in part]) for part in (train.ratings, dev))
    models = [Ridge(penalty).fit(rows, truth) for penalty in PENALTIES]
    errors = [float(np.mean((model.predict(rows_dev) - truth_dev) ** 2)) for model in models]
    return partial(ridge_predict, bags, models[int(np.argmin(errors))])


def ridge_predict(bags: Any, model: Any, known: ReviewIndex, contexts: Sequence[ReviewContext]) -> NDArray[np.float64]:
    return np.asarray(model.predict(bags.transform(table(known, contexts))), dtype=np.float64)


def table(known: ReviewIndex, contexts: Sequence[ReviewContext]) -> NDArray[np.object_]:
    """(contexts, 2): the reviews of the user and those of the item, each joined to one text by NUL characters."""
    texts = np.empty((len(contexts), 2), dtype=object)
    for row, context in enumerate(contexts):
        for side, indices in enumerate((context.user, context.item)):
            texts[row, side] = "\0".join(known.ratings[index].text for index in indices)
    return texts


def one_sided_effects(predict: Predictor, known: ReviewIndex, most: int | None) -> Effects:
    """The prediction for each user without reviews of an item, and vice versa: exact for additive predictors."""
    users = predict(known, [ReviewContext(tuple(indices[:most]), ()) for indices in known.by_user.values()])
    items = predict(known, [ReviewContext((), tuple(indices[:most])) for indices in known.by_item.values()])
    return dict(zip(known.by_user, users.tolist(), strict=True)), dict(zip(known.by_item, items.tolist(), strict=True))


def scores(predictions: NDArray[np.float64], ratings: Sequence[Rating], mean: float) -> dict[str, float]:
    return numbers(regression_metrics(predictions, np.array([rating.value for rating in ratings]), mean))


def by_coverage(
    predictions: NDArray[np.float64], ratings: Sequence[Rating], contexts: Sequence[ReviewContext], recorder: Recorder
) -> dict[str, float]:
    """RMSE and number of ratings by which side has other reviews; `contexts` contain both sides, whichever was read."""
    counts = coverage(contexts)
    text = ", ".join(f"{group} {count} ({100 * count / len(ratings):.1f} %)" for group, count in counts.items())
    recorder.note(f"other reviews for {len(ratings)} test ratings: {text}")
    groups = np.array([context.group for context in contexts])
    error = predictions - [rating.value for rating in ratings]
    values: dict[str, float] = {f"n_{group}": count for group, count in counts.items()}
    for group in GROUPS:
        if counts[group]:
            values[f"rmse_{group}"] = float(np.sqrt(np.mean(error[groups == group] ** 2)))
    return values


def effect_correlations(predicted: Effects, world: World, suffix: str) -> dict[str, float]:
    """Correlation (Pearson's r) of predicted and true effects of users and items; left out if predictions are constant."""
    correlations = {}
    for name, effects, truth in (("user", predicted[0], world.users), ("item", predicted[1], world.items)):
        names = [key for key in truth if key in effects]
        values = np.array([effects[key] for key in names])
        if values.std() > 1e-9:
            correlations[f"{name}_r{suffix}"] = float(np.corrcoef(values, [truth[key] for key in names])[0, 1])
    return correlations
