"""Accuracy with few and with many texts, for regard and what people would use instead.

    REGARD_DATA=… python benchmarks/leaderboard run [--systems NAME …] [--corpora NAME …] [--sizes N …] [--draws N]
    REGARD_DATA=… python benchmarks/leaderboard try …      the same on other training texts; nothing is saved, test stays unread
    REGARD_DATA=… python benchmarks/leaderboard encode …   sentence embeddings of all texts into the folder REGARD_EMBEDDINGS
    python benchmarks/leaderboard table                    results/table.md from the saved cells

Each draw takes texts at random from the train and dev splits of a corpus; all systems get the same ones. `run` scores on the
test split and writes one JSON line per cell to results/CORPUS.jsonl; cells that exist are not run again. With all texts, a draw
is another order and another seed, so a system without randomness runs once. All small cells of a system on a corpus share a
process; one with all texts runs alone, so that its peak memory is that of the system. model2vec needs REGARD_STATIC: a folder
that `model2vec.distill` wrote. MiniLM needs `encode` first, because its embeddings are the same in every cell.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from cells import DEVELOPMENT, DRAWS, OTHERS, RESULTS, SIZES, Cell, read_results, run_cell
from embeddings import encode_corpora
from scipy import stats
from systems import SYSTEMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "try", "encode", "table", "cells"])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--corpora", nargs="+", default=[*DEVELOPMENT, *OTHERS])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="0: all texts")
    parser.add_argument("--draws", type=int, default=DRAWS)
    arguments = parser.parse_args()
    wanted = list(wanted_cells(arguments))
    if arguments.step == "table":
        write_table()
    elif arguments.step == "encode":
        encode_corpora(arguments.corpora)
    elif arguments.step == "cells":  # in the process that `run` starts
        run_all(wanted)
    elif arguments.step == "try":
        if set(arguments.corpora) & set(OTHERS):
            raise SystemExit(f"settings are chosen on {', '.join(DEVELOPMENT)} only")
        show([run_cell(cell, unseen=True) for cell in wanted])
    else:
        for (system, corpus, size), _ in groupby(
            missing(wanted), key=lambda cell: (cell.system, cell.corpus, cell.group)
        ):
            run_apart(system, corpus, size, arguments)


def wanted_cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    for corpus in arguments.corpora:
        for system in arguments.systems:
            for size in arguments.sizes:
                draws = 1 if size == 0 and not SYSTEMS[system].is_random else arguments.draws
                if SYSTEMS[system].is_available:
                    yield from (Cell(system, corpus, size, draw) for draw in range(draws))


def missing(wanted: Iterable[Cell]) -> list[Cell]:
    done = {(one["system"], one["corpus"], one["size"], one["draw"]) for one in read_results()}
    return [cell for cell in wanted if (cell.system, cell.corpus, cell.size, cell.draw) not in done]


def run_apart(system: str, corpus: str, group: str, arguments: argparse.Namespace) -> None:
    """Run the small cells of a system on a corpus, or one with all texts, in a process of their own."""
    sizes = ["0"] if group.startswith("all") else [str(size) for size in arguments.sizes if size]
    draws = int(group.removeprefix("all ")) + 1 if group.startswith("all") else arguments.draws
    options = ["--systems", system, "--corpora", corpus, "--sizes", *sizes, "--draws", str(draws)]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent), "cells", *options], stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        print(f"{system}, {corpus}, {group}: failed\n{done.stderr[-2000:]}", file=sys.stderr, flush=True)


def run_all(wanted: Iterable[Cell]) -> None:
    for cell in missing(wanted):
        result = run_cell(cell)
        RESULTS.mkdir(exist_ok=True)
        with cell.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        size = cell.size or "all"
        print(f"{cell.system}, {cell.corpus}, {size}, draw {cell.draw}: {result['accuracy']:.1f}", flush=True)


def show(results: Iterable[dict[str, Any]]) -> None:
    groups: dict[tuple[int, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        groups[one["size"], one["system"]][one["corpus"]].append((one["accuracy"], one["macro_f"]))
    for (size, system), corpora in groups.items():
        cells = [
            f"{name} {np.mean([a for a, _ in x]):.1f} ({np.mean([f for _, f in x]):.1f})" for name, x in corpora.items()
        ]
        mean = np.mean([np.mean(x, axis=0) for x in corpora.values()], axis=0)
        print(f"{size or 'all':>5} {system:20} {mean[0]:.2f} ({mean[1]:.2f}) | {', '.join(cells)}")


def write_table() -> None:
    results = read_results()
    lines = [
        "# Accuracy and macro F1 by number of training texts",
        "",
        "Written by `python benchmarks/leaderboard table`.",
    ]
    for size in SIZES:
        for measure, title in (("accuracy", "accuracy"), ("macro_f", "macro F1")):
            lines += section(
                [one for one in results if one["size"] == size], measure, f"{size or 'All'} texts: {title}"
            )
    (RESULTS / "table.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


def section(results: list[dict[str, Any]], measure: str, title: str) -> list[str]:
    """Mean ± half of the 95 % interval over the draws; ± is left out where there is one draw."""
    corpora = [name for name in (*DEVELOPMENT, *OTHERS) if any(one["corpus"] == name for one in results)]
    systems = [name for name in SYSTEMS if any(one["system"] == name for one in results)]
    lines = [
        "",
        f"## {title}",
        "",
        f"| system | {' | '.join(corpora)} | mean |",
        "|---|" + "---:|" * (len(corpora) + 1),
    ]
    for system in systems:
        values = [
            [one[measure] for one in results if (one["system"], one["corpus"]) == (system, corpus)]
            for corpus in corpora
        ]
        means = [np.mean(x) if x else np.nan for x in values]
        mean = f"{np.mean(means):.1f}" if not np.isnan(means).any() else ""
        lines.append(f"| {system} | {' | '.join(map(with_interval, values))} | {mean} |")
    return lines


def with_interval(values: list[float]) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.1f} ± {half:.1f}"


if __name__ == "__main__":
    main()
