"""Kills `regard train` at random moments, resumes it, and compares the weights with those of an uninterrupted run.

    python tools/random_kills.py [--kills N] [--engines sparse,torch] [--seed N] [--out FILE]

Every run is a process of its own, forked from one that has imported everything, and ended by SIGKILL. A checkpoint is saved
after every epoch. Counted are the kills by what the folder held at that moment, and the resumed runs whose weights, metrics or
file names differ from those of the uninterrupted run. tests/test_kills.py kills at every file operation instead.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

# ruff: noqa: E402 (from the folder of tests, and after the variable is set)
import regard
from command import write_csv
from killed import assert_same_run
from regard.cli import main
from regard.data.reviews import reviews
from regard.files import temporary_files
from regard.models.run_files import has_checkpoint, is_run
from regard.training import fit_sparse

OPTIONS = {"hidden": 8, "embedding": 8, "query": 8, "epochs": 6, "batch_size": 16, "device": "cpu"}
LATE = 1.1  # kills up to so much of the time that an uninterrupted run takes: some come too late


def command(table: Path, engine: str, out: Path) -> list[str]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    return ["train", str(table), *words, "--engine", engine, "--out", str(out)]


def started(words: list[str]) -> int:
    """The id of a process that runs a command, without output."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        code = main(words)
    finally:
        os._exit(code)


def state(folder: Path) -> str:
    if not folder.exists():
        return "before the folder"
    if any(file.token is not None for file in temporary_files(folder)):
        return "while files were written"
    if has_checkpoint(folder):
        return "with a checkpoint"
    return "finished" if is_run(folder) else "before the first checkpoint"


def kill_runs(table: Path, engine: str, kills: int, seed: int, place: Path) -> dict[str, object]:
    rng, counts = random.Random(f"{engine} {seed}"), Counter[str]()
    unbroken, out = place / f"unbroken_{engine}", place / "killed"
    assert main(command(table, engine, unbroken)) == 0  # compiles, so that the next one is as fast as the killed ones
    shutil.rmtree(unbroken)
    began = time.monotonic()
    os.waitpid(started(command(table, engine, unbroken)), 0)
    seconds = time.monotonic() - began
    failures: list[str] = []
    for number in range(kills):
        shutil.rmtree(out, ignore_errors=True)
        child = started(command(table, engine, out))
        moment = rng.uniform(0, LATE * seconds)
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)  # a process that has ended is not reaped yet, so the number is still its own
        _, status = os.waitpid(child, 0)
        found = state(out) if os.WIFSIGNALED(status) else "too late"
        counts[found] += 1
        _, status = os.waitpid(started([*command(table, engine, out), "--resume"]), 0)
        try:
            assert status == 0, "it cannot be resumed"
            assert_same_run(out, unbroken)
        except (AssertionError, OSError) as error:
            failures.append(f"kill {number}, {found}: {str(error)[:200]}")
        if (number + 1) % 20 == 0:
            print(f"{engine} {number + 1}/{kills}: {len(failures)} differences", flush=True)
    print(f"{engine}: {dict(counts)}, {len(failures)} differences", flush=True)
    return {"kills": kills, "seconds of a run": round(seconds, 2), "moments": dict(counts), "differences": failures}


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="per engine")
    parser.add_argument("--engines", default="sparse,torch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the counts as JSON")
    arguments = parser.parse_args()
    fit_sparse.SAVED_EVERY = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        place = Path(folder)
        table = write_csv(place / "stars.csv", [(one.text, one.label) for one in reviews(200)])
        counts = {
            engine: kill_runs(table, engine, arguments.kills, arguments.seed, place)
            for engine in arguments.engines.split(",")
        }
    facts = {
        "command": " ".join(["python", "tools/random_kills.py", *sys.argv[1:]]),
        "regard": regard.__version__,
        "python": platform.python_version(),
        "counts": counts,
    }
    if arguments.out:
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(counts, indent=1))
    sys.exit(any(one["differences"] for one in counts.values()))


if __name__ == "__main__":
    run()
