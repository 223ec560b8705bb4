"""Expected calibration error of the default `regard train`, before and after the temperature (`training/temperature`).

    REGARD_DATA=… python benchmarks/calibration.py choose [CORPUS …] [--seeds 2] [--save]
    REGARD_DATA=… python benchmarks/calibration.py test [CORPUS …] [--seeds 5] [--save]

`choose` is for choosing the method: on the development corpora a fifth of train takes the place of test, which is not read.
`test` trains on all of train, with the dev split where there is one, and reads each test split once. `--save` writes
results/calibration.json.

The error is the mean over texts of |confidence − accuracy|, in ten equally wide bins of the confidence from 1/K to 1, as in
`regard report`. "best" is the error with the temperature that fits the scored texts themselves, which no method can know: what
remains is the error of having one temperature only, and of few texts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import DEVELOPMENT, OTHERS, SEEDS
from figures import machine, save_figures, source_commit
from numpy.typing import NDArray
from scipy import stats

from regard.config import Config
from regard.corpora.lookup import companion, resolve
from regard.data.labels import Labels
from regard.data.readers import read
from regard.data.splitting import hold_out
from regard.models.tasks import Binary, Classes, encoded
from regard.records import Example
from regard.training.calibration import of_classes
from regard.training.fit import Parts, fit
from regard.training.temperature import fit_temperature

RESULTS = Path(__file__).parent / "results" / "calibration.json"
Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["choose", "test"])
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    results = {}
    for corpus in arguments.corpora or (DEVELOPMENT + OTHERS if arguments.step == "test" else DEVELOPMENT):
        rows = [score(corpus, seed, arguments.step == "test") for seed in range(arguments.seeds)]
        results[corpus] = summary(rows)
        print(corpus, ", ".join(f"{name} {value}" for name, value in results[corpus].items()), flush=True)
        if arguments.save:
            facts = {"commit": source_commit(), "seeds": arguments.seeds, "machine": machine("numpy", "numba")}
            save_figures(RESULTS, {arguments.step: {**facts, "corpora": results}})


def splits(corpus: str, seed: int, is_test: bool) -> tuple[list[Example], list[Example] | None, list[Example]]:
    """Train, dev if the corpus has one, and the texts that are scored."""
    train, dev_file = read(resolve(corpus)).examples, companion(corpus, "dev")
    dev = None if dev_file is None else read(dev_file).examples
    if not is_test:
        train, scored = hold_out(train, 0.2, 1000 + seed, by_label=True)
        return train, dev, scored
    file = companion(corpus, "test")
    if file is None:
        raise SystemExit(f"{corpus}: expected a test split, got none")
    return train, dev, read(file).examples


def score(corpus: str, seed: int, is_test: bool) -> dict[str, float]:
    train, dev, scored = splits(corpus, seed, is_test)
    trained = fit(Config().override({"seed": seed}), Parts(train, dev))
    task = trained.task
    assert isinstance(task, Classes)
    labels = encoded(task, Labels.of(scored), corpus)
    after = trained.answers([example.text for example in scored])
    logits = np.log(after.clip(1e-300))
    if isinstance(task, Binary):
        logits = logits[:, 1:] - logits[:, :1]
    temperature = trained.metrics["temperature"]
    before = task.answers(logits * temperature)  # calibration has divided by it
    best = task.answers(logits / fit_temperature(task, logits, labels))
    return {
        "before": error(before, labels),
        "after": error(after, labels),
        "best": error(best, labels),
        "temperature": temperature,
        "accuracy": float((after.argmax(1) == labels).mean()),
        "confidence": float(after.max(1).mean()),
        "texts": len(labels),
    }


def error(answers: Floats, labels: Floats) -> float:
    bins = of_classes(answers, labels)
    assert bins is not None
    assert bins.error is not None
    return bins.error


def summary(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Means over the seeds, and half the 95 % interval of the error after calibration."""
    means: dict[str, Any] = {name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]}
    after = [row["after"] for row in rows]
    if len(rows) > 1:
        half = stats.t.ppf(0.975, len(rows) - 1) * np.std(after, ddof=1) / np.sqrt(len(rows))
        means["after_interval"] = round(float(half), 4)
    return means


if __name__ == "__main__":
    main()
