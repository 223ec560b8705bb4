"""The engines alone: corpora larger than memory, prediction with and without weights, and the cost of determinism.

    python benchmarks/engine.py stream [--texts 10000000] [--save]     train on texts generated on the fly, fast engine
    python benchmarks/engine.py file [--texts 20000000] [--save]       `regard train` on a file of 10⁹ words (9 GB)
    python benchmarks/engine.py torch [--texts 300000] [--save]        train on a file, PyTorch: texts in memory, then on disk
    python benchmarks/engine.py explain [--save]                       the kernel alone, short texts, two threads
    REGARD_DATA=… python benchmarks/engine.py determinism [--save]     imdb, with and without threads that wait for each other

`--save` adds the figures to results/engine.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data import spilling_array
from regard.data.readers import stream
from regard.kernels.attention import attend
from regard.recorder import Silent
from regard.records import Example
from regard.training.fit import Parts, Run, fit
from regard.training.sparse_engine import threads

RESULTS = Path(__file__).parent / "results" / "engine.json"
PACKAGES = {"torch": ("torch",)}
WORDS, LENGTH, BLOCK = 200_000, 10, 20_000
MIDDLING = 50  # words per text of the file that the fast engine reads
LONG = 200  # words per text of the file that PyTorch reads


def synthetic(count: int, seed: int = 0, length: int = LENGTH) -> Iterator[Example]:
    """Texts of Zipf-distributed words; each contains one of 2,000 words that indicate a class."""
    rng = np.random.default_rng(seed)
    names = np.array([f"word{number}" for number in range(WORDS)], dtype=object)
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        words = np.minimum((WORDS ** rng.random((size, length))).astype(np.int64), WORDS - 1)
        labels = rng.integers(2, size=size)
        indicative = 1000 + 2 * rng.integers(1000, size=size) + np.where(rng.random(size) < 0.9, labels, 1 - labels)
        words[np.arange(size), rng.integers(length, size=size)] = indicative
        for row, (text, label) in enumerate(zip(names[words].tolist(), labels.tolist(), strict=True), start + 1):
            yield Example(" ".join(text), str(label), row)


class StepTimes(Silent):
    """Records the time of each step of an epoch."""

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
    recorder = StepTimes()
    begin = time.perf_counter()
    trained = fit(Config().override({"task": "binary"}), Parts(synthetic(count)), Run(recorder))
    seconds = time.perf_counter() - begin
    gaps = np.diff(recorder.times)
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
        "chosen": recorder.notes[-1],
    }


def run_file(count: int) -> dict[str, Any]:
    """The command on a file, as users would; times include its start."""
    with tempfile.TemporaryDirectory() as name:
        path, run = Path(name) / "texts.jsonl", Path(name) / "run"
        with path.open("w", encoding="utf-8") as file:
            for example in synthetic(count, length=MIDDLING):
                file.write(f'{{"text": "{example.text}", "label": "{example.label}"}}\n')
        size, begin = path.stat().st_size, time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "regard", "train", str(path), "--out", str(run)])
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(process.returncode)
        facts = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    cpu, words = usage.ru_utime + usage.ru_stime, count * MIDDLING
    return {
        "words": words,
        "texts": count,
        "file_gb": round(size / 1e9, 2),
        "seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "seconds_of_training_alone": round(facts["seconds"], 1),
        "words_per_cpu_second": round(words / cpu),
        "peak_resident_gb": round(usage.ru_maxrss / 2**20, 2),
        "dev_accuracy": facts["dev"]["accuracy"],
        "engine": facts["engine"],
        "load_average": round(os.getloadavg()[0], 1),
    }


def run_torch(count: int) -> dict[str, Any]:
    """One epoch of one model, from the same file, each way in a process of its own; a tenth of the texts is held out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for example in synthetic(count, length=LONG):
                file.write(json.dumps({"text": example.text, "label": example.label}) + "\n")
        alone = apart(train_file, path, count=100)  # what Python, PyTorch and the model take
        ways = {"in memory": apart(train_file, path, most=1 << 62), "on disk": apart(train_file, path)}
        size = path.stat().st_size
    memory, disk = ways["in memory"], ways["on disk"]
    return {
        "texts": count,
        "words_a_text": LONG,
        "file_mb": round(size / 1e6),
        "buffers_mb": round(spilling_array.IN_MEMORY / 1e6, 1),
        "peak_mb_of_100_texts": alone["peak_mb"],
        **ways,
        "same_weights": memory["weights"] == disk["weights"],
        "cpu_time_on_disk_to_in_memory": round(disk["cpu_seconds"] / memory["cpu_seconds"], 3),
        "cpu_time_of_epoch_on_disk_to_in_memory": round(disk["epoch_cpu_seconds"] / memory["epoch_cpu_seconds"], 3),
    }


def apart(function: Any, *given: Any, **named: Any) -> dict[str, Any]:
    """Call a function in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        result: dict[str, Any] = pool.submit(function, *given, **named).result()
        return result


class EpochTime(Silent):
    """Records the CPU time of the steps of the last epoch."""

    def __init__(self) -> None:
        self.begun = self.seconds = 0.0

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.begun = time.process_time()

    def step(self, loss: float | None) -> None:
        self.seconds = time.process_time() - self.begun


def train_file(path: Path, most: int | None = None, count: int | None = None) -> dict[str, Any]:
    """`most`: bytes of texts and of ids that stay in memory, if not as many as by default; `count`: only the first texts."""
    spilling_array.IN_MEMORY = most or spilling_array.IN_MEMORY
    options = {"encoder": "affine", "hidden": 16, "embedding": 16, "query": 16, "epochs": 1, "engine": "torch"}
    config = Config().override({**options, "task": "binary", "max_words": LONG, "device": "cpu"})
    recorder, texts = EpochTime(), stream(path)
    trained = fit(config, Parts(texts if count is None else list(islice(texts, count))), Run(recorder))
    digest = hashlib.sha256()
    for _, value in sorted(trained.weights.items()):
        digest.update(value.tobytes())
    return {
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "cpu_seconds": round(time.process_time(), 1),
        "epoch_cpu_seconds": round(recorder.seconds, 1),
        "dev_accuracy": trained.metrics["dev"]["accuracy"],
        "weights": digest.hexdigest()[:16],
    }


def run_explain(count: int = 400_000, repeats: int = 9) -> dict[str, Any]:
    """Texts of 20 words with their pairs and beginnings: 60 units each, from a table of 400,000."""
    rng = np.random.default_rng(0)
    units, size = 60, 400_000
    ids = np.minimum((size ** rng.random(count * units)).astype(np.int32), size - 1)
    scores, polarity = (rng.standard_normal(shape).astype(np.float32) for shape in (size, (size, 1)))
    bias, logits = np.zeros(1, np.float32), np.empty((count, 1), np.float32)
    weights = np.empty(len(ids), np.float32)

    def once(with_weights: bool) -> float:
        def part(number: int) -> None:
            rows = slice(number * count // parts, (number + 1) * count // parts)
            part_units = slice(rows.start * units, rows.stop * units)
            bounds = np.arange(rows.stop - rows.start + 1, dtype=np.int64) * units
            output = weights[part_units] if with_weights else np.empty(0, np.float32)
            attend(ids[part_units], bounds, scores, polarity, bias, logits[rows], output)

        begin = time.perf_counter()
        list(pool.map(part, range(parts)))
        return time.perf_counter() - begin

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
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(repeats):
        for waits in (True, False):
            config = Config().override({"deterministic": waits, "text": "text", "label": "label"})
            trained = fit(config, Parts(stream(resolve("imdb", "train"))))
            seconds[waits].append(trained.metrics["seconds"])
    waiting, free = (statistics.median(seconds[waits]) for waits in (True, False))
    return {
        "corpus": "imdb",
        "threads": threads(),
        "seconds_deterministic": round(waiting, 2),
        "seconds_lock_free": round(free, 2),
        "deterministic_to_lock_free": round(waiting / free, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("stream", "file", "torch", "explain", "determinism"))
    parser.add_argument("--texts", type=int, help="default: 10,000,000; for file 20,000,000, for torch 300,000")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    figures = {
        "stream": lambda: run_stream(arguments.texts or 10_000_000),
        "file": lambda: run_file(arguments.texts or 20_000_000),
        "torch": lambda: run_torch(arguments.texts or 300_000),
        "explain": run_explain,
        "determinism": run_determinism,
    }[arguments.what]()
    print(json.dumps(figures, indent=1))
    if arguments.save:
        save_figures(
            RESULTS,
            {arguments.what: {**figures, "machine": machine("numpy", "numba", *PACKAGES.get(arguments.what, ()))}},
        )


if __name__ == "__main__":
    main()
