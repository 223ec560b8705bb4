"""24 small trainings on a Ray cluster of two nodes that loses one, with a driver that is killed, and in three parts without Ray.

    python benchmarks/sweeps.py [parts] [driver] [nodes] [--seed 0] [--save]

parts: three parts, merged by --render. driver: the command itself is killed, and started again. nodes: a node is killed, three
times, each in a cluster of its own. A seed chooses the moments, by the number of rows that are there.
Counted are the rows of the results file, how many of them are different runs, and how many failed; their values must be those of
a plain run. All but parts need Ray. `--save` adds the figures to results/sweeps.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figures import machine, save_figures, source_commit

from regard.data.reviews import reviews

RESULTS = Path(__file__).parent / "results" / "sweeps.json"
RUNS = 24
STAGES = ("parts", "driver", "nodes")
TABLE = """
title = "A small table"
seeds = 6
measures = ["accuracy"]

[options]
text = "text"
label = "label"
epochs = 3

[corpora.reviews]
train = "reviews"
test = "reviews/test"

[methods]
narrow = { embedding = 4 }
wide = { embedding = 64 }
words = { pairs = false }
whole = { beginnings = 0 }
"""


def prepare(folder: Path) -> None:
    corpus = folder / "data" / "reviews"
    corpus.mkdir(parents=True)
    examples = [{"text": example.text, "label": example.label} for example in reviews(500)]
    for split, rows in (("train", examples[:400]), ("test", examples[400:])):
        (corpus / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "table.toml").write_text(TABLE, encoding="utf-8")


def start(folder: Path, out: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "regard", "reproduce", str(folder / "table.toml"), "--device", "cpu", "--out", out]
    environment = {**os.environ, "REGARD_DATA": str(folder / "data"), "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    log = (folder / f"{out}.log").open("ab")
    return subprocess.Popen([*command, *options], cwd=folder, env=environment, stdout=log, stderr=log)


def rows_of(folder: Path, out: str) -> list[dict[str, Any]]:
    path = folder / out / "table.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    keys = {(row["method"], row["seed"]) for row in rows}
    failed = sum("error" in row for row in rows)
    return {"rows": len(rows), "distinct": len(keys), "repeats": len(rows) - len(keys), "failed": failed}


def values(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{row['method']} {row['seed']}": row.get("values") for row in rows}


def wait_for_rows(folder: Path, out: str, count: int, process: subprocess.Popen[bytes]) -> None:
    while len(rows_of(folder, out)) < count and process.poll() is None:
        time.sleep(0.05)


def cluster() -> Any:
    """Two nodes of one core."""
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 10**8}
    started = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    started.second = started.add_node(**size)
    return started


def lose_node(folder: Path, number: int, rng: random.Random, plain: dict[str, Any]) -> dict[str, Any]:
    nodes, out, after, more = cluster(), f"node-{number}", rng.randint(1, RUNS - 6), rng.random()
    try:
        process = start(folder, out, "--on", f"ray:{nodes.address}")
        wait_for_rows(folder, out, after, process)
        time.sleep(more)
        before = len(rows_of(folder, out))
        nodes.remove_node(nodes.second, allow_graceful=False)
        code = process.wait()
    finally:
        nodes.shutdown()
    rows = rows_of(folder, out)
    return {"rows_before": before, **counts(rows), "exit_code": code, "values_of_a_plain_run": values(rows) == plain}


def lose_driver(folder: Path, rng: random.Random, plain: dict[str, Any]) -> dict[str, Any]:
    nodes, out, after = cluster(), "driver", rng.randint(4, RUNS - 8)
    try:
        process = start(folder, out, "--on", f"ray:{nodes.address}")
        wait_for_rows(folder, out, after, process)
        process.kill()
        process.wait()
        before = rows_of(folder, out)
        code = start(folder, out, "--on", f"ray:{nodes.address}").wait()
    finally:
        nodes.shutdown()
    rows = rows_of(folder, out)
    kept = rows[: len(before)] == before
    same = values(rows) == plain
    return {"rows_before": len(before), **counts(rows), "kept": kept, "exit_code": code, "values_of_a_plain_run": same}


def in_parts(folder: Path, plain: dict[str, Any]) -> dict[str, Any]:
    codes = [start(folder, "parts", "--part", f"{k}/3", "--jobs", "0").wait() for k in (1, 2, 3)]
    files = [folder / "parts" / f"table.part-{k}-of-3.jsonl" for k in (1, 2, 3)]
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in files]
    codes.append(start(folder, "parts", "--render").wait())
    rows = rows_of(folder, "parts")
    return {"sizes": sizes, **counts(rows), "exit_codes": codes, "values_of_a_plain_run": values(rows) == plain}


def measure(stages: Sequence[str], seed: int, save: bool) -> None:
    """Every stage is saved when it ends; those of earlier measurements stay."""
    rng = random.Random(seed)
    figures: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))["sweeps"] if RESULTS.exists() else {}
    figures |= {"runs": RUNS, "seed": seed, "machine": machine("numpy", "numba", "ray"), "commit": source_commit()}

    def add(name: str, content: Any) -> None:
        figures[name] = content
        print(json.dumps({name: content}), flush=True)
        if save:
            save_figures(RESULTS, {"sweeps": figures})

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        assert start(folder, "plain", "--jobs", "0").wait() == 0, (folder / "plain.log").read_text(encoding="utf-8")
        plain = values(rows_of(folder, "plain"))
        add("plain", counts(rows_of(folder, "plain")))
        if "parts" in stages:
            add("parts", in_parts(folder, plain))
        if "driver" in stages:
            add("driver_killed", lose_driver(folder, rng, plain))
        if "nodes" in stages:
            lost: list[dict[str, Any]] = []
            for number in range(3):
                lost.append(lose_node(folder, number, rng, plain))
                add("node_killed", lost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", help=f"some of {', '.join(STAGES)} (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which something is killed")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    if unknown := {*arguments.stages} - {*STAGES}:
        parser.error(f"expected some of {', '.join(STAGES)}, got {', '.join(unknown)}")
    measure(arguments.stages or STAGES, arguments.seed, arguments.save)


if __name__ == "__main__":
    main()
