"""What it is worth to keep predicted ratings within the range of the training labels: RMSE with and without the limits.

    REGARD_DATA=… python benchmarks/ratings.py [--seeds 5] [--save]

The default engine learns ratings from the training part of each corpus, with the limits (the default), and predicts its test
part. The same weights then predict without limits. Intervals are 95 %, over seeds (Student's t). `--save` writes
results/ratings.json; docs/start.md quotes it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.models.tasks import Regression
from regard.records import Example
from regard.training.fit import Parts, fit
from regard_lab.statistics import mean_interval

RESULTS = Path(__file__).parent / "results" / "ratings.json"
CORPORA = (
    *("yelp_small", "amazon_multidomain", "scaledata"),
    *("vader_tweets", "vader_amazon", "vader_movies", "vader_nyt"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="models per corpus (default: 5)")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"seeds": arguments.seeds, "corpora": {}}
    for corpus in CORPORA:
        rows = [measure(corpus, seed) for seed in range(arguments.seeds)]
        figures["corpora"][corpus] = {name: mean_interval([row[name] for row in rows])._asdict() for name in rows[0]}
        of_corpus = figures["corpora"][corpus]
        values = ", ".join(f"{name} {value['mean']:.4f}" for name, value in of_corpus.items())
        print(f"{corpus}: {values}", flush=True)
    if arguments.save:
        save_figures(RESULTS, {**figures, "machine": machine("numpy", "numba")})


def part(corpus: str, name: str) -> list[Example]:
    return list(read(resolve(corpus, name), ReadOptions(label="rating")).examples)


def measure(corpus: str, seed: int) -> dict[str, float]:
    texts = part(corpus, "test")
    config = Config().override({"task": "regression", "seed": seed})
    trained = fit(config, Parts(part(corpus, "train"), part(corpus, "dev")))
    task = trained.task
    assert isinstance(task, Regression)
    labels = np.array([float(str(one.label)) for one in texts])
    words = [one.text for one in texts]
    limited = trained.answers(words)[:, 0]
    trained.task = replace(task, low=-np.inf, high=np.inf)
    unlimited = trained.answers(words)[:, 0]
    return {
        "rmse": rmse(limited, labels),
        "rmse_without_limits": rmse(unlimited, labels),
        "outside": float(np.mean((unlimited < task.low) | (unlimited > task.high))),
    }


def rmse(predicted: Any, labels: Any) -> float:
    return float(np.sqrt(np.mean((predicted - labels) ** 2)))


if __name__ == "__main__":
    main()
