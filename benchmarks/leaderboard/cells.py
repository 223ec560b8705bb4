"""The cells of the leaderboard: a system, a corpus, a number of training texts and a draw of them; running one of them."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from embeddings import encoding
from numpy.typing import NDArray
from rows import read_rows
from storage import Row
from system import Fitted
from systems import SYSTEMS

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import processor, source_commit

DEVELOPMENT = ("trec", "sst2", "sst1", "mr", "subj", "ag_news", "20newsgroups", "imdb")
OTHERS = ("cr", "yelp_small", "amazon_multidomain")
SIZES = (100, 300, 1000, 0)  # 0: all texts
DRAWS = 5
PACKAGES = (
    "numpy",
    "numba",
    "scikit-learn",
    "fasttext",
    "fasttext-wheel",  # another distribution of the same package
    "model2vec",
    "sentence-transformers",
    "spacy",
    "setfit",
    "transformers",
    "torchtextclassifiers",
    "torch",
)


@dataclass(frozen=True, order=True)
class Cell:
    system: str
    corpus: str
    size: int  # 0: all texts
    draw: int


def drawn_rows(corpus: str, count: int, size: int, draw: int) -> np.ndarray[Any, Any]:
    """Which of the texts a draw consists of: at random, all of them for size 0. It never depends on the system."""
    rng = np.random.default_rng((draw, int(hashlib.sha256(corpus.encode()).hexdigest()[:8], 16)))
    order = rng.permutation(count)
    return order[:size] if size else order


def run_cell(cell: Cell, unseen: bool = False, alone: bool = False) -> Row:
    """Train and score. With `unseen`, on other training texts instead of the test split, which stays unread.

    `alone`: nothing else ran in this process, so that its peak memory is that of the cell (reading the corpus included).
    """
    texts, labels, digest = read_rows(cell.corpus, ("train", "dev"))
    rows = drawn_rows(cell.corpus, len(texts), cell.size, cell.draw)
    if unseen:
        others = drawn_rows(cell.corpus, len(texts), 0, cell.draw)[len(rows) : len(rows) + 2000]
        test_texts, test_labels = [texts[row] for row in others], [labels[row] for row in others]
    else:
        test_texts, test_labels, _ = read_rows(cell.corpus, ("test",))
    system = SYSTEMS[cell.system]
    load, begun = os.getloadavg()[0], clocks()
    fitted = system.fit([texts[row] for row in rows], [labels[row] for row in rows], cell.draw)
    trained = clocks()
    answers = fitted.predict(test_texts)
    finished = clocks()
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024) if alone else None
    return {
        "system": cell.system,
        "corpus": cell.corpus,
        "size": cell.size,
        "setting": system.setting,
        "draw": cell.draw,
        "scored_on": "other training texts" if unseen else "test",
        "texts": len(rows),
        "scored_texts": len(test_texts),
        **measures(test_labels, answers),
        **seconds("train", begun, trained),
        **seconds("predict", trained, finished),
        **({"times_leave_out": system.times_leave_out} if system.times_leave_out else {}),
        **({"encoding": encoding(cell.corpus)} if system.times_leave_out else {}),
        "peak_megabytes": peak,
        "model_bytes": saved_size(fitted),
        "tuned": searched(fitted),
        "right": pack([answer == label for answer, label in zip(answers, test_labels, strict=True)]),
        "data": digest,
        "date": datetime.now(UTC).date().isoformat(),  # when the texts that it is scored on were read
        "commit": source_commit(whole=True),
        "device": system.device(),
        "load": round(load, 2),  # of the machine, the mean over the minute before training
        "nice": os.nice(0),  # above 0: other processes had priority, so that wall times say little
        "environment": environment(),
    }


def clocks() -> tuple[float, float]:
    """Wall time and CPU time of this process and of those it waited for."""
    spent = os.times()
    return time.perf_counter(), spent.user + spent.system + spent.children_user + spent.children_system


def seconds(step: str, before: tuple[float, float], after: tuple[float, float]) -> dict[str, float]:
    wall, cpu = (round(end - start, 3) for start, end in zip(before, after, strict=True))
    return {f"{step}_seconds": wall, f"{step}_cpu_seconds": cpu}


def saved_size(fitted: Fitted) -> int | None:
    """Bytes of all files of the saved model; None if the system cannot tell."""
    if fitted.save is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder))
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def searched(fitted: Fitted) -> dict[str, Any] | None:
    """The search for options; `train_seconds` contains its seconds. None: the system is not tuned."""
    return None if fitted.search is None else vars(fitted.search)


def pack(right: Sequence[bool]) -> str:
    """One bit per test text, in their order: whether the answer is right."""
    return base64.b85encode(zlib.compress(np.packbits(np.asarray(right, dtype=bool)).tobytes(), 9)).decode("ascii")


def unpack(packed: str, count: int) -> NDArray[np.bool_]:
    bits = np.frombuffer(zlib.decompress(base64.b85decode(packed)), dtype=np.uint8)
    return np.unpackbits(bits, count=count).astype(bool)


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
