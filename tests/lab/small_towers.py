"""Small two towers for tests: a few synthetic reviews, and a model of them in every form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.config import Config
from regard.recorder import Silent
from regard_lab.towers.fit_pairs import fit_pairs
from regard_lab.towers.ratings import Rating
from regard_lab.towers.synthetic_ratings import WorldOptions, world
from regard_lab.towers.trained_towers import TrainedTowers
from regard_lab.towers.two_towers import Form

OPTIONS: dict[str, Any] = {
    "levels": 3,
    "encoder": "cnn,cnn,embedding",
    "embedding": 6,
    "hidden": 6,
    "query": 6,
    "lr": 0.01,
    "epochs": 2,
    "batch_size": 32,
    "min_count": 1,
    "device": "cpu",
}
RATINGS = world(WorldOptions(30, 20, 6, sentences=2, length=4, evidence=3, silent=0.1)).ratings
TRAIN, DEV, TEST = RATINGS[:120], RATINGS[120:150], RATINGS[150:]
AUTHORS = Form(ids=4, head="product", relu=True)
FORMS = {"ours": Form(), "ours with ids": Form(ids=3), "authors": AUTHORS}


def fitted(form: Form, train: Sequence[Rating] = TRAIN, **options: Any) -> TrainedTowers:
    return fit_pairs(Config().override({**OPTIONS, **options}), train, DEV, Silent(), 5, "both", form)


def write_reviews(path: Path, ratings: Sequence[Rating]) -> Path:
    rows = [{"user": one.user, "item": one.item, "rating": one.value, "text": one.text} for one in ratings]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
