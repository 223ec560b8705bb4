"""Loading a run with and without comparing its files with the SHA-256 in its manifest, in one run.

    python benchmarks/loading.py [--megabytes 100] [--repeats 9] [--save]

The run is a flat model with random weights and made-up words. Loads alternate; medians are reported, of the wall clock and of the
CPU time of all threads: only the latter is steady on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import machine, save_figures

from regard.config import Config
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.models.flat import fresh
from regard.models.folder import load
from regard.models.run_files import MANIFEST
from regard.models.saving import save
from regard.models.tasks import Multiclass
from regard.models.trained import Trained

RESULTS = Path(__file__).parent / "results" / "loading.json"
WIDTH = 128


def make_run(folder: Path, megabytes: int) -> None:
    words = megabytes * 1_000_000 // (4 * WIDTH)
    config = Config().override({"embedding": WIDTH, "attention": "dot", "scale": 1.0})
    task = Multiclass(("a", "b", "c"))
    state = fresh(config.model, words + 2, task.out_dim, seed=0)
    tokenizer = Tokenizer(Vocabulary(tuple(f"word{number}" for number in range(words))))
    save(Trained(config, tokenizer, task, {"texts": 2, "epochs": 1, "best_epoch": 1}, weights=state), folder)


def timed(folder: Path, verify: bool) -> tuple[float, float]:
    start, cpu = time.perf_counter(), time.process_time()
    load(folder, verify=verify)
    return time.perf_counter() - start, time.process_time() - cpu


def measure(megabytes: int, repeats: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        make_run(folder, megabytes)
        assert (folder / MANIFEST).is_file()
        timed(folder, True)
        pairs = [(timed(folder, True), timed(folder, False)) for _ in range(repeats)]
        size = sum(path.stat().st_size for path in folder.iterdir())
    figures: dict[str, Any] = {"bytes": size, "repeats": repeats}
    for column, clock in enumerate(("wall_s", "cpu_s")):
        verified, plain = (statistics.median(pair[row][column] for pair in pairs) for row in (0, 1))
        figures[clock] = {"verified": round(verified, 4), "not_verified": round(plain, 4)}
        figures[clock]["best_verified"] = round(min(pair[0][column] for pair in pairs), 4)
        figures[clock]["best_not_verified"] = round(min(pair[1][column] for pair in pairs), 4)
    return figures | {"machine": machine()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    figures = measure(arguments.megabytes, arguments.repeats)
    print(json.dumps(figures, indent=1))
    if arguments.save:
        save_figures(RESULTS, {f"{arguments.megabytes} MB": figures})


if __name__ == "__main__":
    main()
