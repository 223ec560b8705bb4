"""What word vectors add with few texts, on the development corpora: the check of the rules of the linear member.

    REGARD_DATA=… REGARD_STATIC=… python benchmarks/vectors.py [--draws 2] [--sizes 100 300 1000 3000] [--save]

Texts are drawn from the train and dev splits, and each model is scored on up to 2,000 other texts of these splits; test splits
are not read. REGARD_STATIC names a folder that `regard vectors distill` wrote. `--save` writes results/vectors.json, after every
size.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures, source_commit

sys.path.insert(0, str(Path(__file__).parent / "leaderboard"))
from cells import DEVELOPMENT, drawn_rows, measures, read_rows
from systems import SYSTEMS

SCORED = 2000
FIRST_DRAW = 200  # other draws than those of the leaderboard, and than those on which the rules were chosen
COMPARED = (
    "regard",
    "regard, GloVe",
    "regard, static vectors",
    "regard, static vectors and GloVe",
    "TF-IDF, LinearSVC",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 300, 1000, 3000])
    parser.add_argument("--corpora", nargs="+", default=DEVELOPMENT)
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    if not os.path.isdir(os.environ.get("REGARD_STATIC", "")):
        parser.error("REGARD_STATIC: expected a folder of static vectors")
    results: dict[str, Any] = {
        "draws": arguments.draws,
        "commit": source_commit(),
        "machine": machine("numpy", "numba"),
    }
    for size in arguments.sizes:
        results[f"{size} texts"] = {
            system: summary({corpus: score(system, corpus, size, arguments.draws) for corpus in arguments.corpora})
            for system in COMPARED
        }
        for system, figures in results[f"{size} texts"].items():
            print(f"{size:5} {system:35} {figures['accuracy']:.1f} ({figures['macro_f']:.1f})", flush=True)
        if arguments.save:
            save_figures(Path(__file__).parent / "results" / "vectors.json", results)


def summary(by_corpus: dict[str, dict[str, float]]) -> dict[str, Any]:
    means = {key: round(float(np.mean([one[key] for one in by_corpus.values()])), 2) for key in ("accuracy", "macro_f")}
    return {**means, "by_corpus": by_corpus}


def score(system: str, corpus: str, size: int, draws: int) -> dict[str, float]:
    """Means over the draws, in percent."""
    texts, labels, _ = read_rows(corpus, ("train", "dev"))
    found = []
    for draw in range(FIRST_DRAW, FIRST_DRAW + draws):
        order = drawn_rows(corpus, len(texts), 0, draw)
        train, rest = order[:size], order[size : size + SCORED]
        fitted = SYSTEMS[system].fit([texts[row] for row in train], [labels[row] for row in train], draw)
        found.append(measures([labels[row] for row in rest], fitted.predict([texts[row] for row in rest])))
    return {key: round(float(np.mean([one[key] for one in found])), 2) for key in found[0]}


if __name__ == "__main__":
    main()
