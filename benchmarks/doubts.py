"""How many wrong labels `regard doubts` finds: labels of training texts are changed at random, and looked for.

    PYTHONPATH=src REGARD_DATA=… python benchmarks/doubts.py [--corpora trec sst2 subj ag_news] [--save]

5 % of the labels are replaced by another class, drawn at random, with three different random seeds. Out-of-fold probabilities
come from one round of five folds and from the mean of three rounds, whose folds and models have the seeds 0, 1 and 2. Each
score ranks the texts, and the figure is the share of changed labels among the first 10 %. "self" is what regard uses; "joint"
puts texts off the diagonal of the confident joint first, then follows the margin. Real errors in the corpora count as misses.
Of corpora with more than 30,000 training texts, 30,000 are drawn at random. Dev and test texts are not read.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures
from numpy.typing import NDArray

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.doubts.folds import SEEDS, cross_validate
from regard.doubts.scoring import confident_classes, estimated_errors, margin_doubt, normalised_doubt, self_doubt
from regard.models.tasks import Classes
from regard.records import Example

RESULTS = Path(__file__).parent / "results" / "doubts.json"
CORPORA = ("trec", "sst2", "subj", "ag_news")
CHANGED, CHECKED, MOST = 0.05, 0.10, 30_000
NOISE_SEEDS = (0, 1, 2)
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


def joint_doubt(probabilities: Doubles, labels: Ints) -> Doubles:
    likely = confident_classes(probabilities, labels)
    return margin_doubt(probabilities, labels) + 2.0 * ((likely >= 0) & (likely != labels))


SCORES: dict[str, Callable[[Doubles, Ints], Doubles]] = {
    "self": self_doubt,
    "margin": margin_doubt,
    "normalised": normalised_doubt,
    "joint": joint_doubt,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=CORPORA, help="named corpora in REGARD_DATA")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    for name in arguments.corpora:
        figures = measure(name)
        print(name, json.dumps(figures, indent=1))
        if arguments.save:
            save_figures(RESULTS, {name: figures, "machine": machine("numpy", "numba")})


def measure(name: str) -> dict[str, Any]:
    examples = training_texts(name)
    found: dict[str, dict[str, list[float]]] = {}
    estimates, seconds = [], []
    for noise in NOISE_SEEDS:
        noisy, changed = with_changed_labels(examples, noise)
        for rounds in (1, SEEDS):
            start = time.perf_counter()
            out = cross_validate(noisy, Config(), name, rounds)
            seconds += [time.perf_counter() - start] if rounds == SEEDS else []
            assert isinstance(out.task, Classes)
            labels = out.labels.astype(np.int64)
            for score, function in SCORES.items():
                first = np.argsort(-function(out.answers, labels), kind="stable")[: round(CHECKED * len(noisy))]
                share = float(changed[first].sum() / changed.sum())
                found.setdefault(f"{rounds} rounds", {}).setdefault(score, []).append(round(share, 4))
        estimates.append(round(estimated_errors(out.answers, labels) / len(noisy), 4))
    mean = {
        rounds: {score: round(float(np.mean(shares)), 4) for score, shares in scores.items()}
        for rounds, scores in found.items()
    }
    return {
        "texts": len(examples),
        "changed labels found in the first 10 %": mean,
        "by noise seed": found,
        "estimated share of wrong labels": estimates,
        "seconds for three rounds": round(float(np.median(seconds)), 1),
    }


def training_texts(name: str) -> list[Example]:
    examples = read(resolve(name, "train"), ReadOptions()).examples
    if len(examples) <= MOST:
        return examples
    chosen = np.random.default_rng((0, 5)).permutation(len(examples))[:MOST]
    return [examples[row] for row in sorted(chosen.tolist())]


def with_changed_labels(examples: list[Example], seed: int) -> tuple[list[Example], NDArray[np.bool_]]:
    """The examples with 5 % of the labels replaced by another class, and which ones are."""
    rng = np.random.default_rng((seed, 11))
    classes = sorted({str(example.label) for example in examples})
    changed = np.zeros(len(examples), dtype=bool)
    changed[rng.permutation(len(examples))[: round(CHANGED * len(examples))]] = True
    noisy = list(examples)
    for row in np.flatnonzero(changed).tolist():
        moved = classes.index(str(examples[row].label)) + int(rng.integers(1, len(classes)))
        noisy[row] = replace(examples[row], label=classes[moved % len(classes)])
    return noisy, changed


if __name__ == "__main__":
    main()
