"""The cells of the leaderboard: a system, a corpus, a number of training texts and a draw of them. One line of JSON each."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rows import read_rows
from systems import SYSTEMS

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import processor, source_commit

RESULTS = Path(__file__).parent / "results"
DEVELOPMENT = ("trec", "sst2", "sst1", "mr", "subj", "ag_news", "20newsgroups", "imdb")
OTHERS = ("cr", "yelp_small", "amazon_multidomain")
SIZES = (100, 300, 1000, 0)  # 0: all texts
DRAWS = 5
PACKAGES = ("numpy", "numba", "scikit-learn", "fasttext", "model2vec", "sentence-transformers")


@dataclass(frozen=True)
class Cell:
    system: str
    corpus: str
    size: int  # 0: all texts
    draw: int

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.corpus}.jsonl"

    @property
    def group(self) -> str:
        """Cells of the same group share a process."""
        return f"all {self.draw}" if self.size == 0 else "some"


def read_results() -> list[dict[str, Any]]:
    files = sorted(RESULTS.glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]


def drawn_rows(corpus: str, count: int, size: int, draw: int) -> np.ndarray[Any, Any]:
    """Which of the texts a draw consists of: at random, all of them for size 0. It never depends on the system."""
    rng = np.random.default_rng((draw, int(hashlib.sha256(corpus.encode()).hexdigest()[:8], 16)))
    order = rng.permutation(count)
    return order[:size] if size else order


def run_cell(cell: Cell, unseen: bool = False) -> dict[str, Any]:
    """Train and score. With `unseen`, on other training texts instead of the test split, which stays unread."""
    texts, labels, digest = read_rows(cell.corpus, ("train", "dev"))
    rows = drawn_rows(cell.corpus, len(texts), cell.size, cell.draw)
    if unseen:
        others = drawn_rows(cell.corpus, len(texts), 0, cell.draw)[len(rows) : len(rows) + 2000]
        test_texts, test_labels = [texts[row] for row in others], [labels[row] for row in others]
    else:
        test_texts, test_labels, _ = read_rows(cell.corpus, ("test",))
    before, started = os.times(), time.perf_counter()
    predict = SYSTEMS[cell.system].fit([texts[row] for row in rows], [labels[row] for row in rows], cell.draw)
    trained, trained_at = os.times(), time.perf_counter()
    answers = predict(test_texts)
    finished = time.perf_counter()
    return {
        "system": cell.system,
        "setting": SYSTEMS[cell.system].setting,
        "corpus": cell.corpus,
        "size": cell.size,
        "draw": cell.draw,
        "scored_on": "other training texts" if unseen else "test",
        "texts": len(rows),
        "scored_texts": len(test_texts),
        **measures(test_labels, answers),
        "train_seconds": round(trained_at - started, 3),
        "train_cpu_seconds": round(trained.user + trained.system - before.user - before.system, 3),
        "predict_seconds": round(finished - trained_at, 3),
        "peak_megabytes": None if cell.size else round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "data": digest,
        "date": datetime.now(UTC).date().isoformat(),  # when the texts that it is scored on were read
        "commit": source_commit(),
        "environment": environment(),
    }


def measures(labels: Sequence[str], answers: Sequence[str]) -> dict[str, float]:
    """Accuracy, and the mean F1 over the classes of the texts, in percent."""
    true, given = np.array(labels), np.array(answers)
    scores = []
    for name in sorted(set(labels)):
        hits = int(((true == name) & (given == name)).sum())
        scores.append(2 * hits / int((true == name).sum() + (given == name).sum()))
    return {
        "accuracy": round(100 * float((true == given).mean()), 3),
        "macro_f": round(100 * float(np.mean(scores)), 3),
    }


def environment() -> dict[str, str]:
    found = {"python": platform.python_version(), "cpu": processor(), "threads": str(len(os.sched_getaffinity(0)))}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except ImportError:
            continue
    return found
