"""The kind "two_towers": a small synthetic world and a small file of reviews, with all predictors."""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.kinds import two_towers
from regard_lab.kinds.kinds import KINDS
from regard_lab.kinds.rating_baselines import by_coverage, mean_predictor, one_sided_effects, ridge_predictor
from regard_lab.predictions import answered
from regard_lab.tables.context import Context
from regard_lab.tables.table import Cell, Corpus
from regard_lab.towers.ids import UNKNOWN, IdVectors
from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex
from regard_lab.towers.synthetic_ratings import WorldOptions, world

SMALL: dict[str, Any] = {
    "users": 30,
    "items": 20,
    "each": 6,
    "sentences": 2,
    "length": 4,
    "evidence": 3,
    "silent": 0.1,
    "slope": 2.0,
    "kind": 4,
    "neutral": 10,
    "noise": 0.3,
    "max_reviews": 5,
}
TOWERS: dict[str, Any] = {
    "levels": 3,
    "encoder": "embedding",
    "embedding": 8,
    "query": 8,
    "lr": 0.01,
    "epochs": 3,
    "min_count": 1,
    "batch_size": 16,
    "dropout": 0.0,
}


class Listening(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def cell(options: dict[str, Any], **corpus: Any) -> Cell:
    return Cell("two_towers", "a-method", Corpus("a-corpus", "", {}, (), 1, **corpus), "", options)


def run(options: dict[str, Any], seeds: tuple[int, ...] = (0,), **corpus: Any) -> list[dict[str, Any]]:
    return list(two_towers.run(cell(options, **corpus), seeds, Context("cpu", Silent())))


def test_the_kind_is_listed_and_knows_every_key_of_a_world() -> None:
    assert KINDS["two_towers"].run is two_towers.run
    parameters = inspect.signature(WorldOptions).parameters
    assert set(parameters) == set(two_towers.WORLD)
    assert all(isinstance(parameters[name].default, kind) for name, kind in two_towers.WORLD.items())


def test_towers_are_evaluated_on_known_users_and_on_strangers() -> None:
    first, second = run({**SMALL, **TOWERS}, (0, 1))
    assert (first["seed"], second["seed"]) == (0, 1)
    values = first["values"]
    assert set(two_towers.MEASURES) - set(values) <= {"rmse_user", "rmse_item", "rmse_neither"}
    assert all(math.isfinite(value) for value in values.values())
    assert values["n_both"] + values["n_user"] + values["n_item"] + values["n_neither"] == 36, "a fifth of 180"
    assert values["rmse_of_mean"] > values["rmse"] > 0
    rated = answered(first)
    assert rated is not None
    assert np.sqrt(((rated.labels - rated.predicted) ** 2).mean()) == pytest.approx(values["rmse"], rel=1e-3)
    assert first["epochs"] == 3
    assert len(first["history"]["loss"]) == 3
    assert second["values"]["rmse"] != values["rmse"]
    assert json.loads(json.dumps(first)) == first


def test_ids_are_known_on_the_training_ratings_and_not_on_those_of_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users of both worlds have the same names, but they are different users."""
    rows: list[set[int]] = []
    forward = IdVectors.forward

    def recorded(self: IdVectors, given: Tensor) -> Tensor:
        rows.append(set(given.tolist()))
        return forward(self, given)

    monkeypatch.setattr(IdVectors, "forward", recorded)
    options = {"ids": 4, "head": "product", "relu": True, "optimizer": "amsgrad"}
    values = run({**SMALL, **TOWERS, "epochs": 1, **options})[0]["values"]
    assert all(math.isfinite(value) for value in values.values())
    assert rows[0] != {UNKNOWN}
    assert rows[-1] == {UNKNOWN}, "the last ratings are those of strangers"


def test_the_baselines_have_the_expected_order() -> None:
    result = {name: run({**SMALL, "reader": name})[0]["values"] for name in ("mean", "ridge", "ideal")}
    assert result["mean"]["rmse"] == result["mean"]["rmse_of_mean"]
    assert result["mean"]["gap"] == pytest.approx(1)
    assert "user_r" not in result["mean"]
    among = [result[name]["rmse_strangers"] for name in ("ideal", "ridge", "mean")]
    assert among == sorted(among)
    assert result["ideal"]["user_r_strangers"] > 0.8
    assert result["ideal"]["item_r_strangers"] > 0.8


def test_one_side_does_not_predict_effects_of_the_other() -> None:
    values = run({**SMALL, "reader": "ridge", "side": "user"})[0]["values"]
    assert "user_r" in values
    assert "item_r" not in values
    assert values["n_both"] > 30, "counted is what is known, whichever side is read"


def test_additive_effects_can_be_predicted_from_one_side() -> None:
    """Ridge on bags is a sum of two sides: f(u, i) − f(u, –) does not depend on u."""
    created = world(WorldOptions(30, 20, 6, kind=4, neutral=10))
    known = ReviewIndex(created.ratings)
    contexts = [known.context(rating) for rating in created.ratings]
    guess = ridge_predictor(known, contexts, created.ratings[:30], contexts[:30])
    item = tuple(known.by_item["i3"])
    users = [tuple(indices) for indices in known.by_user.values()]
    with_item = guess(known, [ReviewContext(user, item) for user in users])
    alone = np.array(list(one_sided_effects(guess, known, None)[0].values()))
    assert with_item - alone == pytest.approx(np.full(len(users), (with_item - alone)[0]))
    assert alone.std() > 0.01


def test_coverage_is_reported_and_scored_by_group() -> None:
    ratings = [Rating("u", "i", value, "") for value in (1.0, 2.0, 4.0)]
    contexts = [ReviewContext((0,), (1,)), ReviewContext((), ()), ReviewContext((0,), (2,))]
    recorder = Listening()
    values = by_coverage(np.array([2.0, 2.5, 3.0]), ratings, contexts, recorder)
    assert values == {"n_both": 2, "n_user": 0, "n_item": 0, "n_neither": 1, "rmse_both": 1.0, "rmse_neither": 0.5}
    (note,) = recorder.notes
    assert "both 2 (66.7 %), user 0 (0.0 %), item 0 (0.0 %), neither 1 (33.3 %)" in note


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    created = world(WorldOptions(30, 20, 6, kind=4, neutral=10)).ratings
    parts = {"train": created[:120], "dev": created[120:150], "test": created[150:]}
    for name, part in parts.items():
        rows = [{"user": x.user, "item": x.item, "rating": x.value, "text": x.text} for x in part]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {name: str(tmp_path / f"{name}.jsonl") for name in parts}


def test_files_of_reviews_are_read_and_their_checksums_kept(files: dict[str, str]) -> None:
    (result,) = run({**TOWERS, "epochs": 1}, **files)
    assert len(result["data"]) == 3
    assert result["values"]["n_both"] > 0
    assert "rmse_strangers" not in result["values"]
    assert mean_predictor([Rating("u", "i", 2.0, ""), Rating("u", "j", 4.0, "")])(
        ReviewIndex([]), [ReviewContext((), ())]
    ).tolist() == [3]


def test_a_seed_that_fails_is_kept_as_failed(files: dict[str, str]) -> None:
    (result,) = run({**TOWERS, "lr": 1e9, "clip": 0.0}, **files)
    assert "training diverged" in result["error"]
    assert "values" not in result


@pytest.mark.parametrize(
    ("options", "corpus", "message"),
    [
        ({**SMALL, "levels": 2}, {}, "levels: expected 3 for two towers, got 2"),
        ({"reader": "mean"}, {"dev": "x"}, "dev or test without train"),
        ({"reader": "mean"}, {"train": "x"}, "expected train, dev and test"),
        (
            {"reader": "mean", "users": 3},
            {"train": "x", "dev": "y", "test": "z"},
            "users is for synthetic reviews only",
        ),
        (
            {"reader": "ideal"},
            {"train": "x", "dev": "y", "test": "z"},
            "got ideal, which is for synthetic reviews only",
        ),
    ],
)
def test_invalid_cells_are_rejected_first(options: dict[str, Any], corpus: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_towers.check(cell(options, **corpus))
