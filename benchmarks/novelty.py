"""Whether novelty tells texts of a class that was left out of training from texts of the other classes (20newsgroups).

    PYTHONPATH=src REGARD_DATA=… python benchmarks/novelty.py [--test] [--save]

Each of the twenty classes is left out in turn; the figure is the area under the ROC curve of each score, over its texts and those
of the other classes that were not trained on either. The score was chosen on dev texts, a fifth of the training texts. With
--test, models are trained on all training texts of the other classes, and the test texts are scored with regard's novelty alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from figures import machine, save_figures
from numpy.typing import NDArray

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.models.trained import Trained
from regard.novelty import entropy_share, known_share, novelty
from regard.records import Example
from regard.training.fit import Parts, fit

RESULTS = Path(__file__).parent / "results" / "novelty.json"
CORPUS = "20newsgroups"
Doubles = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="score the test texts")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    train, held = split(arguments.test)
    rows: dict[str, dict[str, float]] = {}
    for left_out in sorted({str(example.label) for example in train}, key=int):
        kept = [example for example in train if str(example.label) != left_out]
        trained = fit(Config().override({"task": "multiclass"}), Parts(kept))
        is_new = np.array([str(example.label) == left_out for example in held])
        for name, values in scores(trained, held, arguments.test).items():
            rows.setdefault(name, {})[left_out] = round(area(values, is_new), 4)
        print(left_out, {name: by_class[left_out] for name, by_class in rows.items()}, flush=True)
    figures = {
        "mean AUROC": {name: round(float(np.mean([*by_class.values()])), 4) for name, by_class in rows.items()},
        "AUROC of novelty by the class left out": rows["novelty"],
        "texts": {"train": len(train), "scored": len(held)},
    }
    print(json.dumps(figures, indent=1))
    if arguments.save:
        part = "test" if arguments.test else "dev"
        save_figures(RESULTS, {part: figures, "machine": machine("numpy", "numba")})


def split(with_test: bool) -> tuple[list[Example], list[Example]]:
    examples = read(resolve(CORPUS, "train"), ReadOptions()).examples
    if with_test:
        return examples, read(resolve(CORPUS, "test"), ReadOptions()).examples
    is_dev = np.random.default_rng((0, 17)).random(len(examples)) < 0.2
    pairs = list(zip(examples, is_dev.tolist(), strict=True))
    return [one for one, is_held in pairs if not is_held], [one for one, is_held in pairs if is_held]


def scores(trained: Trained, examples: Sequence[Example], only_novelty: bool) -> dict[str, Doubles]:
    texts = [example.text for example in examples]
    answers = trained.answers(texts)
    chosen = {"novelty": novelty(trained, texts, answers)}
    if only_novelty:
        return chosen
    logits = np.concatenate([part.astype(np.float64) for _, part, _ in trained.attended(texts, weighed=False)])
    unsure, known = entropy_share(answers), known_share(trained, texts)
    return {
        **chosen,
        "entropy": unsure,
        "unknown words": 1 - known,
        "1 − largest probability": 1 - answers.max(1),
        "− largest logit": -logits.max(1),
        "energy": -np.logaddexp.reduce(logits, axis=1),
        "1 − (1 − H) k": 1 - (1 - unsure) * known,
        "1 − (1 − H) k⁴": 1 - (1 - unsure) * known**4,
        "1 − largest probability · k²": 1 - answers.max(1) * known**2,
    }


def area(values: Doubles, is_new: NDArray[np.bool_]) -> float:
    """The probability that a new text has the larger value, ties counting half."""
    known = np.sort(values[~is_new])
    below, up_to = (np.searchsorted(known, values[is_new], side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(known)))


if __name__ == "__main__":
    main()
