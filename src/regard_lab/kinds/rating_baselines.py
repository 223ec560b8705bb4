"""What two towers are measured against, and how good guessed ratings are.

The rivals: the training mean, ridge regression on bags of the same words, and a reader who knows how the world was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.words import forms
from regard.recorder import Recorder
from regard.training.metrics import regression_metrics
from regard_lab.towers.ratings import GROUPS, ReviewIndex, ReviewContext, Rating, coverage
from regard_lab.towers.synthetic_ratings import World, ideal

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # tried on dev

Predictor = Callable[[ReviewIndex, Sequence[ReviewContext]], NDArray[np.float64]]  # ratings, from what may be read
Effects = tuple[dict[str, float], dict[str, float]]  # of users and of items


def mean_predictor(train: Sequence[Rating]) -> Predictor:
    """The training mean, whoever meets what."""
    mean = float(np.mean([rating.value for rating in train]))
    return lambda known, meetings: np.full(len(meetings), mean)


def ideal_predictor(world: World) -> Predictor:
    """By one who knows how the reviews of a made-up world are written, but not who wrote them."""
    return lambda known, meetings: np.array(ideal(world, known.ratings, meetings))


def ridge_predictor(
    train: ReviewIndex,
    meetings: Sequence[ReviewContext],
    dev: Sequence[Rating],
    dev_meetings: Sequence[ReviewContext],
    max_words: int | None = None,
) -> Predictor:
    """TF-IDF of all that is read of the user beside TF-IDF of all that is read of the item; the penalty chosen on dev."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge

    def words(text: str) -> list[str]:
        return [word for review in text.split("\0") if review for word in forms(review)[:max_words]]

    read, read_dev = table(train, meetings), table(train, dev_meetings)
    sides = [place for place in (0, 1) if any(read[:, place])]
    bags = ColumnTransformer([(str(place), TfidfVectorizer(analyzer=words, min_df=2), place) for place in sides])
    rows, rows_dev = bags.fit_transform(read), bags.transform(read_dev)
    truth, wanted = (np.array([rating.value for rating in part]) for part in (train.ratings, dev))
    models = [Ridge(penalty).fit(rows, truth) for penalty in PENALTIES]
    errors = [float(np.mean((model.predict(rows_dev) - wanted) ** 2)) for model in models]
    return partial(predicted, bags, models[int(np.argmin(errors))])


def predicted(bags: Any, model: Any, known: ReviewIndex, meetings: Sequence[ReviewContext]) -> NDArray[np.float64]:
    return np.asarray(model.predict(bags.transform(table(known, meetings))), dtype=np.float64)


def table(known: ReviewIndex, meetings: Sequence[ReviewContext]) -> NDArray[np.object_]:
    """(meetings, 2): the reviews of the user and those of the item, each as one text, NUL between them."""
    found = np.empty((len(meetings), 2), dtype=object)
    for row, meeting in enumerate(meetings):
        for side, places in enumerate(meeting):
            found[row, side] = "\0".join(known.ratings[place].text for place in places)
    return found


def one_sided_effects(guess: Predictor, known: ReviewIndex, most: int | None) -> Effects:
    """What is said of each user with nothing to read of an item, and the other way: all, for one who adds the two up."""
    users = guess(known, [ReviewContext(tuple(places[:most]), ()) for places in known.by_user.values()])
    items = guess(known, [ReviewContext((), tuple(places[:most])) for places in known.by_item.values()])
    return dict(zip(known.by_user, users.tolist(), strict=True)), dict(zip(known.by_item, items.tolist(), strict=True))


def scores(said: NDArray[np.float64], ratings: Sequence[Rating], mean: float) -> dict[str, float]:
    return regression_metrics(said, np.array([rating.value for rating in ratings]), mean)


def by_coverage(
    said: NDArray[np.float64], ratings: Sequence[Rating], meetings: Sequence[ReviewContext], recorder: Recorder
) -> dict[str, float]:
    """RMSE and number of ratings by what is known of them: `meetings` are whole, whichever side was read."""
    counts = coverage(meetings)
    told = ", ".join(f"{group} {count} ({100 * count / len(ratings):.1f} %)" for group, count in counts.items())
    recorder.note(f"of {len(ratings)} test ratings there are other reviews to read of: {told}")
    groups = np.array([meeting.group for meeting in meetings])
    error = said - [rating.value for rating in ratings]
    found: dict[str, float] = {f"n_{group}": count for group, count in counts.items()}
    for group in GROUPS:
        if counts[group]:
            found[f"rmse_{group}"] = float(np.sqrt(np.mean(error[groups == group] ** 2)))
    return found


def effect_correlations(said: Effects, world: World, suffix: str) -> dict[str, float]:
    """How what is said of users and items goes along with the truth (Pearson's r); none where one thing is said of all."""
    found = {}
    for name, effects, truth in (("user", said[0], world.users), ("item", said[1], world.items)):
        names = [key for key in truth if key in effects]
        values = np.array([effects[key] for key in names])
        if values.std() > 1e-9:
            found[f"{name}_r{suffix}"] = float(np.corrcoef(values, [truth[key] for key in names])[0, 1])
    return found
