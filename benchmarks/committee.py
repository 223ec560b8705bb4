"""How many models the fast engine should train, what they should hold out, and what calibration does: the choice of the rules.

    REGARD_DATA=… python benchmarks/committee.py [--draws 3] [--sizes 100 300 1000 3000] [--save]

Texts are drawn from the train and dev splits of the development corpora; each model is scored on up to 2,000 other texts of
these splits. Test splits are not read. `--save` writes results/committee.json.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures, source_commit
from numpy.typing import NDArray

import regard

sys.path.insert(0, str(Path(__file__).parent / "leaderboard"))
from cells import drawn_rows, measures, read_rows

CORPORA = ("trec", "sst2", "sst1", "mr", "subj", "ag_news", "imdb")
SCORED = 2000
BINS = 15
VARIANTS: dict[str, dict[str, Any]] = {
    "one model, epoch chosen": {"members": 1, "calibrate": False},
    "three, epoch chosen": {"members": 3, "select": "accuracy", "calibrate": False},
    "five, nothing held out": {"members": 5, "dev_fraction": 0.0},
    "five, not calibrated": {"members": 5, "calibrate": False},
    "five, a tenth held out": {"members": 5},
    "default": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 300, 1000, 3000])
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    results: dict[str, Any] = {}
    for size in arguments.sizes:
        rows = {
            name: [score(corpus, size, arguments.draws, options) for corpus in CORPORA]
            for name, options in VARIANTS.items()
        }
        results[f"{size} texts"] = {
            name: {
                **{key: round(float(np.mean([one[key] for one in of_corpora])), 2) for key in of_corpora[0]},
                "by_corpus": dict(zip(CORPORA, of_corpora, strict=True)),
            }
            for name, of_corpora in rows.items()
        }
        for name, figures in results[f"{size} texts"].items():
            print(
                f"{size:5} {name:25} " + ", ".join(f"{key} {figures[key]}" for key in ("accuracy", "macro_f", "ece")),
                flush=True,
            )
    if arguments.save:
        facts = {"draws": arguments.draws, "commit": source_commit(), "machine": machine("numpy", "numba")}
        save_figures(Path(__file__).parent / "results" / "committee.json", {**results, **facts})


def score(corpus: str, size: int, draws: int, options: dict[str, Any]) -> dict[str, float]:
    """Means over the draws, in percent."""
    texts, labels, _ = read_rows(corpus, ("train", "dev"))
    found = []
    for draw in range(draws):
        order = drawn_rows(corpus, len(texts), 0, draw)
        train, rest = order[:size], order[size : size + SCORED]
        model = regard.TextClassifier(**options).fit([texts[row] for row in train], [labels[row] for row in train])
        probabilities = model.predict_proba([texts[row] for row in rest])
        true = [labels[row] for row in rest]
        answers = [str(name) for name in model.classes_[probabilities.argmax(1)]]
        found.append(
            {**measures(true, answers), "ece": calibration_error(probabilities, np.array(answers) == np.array(true))}
        )
    return {key: round(float(np.mean([one[key] for one in found])), 2) for key in found[0]}


def calibration_error(probabilities: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The mean distance between confidence and accuracy over equally wide bins, in percent."""
    confidence = probabilities.max(1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in range(BINS)]
    return 100 * float(sum(gaps)) / len(right)


if __name__ == "__main__":
    main()
