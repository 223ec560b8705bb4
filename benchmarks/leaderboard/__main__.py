"""Accuracy with few and with many texts, for regard and what people would use instead.

    REGARD_DATA=… python benchmarks/leaderboard run [--systems NAME …] [--corpora NAME …] [--sizes N …] [--draws N]
    REGARD_DATA=… python benchmarks/leaderboard try …      the same on other training texts; nothing is saved, test stays unread
    python benchmarks/leaderboard table                    results/table.md from the saved cells

Each draw takes texts at random from the train and dev splits of a corpus; all systems get the same ones. `run` scores on the
test split and writes one JSON file per cell under results/; cells that exist are not run again. Each cell runs in a process of
its own, so that memory is that of one system. model2vec needs REGARD_STATIC: a folder that `model2vec.distill` wrote.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from cells import DEVELOPMENT, DRAWS, OTHERS, RESULTS, SIZES, Cell, run_cell
from scipy import stats
from systems import SYSTEMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "try", "table", "cell"])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--corpora", nargs="+", default=[*DEVELOPMENT, *OTHERS])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="0: all texts")
    parser.add_argument("--draws", type=int, default=DRAWS)
    arguments = parser.parse_args()
    if arguments.step == "table":
        write_table()
        return
    wanted = [
        Cell(system, corpus, size, draw)
        for size in arguments.sizes
        for corpus in arguments.corpora
        for draw in range(arguments.draws)
        for system in arguments.systems
    ]
    if arguments.step == "cell":  # in the process that `run` starts
        (cell,) = (cell for cell in wanted if cell.draw == arguments.draws - 1)
        print(json.dumps(run_cell(cell)))
        return
    if arguments.step == "try":
        if set(arguments.corpora) & set(OTHERS):
            raise SystemExit(f"settings are chosen on {', '.join(DEVELOPMENT)} only")
        show([run_cell(cell, unseen=True) for cell in wanted if SYSTEMS[cell.system].is_available])
        return
    for cell in wanted:
        if not cell.path.exists() and SYSTEMS[cell.system].is_available:
            run_alone(cell)


def run_alone(cell: Cell) -> None:
    options = [
        "--systems",
        cell.system,
        "--corpora",
        cell.corpus,
        "--sizes",
        str(cell.size),
        "--draws",
        str(cell.draw + 1),
    ]
    done = subprocess.run([sys.executable, __file__, "cell", *options], capture_output=True, text=True)
    if done.returncode:
        print(f"{cell}: failed\n{done.stderr[-2000:]}", file=sys.stderr)
        return
    cell.path.parent.mkdir(parents=True, exist_ok=True)
    result = json.loads(done.stdout.splitlines()[-1])
    cell.path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{cell.system}, {cell.corpus}, {cell.size or 'all'}, draw {cell.draw}: {result['accuracy']:.1f}", flush=True)


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
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*/*.json"))]
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
