"""Accuracy with few and with many texts, for regard and what people would use instead.

    REGARD_DATA=… python benchmarks/leaderboard run [--systems NAME …] [--corpora NAME …] [--sizes N …] [--draws N] [--again]
    REGARD_DATA=… python benchmarks/leaderboard tune …     the tuned systems, which `run` leaves out
    REGARD_DATA=… python benchmarks/leaderboard try …      the same on other training texts; nothing is saved, test stays unread
    REGARD_DATA=… python benchmarks/leaderboard encode …   sentence embeddings of all texts into the folder REGARD_EMBEDDINGS
    python benchmarks/leaderboard table                    results/table.md from the saved cells
    python benchmarks/leaderboard page                     docs/leaderboard.html from the saved cells

Each draw takes texts at random from the train and dev splits of a corpus; all systems get the same ones. `run` scores on the
test split and saves each draw as soon as it is done (storage.py); draws that exist are not run again without `--again`. With all
texts, a draw is another order and another seed, so a system without randomness runs once. The first draw of every size and all
those with all texts run in a process of their own, so that the peak memory is that of the system; the other small ones of a
system on a corpus share a process. model2vec needs REGARD_STATIC: a folder that `model2vec.distill` wrote. MiniLM needs `encode`
first, because its embeddings are the same in every cell.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from itertools import groupby
from pathlib import Path

import numpy as np
from cells import DEVELOPMENT, DRAWS, OTHERS, SIZES, Cell, run_cell
from embeddings import encode_corpora
from page import write_page
from storage import Row, read_results, save_row
from systems import SYSTEMS
from table import write_table

STEPS = ("run", "tune", "try", "encode", "table", "page", "cells")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), help="default: all that are available here")
    parser.add_argument("--corpora", nargs="+", default=[*DEVELOPMENT, *OTHERS])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="0: all texts")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--again", action="store_true", help="also run draws that exist, and replace them")
    arguments = parser.parse_args()
    if arguments.step == "table":
        write_table()
    elif arguments.step == "page":
        write_page()
    elif arguments.step == "encode":
        encode_corpora(arguments.corpora)
    elif arguments.step == "cells":  # in the process that `run` starts
        run_all([Cell(*one) for one in json.load(sys.stdin)])
    elif arguments.step == "try":
        if set(arguments.corpora) & set(OTHERS):
            raise SystemExit(f"settings are chosen on {', '.join(DEVELOPMENT)} only")
        show([run_cell(cell, unseen=True) for cell in wanted_cells(arguments)])
    else:
        wanted = wanted_cells(arguments)
        for _, cells in groupby(wanted if arguments.again else missing(wanted), key=process):
            run_apart(list(cells))


def wanted_cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """In the order in which they are filled: corpus by corpus, in it system by system, small sizes first."""
    tuned = arguments.step == "tune"
    systems = arguments.systems or [name for name, system in SYSTEMS.items() if bool(system.trials) == tuned]
    if tuned and not all(SYSTEMS[name].trials for name in systems):
        raise SystemExit(f"expected tuned systems: {', '.join(name for name in SYSTEMS if SYSTEMS[name].trials)}")
    available = [name for name in systems if SYSTEMS[name].is_available]
    for corpus in arguments.corpora:
        for name in available:
            sizes = [
                size for size in sorted(arguments.sizes, key=lambda n: n or sys.maxsize) if SYSTEMS[name].takes(size)
            ]
            for size in sizes:
                draws = 1 if size == 0 and not SYSTEMS[name].is_random else arguments.draws
                yield from (Cell(name, corpus, size, draw) for draw in range(draws))


def missing(wanted: Iterable[Cell]) -> Iterator[Cell]:
    done = {(one["system"], one["corpus"], one["size"], one["draw"]) for one in read_results()}
    return (cell for cell in wanted if astuple(cell) not in done)


def process(cell: Cell) -> tuple[str, str, str]:
    """Consecutive cells for which this is the same share a process."""
    alone = cell.size == 0 or cell.draw == 0
    return cell.system, cell.corpus, f"{cell.size}, {cell.draw}" if alone else "some"


def run_apart(cells: list[Cell]) -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent), "cells"],
        input=json.dumps([astuple(cell) for cell in cells]),
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        print(f"{', '.join(map(str, astuple(cells[0])))}: failed\n{done.stderr[-2000:]}", file=sys.stderr, flush=True)


def run_all(cells: list[Cell]) -> None:
    for cell in cells:
        result = run_cell(cell, alone=len(cells) == 1)
        save_row(result)
        size = cell.size or "all"
        print(f"{cell.system}, {cell.corpus}, {size}, draw {cell.draw}: {result['accuracy']:.1f}", flush=True)


def show(results: Iterable[Row]) -> None:
    groups: dict[tuple[int, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        groups[one["size"], one["system"]][one["corpus"]].append((one["accuracy"], one["macro_f"]))
    for (size, system), corpora in groups.items():
        cells = [
            f"{name} {np.mean([a for a, _ in x]):.1f} ({np.mean([f for _, f in x]):.1f})" for name, x in corpora.items()
        ]
        mean = np.mean([np.mean(x, axis=0) for x in corpora.values()], axis=0)
        print(f"{size or 'all':>5} {system:20} {mean[0]:.2f} ({mean[1]:.2f}) | {', '.join(cells)}")


if __name__ == "__main__":
    main()
