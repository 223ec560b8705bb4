"""Run a table of experiments: configs × seeds (× a grid), each result kept as a row of data as soon as it is there.

    python experiments/run.py experiments/first/table.toml [--jobs 2] [--only sst2] [--device cuda]

A table is a TOML file: `seeds`, and [[cell]] with `config` (a file for `regard train --config`), maybe `seeds` of its own,
and maybe `grid` (options and the values to try: such a cell chooses by dev, and its runs never read test). Rows go to a
.jsonl of the same name; what stands there already is not run again. `--render` writes means and intervals as Markdown.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import multiprocessing
import os
import sys
import tempfile
import tomllib
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

Job = dict[str, Any]
T95 = {
    2: 12.706,
    3: 4.303,
    4: 3.182,
    5: 2.776,
    6: 2.571,
    7: 2.447,
    8: 2.365,
    9: 2.306,
    10: 2.262,
}  # Student's t, n values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--threads", type=int, default=2, help="threads a run")
    parser.add_argument("--only", default="", help="cells whose config's name holds this")
    parser.add_argument("--seeds", type=int, help="how many seeds instead of the table's")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--render", action="store_true", help="write the results as Markdown and run nothing")
    arguments = parser.parse_args()
    results = arguments.table.with_suffix(".jsonl")
    if arguments.render:
        arguments.table.with_suffix(".md").write_text(render(read_rows(results)), encoding="utf-8")
        return
    done = {key(row) for row in read_rows(results)}
    wanted = [job for job in jobs(arguments.table, arguments.seeds) if arguments.only in job["config"]]
    left = [job for job in wanted if key(job) not in done]
    print(f"{len(wanted)} runs, {len(left)} left", flush=True)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=context) as pool:
        folder = arguments.table.parent
        tasks = {pool.submit(run, job, folder, arguments.device, arguments.threads): job for job in left}
        for number, task in enumerate(as_completed(tasks), 1):
            row = task.result()
            with open(results, "a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            score = row.get("test", row["dev"]) if "error" not in row else row
            shown = {name: score[name] for name in ("accuracy", "macro_f", "rmse", "error") if name in score}
            print(f"{number}/{len(left)} {row['config']} {row['options']} seed {row['seed']}: {shown}", flush=True)


def jobs(table: Path, seeds: int | None) -> list[Job]:
    """Seed by seed, so that an early stop leaves whole tables of fewer seeds."""
    content = tomllib.loads(table.read_text(encoding="utf-8"))
    found = []
    for seed in range(seeds or content["seeds"]):
        for cell in content["cell"]:
            if seed >= cell.get("seeds", seed + 1):
                continue
            grid = cell.get("grid", {})
            for values in itertools.product(*grid.values()):
                options = dict(zip(grid, values, strict=True))
                found.append({"config": cell["config"], "options": options, "seed": seed, "choosing": bool(grid)})
    return found


def key(row: Job) -> tuple[str, str, int]:
    return row["config"], json.dumps(row["options"], sort_keys=True), row["seed"]


def run(job: Job, folder: Path, device: str, threads: int) -> Job:
    import torch

    import regard
    from regard.config import Config, read_config
    from regard.data.datasets import resolve
    from regard.errors import InputError
    from regard.recording import Silent
    from regard.runs import train_run

    torch.set_num_threads(threads)
    options = {**read_config(folder / job["config"]), **job["options"], "seed": job["seed"], "device": device}
    if job["choosing"]:
        options["test"] = None
    row = {name: job[name] for name in ("config", "options", "seed")}
    try:
        with tempfile.TemporaryDirectory() as place:
            trained, _ = train_run(Config().override(options), Path(place) / "run", False, False, Silent())
    except InputError as error:
        return {**row, "error": str(error)}
    metrics = trained.metrics
    for split in ("dev", "test"):
        if split in metrics:
            row[split] = {name: value for name, value in metrics[split].items() if isinstance(value, (int, float))}
    files = [resolve(options[name], name) for name in ("train", "dev", "test") if options.get(name)]
    return {
        **row,
        "best_epoch": metrics["best_epoch"],
        "epochs": metrics["epochs"],
        "norms": {
            level: norm["mean"] for level, norm in metrics["history"][metrics["best_epoch"] - 1]["norms"].items()
        },
        "seconds": round(metrics["seconds"], 1),
        "environment": {**metrics["environment"], "regard": regard.__version__, "threads": str(threads)},
        "data": {
            f"{file.parent.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files
        },
    }


def read_rows(path: Path) -> list[Job]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def render(rows: list[Job]) -> str:
    """Mean ± half the 95 % interval over seeds, a row a config (and setting)."""
    groups: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for row in rows:
        options = ", ".join(f"{name} {value}" for name, value in row["options"].items())
        groups[row["config"].removeprefix("configs/").removesuffix(".toml"), options].append(row)
    heads = (
        "config",
        "setting",
        "seeds",
        "dev",
        "test",
        "macro-F (test)",
        "below saying the mean",
        "p (words, …)",
        "s a run",
    )
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for (config, options), found in sorted(groups.items()):
        good = [row for row in found if "error" not in row]
        cells = [
            config,
            options,
            str(len(good)) + (f" ({len(found) - len(good)} failed)" if len(good) < len(found) else ""),
        ]
        cells += [interval(good, "dev"), interval(good, "test"), interval(good, "test", ("macro_f",))]
        gains = [1 - row["test"]["rmse"] / row["test"]["rmse_of_mean"] for row in good if "rmse" in row.get("test", {})]
        cells.append(f"{np.mean(gains):.1%}" if gains else "")
        levels = sorted({level for row in good for level in row["norms"]}, reverse=True)
        cells.append(", ".join(f"{np.mean([row['norms'][level] for row in good]):.3f}" for level in levels))
        cells.append(f"{np.mean([row['seconds'] for row in good]):.0f}" if good else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def interval(rows: list[Job], split: str, names: tuple[str, ...] = ("accuracy", "rmse")) -> str:
    for name in names:
        values = [row[split][name] * (1 if name == "rmse" else 100) for row in rows if name in row.get(split, {})]
        if values:
            digits = 3 if name == "rmse" else 2
            half = T95[len(values)] * np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
            spread = f" ± {half:.{digits}f}" if len(values) > 1 else ""
            return f"{'RMSE ' if name == 'rmse' else ''}{np.mean(values):.{digits}f}{spread}"
    return ""


if __name__ == "__main__":
    # threads that spin for long while they wait make runs side by side many times slower
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    sys.exit(main())
