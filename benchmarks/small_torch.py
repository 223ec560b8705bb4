"""Defaults of PyTorch models for few texts: other options beside today's, on texts of development corpora that were not drawn.

    REGARD_DATA=… python benchmarks/small_torch.py [--draws 3] [--save]     every rule in every cell
    python benchmarks/small_torch.py --show                                 the saved figures as a table

Texts are drawn from the train and dev splits, and models are scored on other texts of these splits; no test split is read.
Ratings are compared with ridge regression over TF-IDF, whose penalty is chosen by cross-validation. `--save` writes every cell
into results/small_torch.json as it is finished, and what is there already is not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from figures import machine, save_figures, source_commit

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.records import Example
from regard.training.fit import Parts, fit

RESULTS = Path(__file__).parent / "results" / "small_torch.json"
SCORED = 1000
RULES: dict[str, dict[str, object]] = {
    "today": {},
    "dropout 0.5": {"dropout": 0.5},
    "dropout 0.5, lr 0.001": {"dropout": 0.5, "lr": 1e-3},
    "dropout 0.5, narrow": {"dropout": 0.5, "embedding": 50, "hidden": 50},
    "dropout 0.5, L2 0.001": {"dropout": 0.5, "l2": 1e-3},
    "epoch by log loss": {"select": "log_loss"},
    "dropout 0.5, epoch by log loss": {"dropout": 0.5, "select": "log_loss"},
    "dropout 0.5, no texts held out, 20 epochs": {"dropout": 0.5, "dev_fraction": 0.0, "epochs": 20},
    "dropout 0.5, last of 20 epochs": {"dropout": 0.5, "select": "last", "epochs": 20},
}


class Cell(NamedTuple):
    corpus: str
    size: int
    options: dict[str, object]
    is_rated: bool = False

    @property
    def title(self) -> str:
        return f"{self.corpus}, {self.size:,} texts, {self.options['encoder']}-{self.options['pooling']}"


BILSTM: dict[str, object] = {"encoder": "bilstm", "pooling": "attention"}
HAN: dict[str, object] = {"encoder": "bilstm", "pooling": "apln", "levels": 2}
CELLS = (
    Cell("scaledata", 1000, HAN, is_rated=True),
    *(Cell(corpus, 300, BILSTM) for corpus in ("trec", "sst2", "sst1", "mr", "subj", "ag_news")),
    *(Cell(corpus, 1000, BILSTM) for corpus in ("trec", "sst2", "mr", "subj")),
)


def examples_of(cell: Cell, draw: int) -> tuple[list[Example], list[Example]]:
    """The texts to train on, and others to score."""
    options = ReadOptions(label="rating") if cell.is_rated else ReadOptions()
    every = [example for part in ("train", "dev") for example in read(resolve(cell.corpus, part), options).examples]
    order = np.random.default_rng((draw, len(every))).permutation(len(every))
    drawn = [every[row] for row in order[: cell.size + SCORED]]
    return drawn[: cell.size], drawn[cell.size :]


def score(predicted: Any, examples: list[Example], is_rated: bool) -> float:
    """RMSE, or accuracy in percent."""
    if is_rated:
        actual = np.array([float(str(example.label)) for example in examples])
        return float(np.sqrt(np.mean((np.asarray(predicted, dtype=float) - actual) ** 2)))
    return 100 * float(
        np.mean([str(one) == str(example.label) for one, example in zip(predicted, examples, strict=True)])
    )


def measure(cell: Cell, rule: str, draw: int) -> dict[str, float]:
    train, others = examples_of(cell, draw)
    if rule == "ridge":
        return {"score": score(ridge(train, others), others, is_rated=True)}
    task = {"task": "regression"} if cell.is_rated else {}
    begin = time.process_time()
    config = Config().override({"seed": draw, "device": "cpu", **task, **cell.options, **RULES[rule]})
    trained = fit(config, Parts(train))
    answers = trained.answers([example.text for example in others])
    predicted = answers[:, 0] if cell.is_rated else [one.value for one in trained.task.predictions(answers)]
    return {
        "score": score(predicted, others, cell.is_rated),
        "epochs": trained.metrics["epochs"],
        "best_epoch": trained.metrics["best_epoch"],
        "cpu_seconds": round(time.process_time() - begin, 1),
    }


def ridge(train: list[Example], others: list[Example]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), RidgeCV(np.logspace(-2, 2, 9)))
    model.fit([example.text for example in train], [float(str(example.label)) for example in train])
    return model.predict([example.text for example in others])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--corpora", nargs="+", help="only these")
    parser.add_argument("--rules", nargs="+", help="only these")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    parser.add_argument("--show", action="store_true", help="print the saved figures and measure nothing")
    arguments = parser.parse_args()
    rows: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    cells = rows.get("cells", {})
    if not arguments.show:
        for draw in range(arguments.draws):
            for cell in CELLS:
                if arguments.corpora and cell.corpus not in arguments.corpora:
                    continue
                for rule in (*RULES, *(["ridge"] if cell.is_rated else [])):
                    key = f"{cell.title}, {rule}, draw {draw}"
                    if key in cells or rule not in (arguments.rules or (rule,)):
                        continue
                    cells[key] = measure(cell, rule, draw)
                    print(key, json.dumps(cells[key]), file=sys.stderr, flush=True)
                    if arguments.save:
                        facts = {"commit": source_commit(), "machine": machine("numpy", "torch", "scikit-learn")}
                        save_figures(RESULTS, {"cells": cells, **facts})
    show(cells)


def show(cells: dict[str, Any]) -> None:
    """Per cell: the mean score of today's defaults, and by how much each rule differs on the draws that both have."""
    for cell in CELLS:
        scores = {}
        for rule in (*RULES, "ridge"):
            start = f"{cell.title}, {rule}, draw "
            scores[rule] = {
                key.removeprefix(start): row["score"] for key, row in cells.items() if key.startswith(start)
            }
        today = scores["today"]
        if not today:
            continue
        print(f"{cell.title}: today {np.mean(list(today.values())):.3f} ({len(today)} draws)")
        for rule, values in scores.items():
            both = [values[draw] - today[draw] for draw in values if draw in today]
            if rule != "today" and both:
                spread = f" (from {min(both):+.3f} to {max(both):+.3f})"
                print(f"    {rule}: {np.mean(both):+.3f}{spread if len(both) > 1 else ''}")


if __name__ == "__main__":
    main()
