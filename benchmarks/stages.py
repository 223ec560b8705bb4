"""Where the time of `regard train` goes, from the file to the saved model: wall clock and CPU time of each stage.

    REGARD_DATA=… python benchmarks/stages.py [CORPUS …] [--members N] [--repeats 3] [--save]

Every run is a process of its own, in which the functions of the stages are timed from outside; what one of them spends in
another is counted there only. CPU time is that of all threads. `--save` adds medians to results/stages.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import compile_source, machine, save_figures, source_commit

RESULTS = Path(__file__).parent / "results" / "stages.json"
CORPORA = ("ag_news", "20newsgroups", "imdb")
START, REST = "start and imports", "everything else"
STAGES = {  # by module and function, or module, class and method
    "regard.runs.prepare": "read and find words",
    "regard.training.fit_sparse.make_inputs": "count pairs, number units",
    "regard.training.fit_sparse.train": "train",
    "regard.training.committee_engine.CommitteeEngine.evaluate": "evaluate and calibrate",
    "regard.training.sparse_engine.SparseEngine.evaluate": "evaluate and calibrate",
    "regard.training.fit_sparse.finish_on_dev": "evaluate and calibrate",
    "regard.training.fit_sparse.evaluate_committee": "evaluate and calibrate",
    "regard.training.fit_sparse.with_spelling_member": "member that reads letters",
    "regard.runs.data_digests": "digest of the data, saving",
    "regard.runs.save": "digest of the data, saving",
}


class Stages:
    """Clocks, of which one at a time runs."""

    def __init__(self, began: float) -> None:
        self.spent = {START: [time.time() - began, time.process_time()]}
        self.current, self.last = REST, self.now()

    def now(self) -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def switch(self, stage: str) -> str:
        now, previous = self.now(), self.current
        clocks = self.spent.setdefault(previous, [0.0, 0.0])
        for index in range(2):
            clocks[index] += now[index] - self.last[index]
        self.current, self.last = stage, now
        return previous

    def timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            previous = self.switch(stage)
            try:
                return function(*given, **named)
            finally:
                self.switch(previous)

        return call


def run_child(began: float, out: str, arguments: list[str]) -> None:
    cli = importlib.import_module("regard.cli")
    modules = {name.rpartition(".")[0] for name in STAGES}
    found = {}
    for name in sorted(modules):  # the module, or a class in one
        try:
            found[name] = importlib.import_module(name)
        except ModuleNotFoundError:
            module, _, owner = name.rpartition(".")
            found[name] = getattr(importlib.import_module(module), owner)
    stages = Stages(began)
    for name, stage in STAGES.items():
        owner, _, function = name.rpartition(".")
        setattr(found[owner], function, stages.timed(getattr(found[owner], function), stage))
    code = cli.main(["train", *arguments, "--out", f"{out}/run"])
    stages.switch(REST)
    Path(out, "stages.json").write_text(json.dumps(stages.spent), encoding="utf-8")
    sys.exit(code)


def measure(corpus: str, members: int | None, repeats: int) -> dict[str, list[float]]:
    """The medians of wall clock and CPU time of each stage, in seconds."""
    arguments = [corpus, *([] if members is None else ["--members", str(members)])]
    runs = []
    for _ in range(repeats + 1):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--child", str(time.time()), folder, *arguments]
            process = subprocess.run(command, capture_output=True, text=True)
            if process.returncode:
                raise SystemExit(process.stdout[-2000:] + process.stderr[-2000:])
            runs.append(json.loads(Path(folder, "stages.json").read_text(encoding="utf-8")))
    runs = runs[1:]  # the first one may have compiled something
    names = [name for name in dict.fromkeys([START, *STAGES.values(), REST]) if name in runs[0]]
    rows = {name: [statistics.median(run[name][clock] for run in runs) for clock in (0, 1)] for name in names}
    rows["sum"] = [statistics.median(sum(clocks[clock] for clocks in run.values()) for run in runs) for clock in (0, 1)]
    return {name: [round(value, 2) for value in row] for name, row in rows.items()}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        run_child(float(sys.argv[2]), sys.argv[3], sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=CORPORA, metavar="CORPUS")
    parser.add_argument("--members", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    compile_source()
    for corpus in arguments.corpora:
        rows = measure(corpus, arguments.members, arguments.repeats)
        name = corpus if arguments.members is None else f"{corpus}, --members {arguments.members}"
        print(name)
        for stage, (wall, cpu) in rows.items():
            print(f"  {stage:28} {wall:6.2f} s {cpu:6.2f} CPU s")
        if arguments.save:
            figures = {"columns": ["wall clock, s", "CPU time, s"], "median": rows, "repeats": arguments.repeats}
            about = {
                "machine": machine(),
                "load": [round(one, 2) for one in os.getloadavg()],
                "commit": source_commit(),
            }
            save_figures(RESULTS, {name: figures | about})


if __name__ == "__main__":
    main()
