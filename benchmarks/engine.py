"""The sparse engine by itself: ten million texts, predicting with and without weights, and what determinism costs.

    python benchmarks/engine.py stream [--texts 10000000] [--save]     texts made on the fly, trained on in one run
    python benchmarks/engine.py explain [--save]                       kernel only, short texts, two threads
    REGARD_DATA=… python benchmarks/engine.py determinism [--save]     imdb, threads that wait beside threads that don't

`--save` puts the figures of one of them into results/engine.json, beside those of the others.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from keeping import keep, machine

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.readers import stream
from regard.kernels.attention import attend
from regard.recorder import Silent
from regard.records import Example
from regard.training.fit import Parts, Run, fit
from regard.training.sparse_engine import threads

RESULTS = Path(__file__).parent / "results" / "engine.json"
WORDS, LENGTH, BLOCK = 200_000, 10, 20_000


def made(count: int, seed: int = 0) -> Iterator[Example]:
    """Short texts of Zipf-distributed words; one of 2,000 words that lean to either class stands in each."""
    chance = np.random.default_rng(seed)
    names = np.array([f"word{number}" for number in range(WORDS)], dtype=object)
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        words = np.minimum((WORDS ** chance.random((size, LENGTH))).astype(np.int64), WORDS - 1)
        labels = chance.integers(2, size=size)
        leaning = 1000 + 2 * chance.integers(1000, size=size) + np.where(chance.random(size) < 0.9, labels, 1 - labels)
        words[np.arange(size), chance.integers(LENGTH, size=size)] = leaning
        for row, (text, label) in enumerate(zip(names[words].tolist(), labels.tolist(), strict=True), start + 1):
            yield Example(" ".join(text), str(label), row)


class Pace(Silent):
    """When each step of an epoch was shown."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.times = [time.perf_counter()]

    def step(self, loss: float | None) -> None:
        self.times.append(time.perf_counter())


def run_stream(count: int) -> dict[str, Any]:
    pace = Pace()
    begun = time.perf_counter()
    trained = fit(Config().override({"task": "binary"}), Parts(made(count)), Run(pace))
    seconds = time.perf_counter() - begun
    gaps = np.diff(pace.times)
    tenths = [float(part.sum()) for part in np.array_split(gaps, 10)]
    return {
        "texts": count,
        "seconds": round(seconds, 1),
        "seconds_training": round(trained.metrics["seconds"], 1),
        "texts_a_second_training": round(
            trained.metrics["epochs"] * trained.metrics["texts"] / trained.metrics["seconds"]
        ),
        "slowest_tenth_to_median": round(max(tenths) / statistics.median(tenths), 3),
        "peak_resident_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "dev_accuracy": trained.metrics["dev"]["accuracy"],
        "engine": trained.metrics["engine"],
        "chosen": pace.notes[-1],
    }


def run_explain(count: int = 400_000, repeats: int = 9) -> dict[str, Any]:
    """Texts of 20 words, their pairs and beginnings: 60 units each, of a table of 400,000."""
    chance = np.random.default_rng(0)
    units, size = 60, 400_000
    ids = np.minimum((size ** chance.random(count * units)).astype(np.int32), size - 1)
    scores, polarity = (chance.standard_normal(shape).astype(np.float32) for shape in (size, (size, 1)))
    bias, logits = np.zeros(1, np.float32), np.empty((count, 1), np.float32)
    weights = np.empty(len(ids), np.float32)

    def once(weighed: bool) -> float:
        def part(number: int) -> None:
            rows = slice(number * count // parts, (number + 1) * count // parts)
            own = slice(rows.start * units, rows.stop * units)
            bounds = np.arange(rows.stop - rows.start + 1, dtype=np.int64) * units
            given = weights[own] if weighed else np.empty(0, np.float32)
            attend(ids[own], bounds, scores, polarity, bias, logits[rows], given)

        begun = time.perf_counter()
        list(pool.map(part, range(parts)))
        return time.perf_counter() - begun

    parts = threads()
    with ThreadPoolExecutor(parts) as pool:
        once(True), once(False)
        pairs = [(once(False), once(True)) for _ in range(repeats)]
    predict, explain = (statistics.median(side) for side in zip(*pairs, strict=True))
    return {
        "texts": count,
        "units_a_text": units,
        "threads": parts,
        "predict_texts_a_second": round(count / predict),
        "explain_texts_a_second": round(count / explain),
        "explain_to_predict": round(statistics.median(b / a for a, b in pairs), 3),
    }


def run_determinism(repeats: int = 7) -> dict[str, Any]:
    found: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(repeats):
        for waits in (True, False):
            config = Config().override({"deterministic": waits, "text": "text", "label": "label"})
            trained = fit(config, Parts(stream(resolve("imdb", "train"))))
            found[waits].append(trained.metrics["seconds"])
    waiting, free = (statistics.median(found[waits]) for waits in (True, False))
    return {
        "corpus": "imdb",
        "threads": threads(),
        "seconds_deterministic": round(waiting, 2),
        "seconds_lock_free": round(free, 2),
        "deterministic_to_lock_free": round(waiting / free, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("stream", "explain", "determinism"))
    parser.add_argument("--texts", type=int, default=10_000_000)
    parser.add_argument("--save", action="store_true", help=f"keep the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    figures = {
        "stream": lambda: run_stream(arguments.texts),
        "explain": run_explain,
        "determinism": run_determinism,
    }[arguments.what]()
    print(json.dumps(figures, indent=1))
    if arguments.save:
        keep(RESULTS, {arguments.what: {**figures, "machine": machine("numpy", "numba")}})


if __name__ == "__main__":
    main()
