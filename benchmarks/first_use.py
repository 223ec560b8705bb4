"""What the first `regard train` on a machine costs beyond the second, which finds the compiled engine in numba's cache.

    REGARD_DATA=… python benchmarks/first_use.py

Every run is a process of its own. The first has an empty cache; in one setting it may use a helper process that compiles while
the file is read (`regard.kernels.ahead`), in the other it may use one core only and has none. Times are wall seconds and CPU
seconds (user and system, with the helper) of the whole process, medians over the repetitions.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median

from figures import compile_source, cpu_of_children

REPEATS = int(os.environ.get("FIRST_USE_REPEATS", "3"))
SAMPLE = 5_000  # texts of IMDB
RESULTS = Path(__file__).parent / "results" / "first_use.json"


def timed(train: Path, folder: Path, number: int, one_core: bool) -> tuple[float, float]:
    code = "import os, sys; os.sched_setaffinity(0, {0})\n" if one_core else "import sys\n"
    code += "from regard.cli import main; sys.exit(main(sys.argv[1:]))"
    begin, before = time.perf_counter(), cpu_of_children()
    subprocess.run(
        [sys.executable, "-c", code, "train", str(train), "--out", str(folder / str(number))],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begin, cpu_of_children() - before


def measure(train: Path, one_core: bool) -> dict[str, float]:
    runs: dict[str, list[tuple[float, float]]] = {"first": [], "second": []}
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            for number, name in enumerate(runs):
                runs[name].append(timed(train, Path(folder), number, one_core))
    row = {}
    for name, times in runs.items():
        row[f"{name}_wall"] = round(median(wall for wall, _ in times), 2)
        row[f"{name}_cpu"] = round(median(cpu for _, cpu in times), 2)
    row["more_wall"] = round(median(a[0] - b[0] for a, b in zip(runs["first"], runs["second"], strict=True)), 2)
    row["more_cpu"] = round(median(a[1] - b[1] for a, b in zip(runs["first"], runs["second"], strict=True)), 2)
    return row


def sample(path: Path, folder: Path) -> Path:
    small = folder / "sample.jsonl"
    with gzip.open(path, "rt", encoding="utf-8") as source, small.open("w", encoding="utf-8") as target:
        target.writelines(line for number, line in islice(enumerate(source), 5 * SAMPLE) if number % 5 == 0)
    return small


def main() -> None:
    compile_source()
    data = Path(os.environ["REGARD_DATA"])
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "trec": data / "trec" / "train.jsonl.gz",
            f"imdb, {SAMPLE:,} texts": sample(data / "imdb" / "train.jsonl.gz", Path(folder)),
        }
        begin = [round(load, 1) for load in os.getloadavg()]
        rows = {
            f"{name}; {'one core, no helper' if one_core else 'all cores, with a helper'}": measure(path, one_core)
            for name, path in files.items()
            for one_core in (False, True)
        }
    note = "Wall times include what other processes did meanwhile (load: averages over 1, 5 and 15 minutes)."
    machine = {"cores": os.cpu_count(), "load_before": begin, "load_after": [round(x, 1) for x in os.getloadavg()]}
    RESULTS.write_text(
        json.dumps({"note": note, "machine": machine, "repeats": REPEATS, "rows": rows}, indent=1) + "\n"
    )
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
