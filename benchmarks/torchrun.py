"""One model trained by several processes that torchrun starts (gloo on the CPU): equality, exits, kills, throughput.

    python benchmarks/torchrun.py equal [--save]                    losses and weights of 1, 2 and 3 processes, with SGD
    python benchmarks/torchrun.py exits [--repeats 40] [--save]     uninterrupted groups of 2 and 3: how many end with an error
    python benchmarks/torchrun.py kills [--repeats 10] [--save]     a process killed at a random moment, then --resume
    python benchmarks/torchrun.py throughput [--save]               2 processes beside 1 process with 1 and 2 threads
    python benchmarks/torchrun.py nccl [--device cuda] [--save]     a group of one process on a GPU beside a plain process

Texts are synthetic. `--save` adds the figures to results/torchrun.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from figures import gpu_machine, machine, save_figures, source_commit

RESULTS = Path(__file__).parent / "results" / "torchrun.json"
SMALL = ("--task", "multiclass", "--embedding", "8", "--hidden", "8", "--batch-size", "16")
SGD = ("--encoder", "bilstm", "--pooling", "apln", "--dropout", "0", "--optimizer", "sgd", "--no-calibrate")
RUNS = {
    "bilstm": ("--encoder", "bilstm", "--epochs", "40", "--patience", "0", "--no-calibrate"),
    "bottleneck": (
        *("--encoder", "bilstm", "--pooling", "bottleneck", "--rounds", "3", "--phase-epochs", "4"),
        *("--epochs", "12", "--patience", "0", "--no-calibrate"),
    ),
}
SHORT = ("--dropout", "0", "--epochs", "3", "--no-calibrate")
WIDE = ("--task", "multiclass", "--encoder", "bilstm", "--pooling", "apln", "--hidden", "100", "--embedding", "100")


def write_texts(path: Path, count: int, words: tuple[int, int] = (3, 12)) -> Path:
    rng = random.Random(5)
    names = [f"word{number}" for number in range(400)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            label = number % 3
            chosen = [rng.choice(names) for _ in range(rng.randint(*words))] + [f"mark{label}"] * 2
            rng.shuffle(chosen)
            file.write(json.dumps({"text": " ".join(chosen) + ".", "label": f"class {label}"}) + "\n")
    return path


def command(processes: int, *words: str) -> list[str]:
    return grouped(processes, *words) if processes > 1 else [sys.executable, "-m", "regard", "train", *words]


def grouped(processes: int, *words: str) -> list[str]:
    """With torchrun."""
    start = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))
    return [sys.executable, *start, "-m", "regard", "train", *words]


def environment(threads: int = 1) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(threads)}


def train(processes: int, *words: str, threads: int = 1) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(processes, *words),
        env=environment(threads),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def trained(processes: int, *words: str, threads: int = 1) -> None:
    """Train, and stop the measurement if that fails."""
    result = train(processes, *words, threads=threads)
    if result.returncode:
        raise SystemExit(result.stderr)


def weights(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    return safetensors.numpy.load_file(folder / "weights.safetensors")


def metrics(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return facts


def equal(folder: Path, _: int) -> dict[str, Any]:
    """SGD without dropout: what several processes do differently is the order of sums, and every step adds to the difference."""
    texts = str(write_texts(folder / "texts.jsonl", 733))  # the last batch is uneven
    figures: dict[str, Any] = {"texts": 733, "batch_size": 16}
    for rate, epochs in (("0.3", "3"), ("1", "10")):
        runs = {number: folder / f"run{rate}-{number}" for number in (1, 2, 3)}
        for number, run in runs.items():
            trained(number, texts, *SMALL, *SGD, "--lr", rate, "--epochs", epochs, "--test", texts, "--out", str(run))
        rows = {str(number): beside(run, runs[1]) for number, run in runs.items()}
        figures[f"learning rate {rate}, {epochs} epochs"] = rows
    return figures


def beside(run: Path, alone: Path) -> dict[str, Any]:
    """The losses of a run, and how far its weights are from those of one process."""
    facts, values, expected = metrics(run), weights(run), weights(alone)
    return {
        "losses": [epoch["loss"] for epoch in facts["history"]],
        "largest_difference_of_a_weight": max(float(np.abs(values[name] - expected[name]).max()) for name in expected),
        "largest_weight": max(float(np.abs(value).max()) for value in expected.values()),
        "test_accuracy": facts["test"]["accuracy"],
        "test_log_loss": facts["test"]["log_loss"],
    }


def exits(folder: Path, repeats: int) -> dict[str, Any]:
    """Groups that nothing interrupts should all end with exit code 0."""
    texts = str(write_texts(folder / "texts.jsonl", 60))
    failures: list[dict[str, Any]] = []
    for repeat in range(repeats):
        size = 2 + repeat % 2
        result = train(
            size, texts, *SMALL, "--encoder", "bilstm", "--epochs", "2", "--out", str(folder / f"run{repeat}")
        )
        if result.returncode or "terminate called" in result.stderr:
            failures.append({"processes": size, "exit": result.returncode, "error": result.stderr[-2000:]})
        print(f"{repeat + 1} of {repeats}: {len(failures)} failed", file=sys.stderr)
    return {"groups": repeats, "processes": [2, 3], "failed": len(failures), "failures": failures}


def kills(folder: Path, repeats: int) -> dict[str, Any]:
    """Some time after a random epoch was saved (not one of the last three), one process gets SIGKILL; then --resume."""
    texts, rng, rows = str(write_texts(folder / "texts.jsonl", 300)), random.Random(11), []
    for name, options in RUNS.items():
        words = (texts, *SMALL, *options, "--out")
        trained(2, *words, str(folder / f"{name}-whole"))
        expected, epochs = weights(folder / f"{name}-whole"), metrics(folder / f"{name}-whole")["epochs"]
        for repeat in range(repeats):
            run = folder / f"{name}-{repeat}"
            row = kill_and_resume(command(2, *words, str(run)), run, rng.randrange(epochs - 3), rng)
            row["equal"] = all(np.array_equal(value, expected[key]) for key, value in weights(run).items())
            rows.append({"run": name, "of_epochs": epochs, **row})
            print(json.dumps(rows[-1]), file=sys.stderr)
    return {
        "processes": 2,
        "kills": sum(row["killed"] for row in rows),
        "equal_bit_for_bit": sum(row["equal"] for row in rows if row["killed"]),
        "moments": rows,
    }


def kill_and_resume(words: Sequence[str], run: Path, epoch: int, rng: random.Random) -> dict[str, Any]:
    with subprocess.Popen(
        words, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as group:
        while group.poll() is None and checkpoint_epoch(run / "checkpoint.safetensors") < epoch:
            time.sleep(0.01)
        time.sleep(
            rng.uniform(0, 0.3) if epoch else rng.uniform(2, 10)
        )  # before the first epoch processes start and read
        children = [] if group.poll() is not None else children_of(group.pid)
        if children:
            os.kill(int(rng.choice(children)), signal.SIGKILL)
        error = group.communicate(timeout=300)[1]
    epochs = checkpoint_epoch(run / "checkpoint.safetensors")
    if group.returncode or not (run / "metrics.json").exists():
        result = subprocess.run([*words, "--resume"], env=environment(), capture_output=True, text=True, timeout=600)
        if result.returncode:
            raise SystemExit(result.stderr)
    return {
        "killed": bool(children and group.returncode),
        "epochs_saved": epochs,
        "sentences": error.count("another process of the group stopped"),
    }


def children_of(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()


def checkpoint_epoch(path: Path) -> int:
    """The number of epochs in a checkpoint; 0 if there is none."""
    try:
        with safetensors.safe_open(path, "np") as file:
            return int(file.metadata()["epoch"])
    except OSError:  # it is not there yet, or removed at the end
        return 0


def throughput(folder: Path, repeats: int) -> dict[str, Any]:
    """Seconds per epoch of the same model, batches and texts; the ways take turns, because other work may slow the machine."""
    texts = str(write_texts(folder / "texts.jsonl", 3000, (20, 60)))
    ways = {"1 process, 1 thread": (1, 1), "1 process, 2 threads": (1, 2), "2 processes, 1 thread each": (2, 1)}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for repeat in range(repeats):
        for number, (way, (processes, threads)) in enumerate(ways.items()):
            run = folder / f"run{repeat}-{number}"
            trained(processes, texts, *WIDE, "--epochs", "3", "--out", str(run), threads=threads)
            seconds[way] += [epoch["seconds"] for epoch in metrics(run)["history"][1:]]
    medians = {way: statistics.median(values) for way, values in seconds.items()}
    first = next(iter(medians.values()))
    return {
        "texts": 3000,
        "model": "bilstm, apln, 100 wide, batches of 64",
        "load_of_the_machine": round(os.getloadavg()[0], 1),
        "texts_per_second": {way: round(2700 / value) for way, value in medians.items()},
        "speed_beside_1_process_1_thread": {way: round(first / value, 2) for way, value in medians.items()},
    }


def nccl(folder: Path, _: int, device: str = "cuda") -> dict[str, Any]:
    """One process under torchrun sends its gradients to itself through NCCL (on the CPU: gloo), without CUDA graphs."""
    texts = str(write_texts(folder / "texts.jsonl", 3000, (20, 60)))
    rows: dict[str, Any] = {}
    for kind, options in {"float32": (), "bf16": ("--bf16",)}.items():
        words = (texts, *WIDE, *options, "--device", device, *SHORT, "--out")
        plain, group = folder / f"{kind}-plain", folder / f"{kind}-group"
        trained(1, *words, str(plain))
        noisy = {**environment(), "NCCL_DEBUG": "INFO"}
        result = subprocess.run(grouped(1, *words, str(group)), env=noisy, capture_output=True, text=True, timeout=600)
        if result.returncode:
            raise SystemExit(result.stderr)
        output = result.stdout + result.stderr
        rows[kind] = {
            "nccl_started": "NCCL INFO" in output,
            "note_about_graphs": "CUDA graphs are off" in output,
            "seconds_per_epoch": {
                "plain": metrics(plain)["history"][-1]["seconds"],
                "group": metrics(group)["history"][-1]["seconds"],
            },
            **beside_plain(group, plain),
        }
    return {"device": device, **rows}


def beside_plain(run: Path, alone: Path) -> dict[str, Any]:
    values, expected = weights(run), weights(alone)
    return {
        "equal_bit_for_bit": all(np.array_equal(values[name], expected[name]) for name in expected),
        "largest_difference_of_a_weight": max(float(np.abs(values[name] - expected[name]).max()) for name in expected),
        "losses": {
            "plain": [epoch["loss"] for epoch in metrics(alone)["history"]],
            "group": [epoch["loss"] for epoch in metrics(run)["history"]],
        },
    }


MEASURES = {"equal": equal, "exits": exits, "kills": kills, "throughput": throughput, "nccl": nccl}
REPEATS = {"exits": 40, "kills": 10, "throughput": 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("--repeats", type=int, help="for kills: of each of two models")
    parser.add_argument("--device", default="cuda", help="for nccl")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    repeats = arguments.repeats or REPEATS.get(arguments.what, 1)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what == "nccl":
            figures = nccl(Path(folder), repeats, arguments.device)
        else:
            figures = MEASURES[arguments.what](Path(folder), repeats)
    print(json.dumps(figures, indent=1))
    if arguments.save:
        on_gpu = arguments.what == "nccl" and arguments.device == "cuda"
        facts = {"commit": source_commit(), "machine": gpu_machine() if on_gpu else machine("numpy", "torch")}
        save_figures(RESULTS, {arguments.what: {**figures, **facts}})


if __name__ == "__main__":
    main()
