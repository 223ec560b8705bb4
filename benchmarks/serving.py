"""`regard serve` under load, and its start-up time.

    python benchmarks/serving.py load [--seconds 30] [--rate 200] [--beside SRC] [--save]     short texts at a steady rate
    python benchmarks/serving.py start [--repeats 5] [--save]                                 time until the page and answers

Both train on the built-in reviews first. `load` requests explanations of single sentences from the default model
(`/api/explain`), over persistent connections as in a browser. Requests are sent on schedule, whether or not earlier ones have
been answered, and latency is measured from the scheduled time, so that a server that falls behind cannot hide it. The first
seconds are a warm-up and not counted; memory is measured after them and at the end. The same load is then repeated next to
500 idle connections, and next to 50 clients that send their headers one byte at a time.

`--beside SRC` measures another version in the same run: SRC is the `src` folder of its checkout. It trains the model that both
serve, since an earlier version cannot read runs of a later one. The servers take turns, so that both meet the same disturbances.

`start` measures from the start of the process, for the default model and for two hierarchical ones to compare, which need
PyTorch. The client runs on the same cores. `--save` adds the figures to results/serving.json.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from figures import SOURCE, machine, save_figures

from regard.config import Config
from regard.data.reviews import splits
from regard.data.sentences import sentences
from regard.models.saving import save
from regard.training.fit import Parts, fit

RESULTS = Path(__file__).parent / "results" / "serving.json"
COMMAND = (sys.executable, "-m", "regard.cli", "serve")
CONNECTIONS = 8  # each with a thread
WARM_UP = 3.0  # seconds that are not counted
TURNS = 3  # of each server, if there are two
IDLE, SLOW = 500, 50  # clients
HANS = {"levels": 2, "encoder": "bilstm", "hidden": 50, "query": 50, "embedding": 50, "epochs": 1, "device": "cpu"}
RUNS: dict[str, dict[str, dict[str, Any]]] = {
    "default model": {"default": {}},
    "HAN beside HAN-APLN": {"han": {**HANS, "pooling": "attention"}, "han-apln": {**HANS, "pooling": "apln"}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("load", "start"))
    parser.add_argument("--seconds", type=float, default=30, help="duration of the load (default: 30)")
    parser.add_argument("--rate", type=float, default=200, help="requests per second (default: 200)")
    parser.add_argument("--beside", type=Path, metavar="SRC", help="source folder of another version to compare with")
    parser.add_argument("--repeats", type=int, default=5, help="starts per kind of run (default: 5)")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what == "load":
            figures = run_load(Path(folder), arguments.seconds, arguments.rate, arguments.beside)
        else:
            figures = run_start(Path(folder), arguments.repeats)
    print(json.dumps(figures, indent=1))
    if arguments.save:
        save_figures(
            RESULTS, {arguments.what: {**figures, "machine": machine("numpy", "numba", "uvicorn", "httptools")}}
        )


def train_runs(folder: Path, options: dict[str, dict[str, Any]]) -> list[Path]:
    """One run per name, trained on the built-in reviews."""
    corpus = splits()
    for name, run_options in options.items():
        config = Config().override({"task": "multiclass", "seed": 0, **run_options})
        save(fit(config, Parts(corpus["train"], corpus["dev"])), folder / name)
    return [folder / name for name in options]


def train_with(source: Path, folder: Path) -> list[Path]:
    """The default model, trained by another version of regard."""
    texts, run = folder / "reviews.jsonl", folder / "default"
    with texts.open("w", encoding="utf-8") as file:
        for example in splits()["train"]:
            file.write(json.dumps({"text": example.text, "label": example.label}) + "\n")
    command = [sys.executable, "-m", "regard.cli", "train", str(texts), "--task", "multiclass", "--out", str(run)]
    subprocess.run(command, check=True, stdout=sys.stderr, env={**os.environ, "PYTHONPATH": str(source)})
    return [run]


class Serving(NamedTuple):
    process: subprocess.Popen[str]
    port: int
    page: float  # seconds until the page is available
    ready: float  # seconds until requests are answered


@contextmanager
def serving(folders: Sequence[Path], source: Path = SOURCE) -> Iterator[Serving]:
    begin = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [*COMMAND, *map(str, folders), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split("/")[2].rpartition(":")[2])
        assert status(port, "/") == 200
        page = time.perf_counter() - begin
        while status(port, "/api/runs") != 200:
            time.sleep(0.02)
        yield Serving(process, port, page, time.perf_counter() - begin)
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


def run_start(folder: Path, repeats: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"repeats": repeats}
    for name, options in RUNS.items():
        folders = train_runs(folder, options)
        starts = []
        for _ in range(repeats):
            with serving(folders) as server:
                starts.append((server.page, server.ready))
        middle, worst = np.median(starts, axis=0), np.max(starts, axis=0)
        figures[name] = {
            "seconds_to_page": round(float(middle[0]), 2),
            "seconds_to_page_at_most": round(float(worst[0]), 2),
            "seconds_to_answers": round(float(middle[1]), 2),
            "seconds_to_answers_at_most": round(float(worst[1]), 2),
        }
    return figures


class Measured(NamedTuple):
    """One server under one kind of load, over all of its turns."""

    waits: list[float]
    errors: list[int]
    cpu: list[float]  # seconds per turn
    took: list[float]
    resident: list[float]  # before the first turn, and after each


def run_load(folder: Path, seconds: float, rate: float, beside: Path | None) -> dict[str, Any]:
    texts = [example.text[start:end] for example in splits()["test"] for start, end in sentences(example.text)]
    sources = {"this version": SOURCE} | ({} if beside is None else {"the other version": beside})
    kinds: dict[str, Any] = {
        "alone": lambda port: nullcontext(),
        f"next to {IDLE} idle connections": lambda port: idle_clients(port, IDLE),
        f"next to {SLOW} slow clients": lambda port: slow_clients(port, SLOW),
    }
    turns = 1 if beside is None else TURNS
    count = int(seconds * rate / turns)
    figures: dict[str, Any] = {"words_a_text": round(float(np.mean([len(text.split()) for text in texts])), 1)}
    runs = train_runs(folder, RUNS["default model"]) if beside is None else train_with(beside, folder)
    with ExitStack() as stack:
        servers = {name: stack.enter_context(serving(runs, source)) for name, source in sources.items()}
        for server in servers.values():
            send_requests(server.port, texts, int(WARM_UP * rate), rate)
        for kind, clients in kinds.items():
            measured = {name: Measured([], [], [], [], [resident(one.process.pid)]) for name, one in servers.items()}
            for _ in range(turns):
                for name, server in servers.items():
                    with clients(server.port):
                        measure(measured[name], server, texts, count, rate)
            for name, one in measured.items():
                figures.setdefault(name, {})[kind] = summary(one)
    return figures


def measure(measured: Measured, server: Serving, texts: Sequence[str], count: int, rate: float) -> None:
    begin, cpu = time.perf_counter(), cpu_seconds(server.process.pid)
    waits, errors = send_requests(server.port, texts, count, rate)
    measured.took.append(time.perf_counter() - begin)
    measured.cpu.append(cpu_seconds(server.process.pid) - cpu)
    measured.resident.append(resident(server.process.pid))
    measured.waits.extend(waits)
    measured.errors.append(errors)


def summary(measured: Measured) -> dict[str, float]:
    p50, p99, most = (1000 * float(value) for value in np.quantile(measured.waits, (0.5, 0.99, 1)))
    return {
        "requests": len(measured.waits),
        "requests_a_second": round(len(measured.waits) / sum(measured.took), 1),
        "p50_ms": round(p50, 2),
        "p99_ms": round(p99, 2),
        "longest_ms": round(most, 1),
        "cpu_ms_a_request": round(1000 * sum(measured.cpu) / len(measured.waits), 2),
        "errors": sum(measured.errors),
        "resident_mb_at_start": measured.resident[0],
        "resident_mb_at_most": max(measured.resident),
    }


@contextmanager
def idle_clients(port: int, count: int) -> Iterator[None]:
    """Connections that send nothing."""
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        yield


@contextmanager
def slow_clients(port: int, count: int) -> Iterator[None]:
    """Connections that send a header without end, five bytes per second; those that the server closes are opened again."""
    stop = threading.Event()

    def drip() -> None:
        lines: list[socket.socket | None] = [None] * count
        while not stop.wait(0.2):
            for place, line in enumerate(lines):
                try:
                    if line is None:
                        lines[place] = line = socket.create_connection(("127.0.0.1", port), timeout=30)
                        line.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
                    line.sendall(b"a")
                except OSError:
                    if line is not None:
                        line.close()
                    lines[place] = None
        for line in lines:
            if line is not None:
                with suppress(OSError):
                    line.close()

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def send_requests(port: int, texts: Sequence[str], count: int, rate: float) -> tuple[list[float], int]:
    """The latency of each request from its scheduled time, and the number of wrong or missing answers."""
    numbers, waits, errors = itertools.count(), [0.0] * count, [0] * count
    begin = time.perf_counter() + 0.1

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for number in numbers:
            if number >= count:
                break
            due = begin + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            body = json.dumps({"text": texts[number % len(texts)]})
            try:
                connection.request("POST", "/api/explain", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                answer = json.loads(reply.read())
                errors[number] = int(reply.status != 200 or not answer["results"][0]["tokens"])
            except (OSError, http.client.HTTPException, ValueError):
                errors[number] = 1
                connection.close()
            waits[number] = time.perf_counter() - due
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waits, sum(errors)


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> float:
    """Resident memory in megabytes."""
    status_text = Path(f"/proc/{process}/status").read_text()
    return round(int(next(line for line in status_text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024, 1)


if __name__ == "__main__":
    main()
