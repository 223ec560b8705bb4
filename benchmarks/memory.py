"""Peak resident memory of training and predicting: 10⁵, 10⁶ and 10⁷ texts, flat and with the words that matter most.

    python benchmarks/memory.py [--texts 100000 1000000 10000000] [--words 30] [--save]

Texts are drawn from 100,000 made-up words with a Zipf distribution. Every command is a process of its own, whose peak the system
reports. `--save` writes results/memory.json.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures

RESULTS = Path(__file__).parent / "results" / "memory.json"
REGARD = [sys.executable, "-m", "regard"]
VOCABULARY, AT_ONCE = 100_000, 10_000


def write_texts(count: int, words: int, path: Path) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for start in range(0, count, AT_ONCE):
            drawn = np.minimum(rng.zipf(1.3, size=(min(AT_ONCE, count - start), words)), VOCABULARY).tolist()
            for text in drawn:
                label = "even" if sum(number % 2 == 0 for number in text) * 2 > words else "odd"
                file.write(f'{{"text": "w{" w".join(map(str, text))}", "label": "{label}"}}\n')


def peak(command: list[str]) -> dict[str, float]:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return {
        "peak_megabytes": usage.ru_maxrss / 1024,
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.perf_counter() - start,
    }


def measure(count: int, words: int, work: Path) -> dict[str, Any]:
    texts, run, out = (str(work / name) for name in (f"{count}.jsonl", f"{count}_run", "out.jsonl"))
    write_texts(count, words, Path(texts))
    rows = {"file_megabytes": os.path.getsize(texts) / 1e6}
    for name, command in (
        ("train", ["train", texts, "--out", run]),
        ("predict", ["predict", run, texts, "--out", out]),
        ("explain_top", ["explain", run, "--file", texts, "--top", "5", "--out", out]),
    ):
        rows |= {f"{name}_{key}": value for key, value in peak([*REGARD, *command]).items()}
    print(count, {key: round(value, 1) for key, value in rows.items()}, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--words", type=int, default=30)
    parser.add_argument("--busy", action="store_true", help="note that other processes ran meanwhile")
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = {str(count): measure(count, arguments.words, Path(folder)) for count in arguments.texts}
    if arguments.save:
        save_figures(RESULTS, {"machine": machine(), "busy": arguments.busy, "texts": rows})


if __name__ == "__main__":
    main()
