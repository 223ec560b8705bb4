"""`regard serve` under load, and how long it takes to start.

    python benchmarks/serving.py load [--seconds 30] [--rate 200] [--save]     short texts, asked at a steady rate
    python benchmarks/serving.py start [--repeats 5] [--save]                  from the command to the page, and to answers

Both train on the built-in reviews first. `load` asks the default model which words of single sentences of them it looks at
(`/api/explain`), over connections that stay open, as a browser's do. Requests have their times, whether the one before is
answered or not, and each is measured from its time: a server that falls behind cannot hide it. The first seconds warm
both sides up and are not counted; memory is what the server holds after them and at the end. `start` counts from the start
of the process, for the default model and for two hierarchical ones side by side, which need PyTorch. Asking takes its share
of the same cores. `--save` puts the figures into results/serving.json.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from keeping import keep, machine

from regard.config import Config
from regard.data.reviews import splits
from regard.data.sentences import sentences
from regard.models.folder import save
from regard.training.fit import Parts, fit

RESULTS = Path(__file__).parent / "results" / "serving.json"
COMMAND = (sys.executable, "-m", "regard.cli", "serve")
ASKING = 8  # connections, each with a thread
WARM = 3.0  # seconds that are not counted
HANS = {"levels": 2, "encoder": "bilstm", "hidden": 50, "query": 50, "embedding": 50, "epochs": 1, "device": "cpu"}
RUNS: dict[str, dict[str, dict[str, Any]]] = {
    "default model": {"default": {}},
    "HAN beside HAN-APLN": {"han": {**HANS, "pooling": "attention"}, "han-apln": {**HANS, "pooling": "apln"}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("load", "start"))
    parser.add_argument("--seconds", type=float, default=30, help="how long it is asked (default: 30)")
    parser.add_argument("--rate", type=float, default=200, help="requests a second (default: 200)")
    parser.add_argument("--repeats", type=int, default=5, help="starts of each kind (default: 5)")
    parser.add_argument("--save", action="store_true", help=f"keep the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if arguments.what == "load":
            figures = run_load(Path(place), arguments.seconds, arguments.rate)
        else:
            figures = run_start(Path(place), arguments.repeats)
    print(json.dumps(figures, indent=1))
    if arguments.save:
        keep(RESULTS, {arguments.what: {**figures, "machine": machine("numpy", "numba")}})


def trained(place: Path, options: dict[str, dict[str, Any]]) -> list[Path]:
    """A run for each name, learned from the built-in reviews."""
    corpus = splits()
    for name, own in options.items():
        config = Config().override({"task": "multiclass", "seed": 0, **own})
        save(fit(config, Parts(corpus["train"], corpus["dev"])), place / name)
    return [place / name for name in options]


class Serving(NamedTuple):
    process: subprocess.Popen[str]
    port: int
    page: float  # seconds until the port is open and the page there
    ready: float  # seconds until questions are answered


@contextmanager
def serving(folders: Sequence[Path]) -> Iterator[Serving]:
    begun = time.perf_counter()
    process = subprocess.Popen([*COMMAND, *map(str, folders), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split("/")[2].rpartition(":")[2])
        assert status(port, "/") == 200
        page = time.perf_counter() - begun
        while status(port, "/api/runs") != 200:
            time.sleep(0.02)
        yield Serving(process, port, page, time.perf_counter() - begun)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def status(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def run_start(place: Path, repeats: int) -> dict[str, Any]:
    found: dict[str, Any] = {"repeats": repeats}
    for name, options in RUNS.items():
        folders = trained(place, options)
        starts = []
        for _ in range(repeats):
            with serving(folders) as server:
                starts.append((server.page, server.ready))
        middle, worst = np.median(starts, axis=0), np.max(starts, axis=0)
        found[name] = {
            "seconds_to_page": round(float(middle[0]), 2),
            "seconds_to_page_at_most": round(float(worst[0]), 2),
            "seconds_to_answers": round(float(middle[1]), 2),
            "seconds_to_answers_at_most": round(float(worst[1]), 2),
        }
    return found


def run_load(place: Path, seconds: float, rate: float) -> dict[str, Any]:
    texts = [example.text[start:end] for example in splits()["test"] for start, end in sentences(example.text)]
    with serving(trained(place, RUNS["default model"])) as server:
        ask(server.port, texts, int(WARM * rate), rate)
        before = resident(server.process.pid)
        begun = time.perf_counter()
        waits, errors = ask(server.port, texts, int(seconds * rate), rate)
        took = time.perf_counter() - begun
        after = resident(server.process.pid)
    p50, p99, most = (1000 * float(value) for value in np.quantile(waits, (0.5, 0.99, 1)))
    return {
        "requests": len(waits),
        "requests_a_second": round(len(waits) / took, 1),
        "words_a_text": round(float(np.mean([len(text.split()) for text in texts])), 1),
        "p50_ms": round(p50, 2),
        "p99_ms": round(p99, 2),
        "longest_ms": round(most, 1),
        "errors": errors,
        "resident_mb_at_start": before,
        "resident_mb_at_end": after,
    }


def ask(port: int, texts: Sequence[str], count: int, rate: float) -> tuple[list[float], int]:
    """Seconds of each request from the time it was due, and how many were not answered as they should be."""
    turns, waits, errors = itertools.count(), [0.0] * count, [0] * count
    begun = time.perf_counter() + 0.1

    def one_after_the_other() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for turn in turns:
            if turn >= count:
                break
            due = begun + turn / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            body = json.dumps({"text": texts[turn % len(texts)]})
            try:
                connection.request("POST", "/api/explain", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                found = json.loads(reply.read())
                errors[turn] = int(reply.status != 200 or not found["results"][0]["tokens"])
            except (OSError, http.client.HTTPException, ValueError):
                errors[turn] = 1
                connection.close()
            waits[turn] = time.perf_counter() - due
        connection.close()

    threads = [threading.Thread(target=one_after_the_other) for _ in range(ASKING)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waits, sum(errors)


def resident(process: int) -> float:
    """Megabytes in memory."""
    told = Path(f"/proc/{process}/status").read_text()
    return round(int(next(line for line in told.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024, 1)


if __name__ == "__main__":
    main()
