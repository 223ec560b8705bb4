"""What `--class-weight balanced` and `--threshold best-f1` do on skewed labels, beside TF-IDF with logistic regression.

    REGARD_DATA=… python benchmarks/imbalance.py [CORPUS …] [--seeds 3] [--save]

Development corpora are made skewed: few texts are kept of some classes, all of the others, and 3,000 at most (`SKEWED`). They are
drawn from the train and dev splits; a fifth of them, as skewed, is scored, and test splits are not read. Corpora that are skewed
by nature (`NATURAL`) are trained on train, with their dev split, and scored on test. Nothing was chosen by these figures: weights
and threshold have no settings. Figures are means over seeds in percent; the minority is the class with the fewest training texts.
`--save` writes results/imbalance.json.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures, source_commit
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, recall_score

from regard.config import Config
from regard.corpora.lookup import companion, resolve
from regard.data.readers import read
from regard.data.splitting import hold_out
from regard.models.tasks import Classes
from regard.records import Example
from regard.training.fit import Parts, fit

RESULTS = Path(__file__).parent / "results" / "imbalance.json"
# how many classes, the last in alphabetical order, are made rare, and the share of their texts that is kept
SKEWED = {
    "sst2": (1, 0.05),
    "mr": (1, 0.05),
    "subj": (1, 0.05),
    "imdb": (1, 0.05),
    "ag_news": (2, 0.05),
    "trec": (3, 0.1),
}
NATURAL = ("sst1", "yelp_small", "cr", "semeval_twitter")
MOST = 3000
Split = tuple[list[Example], list[Example] | None, list[Example]]
Predict = Callable[[list[str]], list[str]]
REGARD: dict[str, dict[str, Any]] = {
    "regard": {},
    "regard, balanced": {"class_weight": "balanced"},
    "regard, best-f1": {"threshold": "best-f1"},
}
LINEAR: dict[str, str | None] = {"TF-IDF + LR": None, "TF-IDF + LR, balanced": "balanced"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    results = {}
    for corpus in arguments.corpora or (*SKEWED, *NATURAL):
        rows = [score(corpus, seed) for seed in range(arguments.seeds)]
        results[corpus] = {
            "minority_share": round(float(np.mean([row["minority_share"] for row in rows])), 2),
            "training_texts": round(float(np.mean([row["training_texts"] for row in rows]))),
            **{
                system: {key: round(float(np.mean([row[system][key] for row in rows])), 1) for key in rows[0][system]}
                for system in rows[0]
                if isinstance(rows[0][system], dict)
            },
        }
        print(corpus, results[corpus], flush=True)
        if arguments.save:
            facts = {"commit": source_commit(), "seeds": arguments.seeds, "machine": machine("numpy", "scikit-learn")}
            save_figures(RESULTS, {**facts, corpus: results[corpus]})


def splits(corpus: str, seed: int) -> Split:
    """Train, dev if there is one, and the texts that are scored."""
    train, dev_file = read(resolve(corpus)).examples, companion(corpus, "dev")
    dev = None if dev_file is None else read(dev_file).examples
    if corpus in NATURAL:
        return train, dev, read(companion(corpus, "test") or corpus).examples
    kept, scored = hold_out(skewed(corpus, [*train, *(dev or ())], seed), 0.2, seed, by_label=True)
    return kept, None, scored


def skewed(corpus: str, examples: Sequence[Example], seed: int) -> list[Example]:
    """Few texts of the last classes in alphabetical order."""
    rng = np.random.default_rng((seed, 77))
    count, share = SKEWED[corpus]
    rare = sorted({str(example.label) for example in examples})[-count:]
    order = rng.permutation(len(examples)).tolist()
    drawn = [row for row in order if str(examples[row].label) not in rare or rng.random() < share][:MOST]
    return [examples[row] for row in sorted(drawn)]


def score(corpus: str, seed: int) -> dict[str, Any]:
    train, dev, scored = splits(corpus, seed)
    counts = Counter(str(example.label) for example in train)
    minority = min(sorted(counts), key=lambda name: counts[name])
    row: dict[str, Any] = {
        "minority_share": 100 * counts[minority] / len(train),
        "training_texts": len(train),
    }
    texts, labels = [example.text for example in scored], [str(example.label) for example in scored]
    for system, predict in systems(train, dev, seed).items():
        predicted = predict(texts)
        row[system] = {
            "accuracy": 100 * accuracy_score(labels, predicted),
            "macro_f": 100 * f1_score(labels, predicted, average="macro", zero_division=0.0),
            "minority_recall": 100
            * recall_score(labels, predicted, labels=[minority], average="macro", zero_division=0.0),
            "minority_f": 100 * f1_score(labels, predicted, labels=[minority], average="macro", zero_division=0.0),
        }
    return row


def systems(train: list[Example], dev: list[Example] | None, seed: int) -> dict[str, Predict]:
    """Trained when called."""
    counts = Counter(str(example.label) for example in train)
    made: dict[str, Predict] = {}
    for name, options in REGARD.items():
        if "threshold" in options:
            if len(counts) > 2:
                continue
            options = {**options, "positive": min(sorted(counts), key=lambda one: counts[one])}
        made[name] = regard(train, dev, {**options, "seed": seed})
    for name, class_weight in LINEAR.items():
        made[name] = linear([*train, *(dev or ())], class_weight, seed)
    return made


def regard(train: list[Example], dev: list[Example] | None, options: dict[str, Any]) -> Predict:
    def predict(texts: list[str]) -> list[str]:
        trained = fit(Config().override(options), Parts(train, dev))
        task = trained.task
        assert isinstance(task, Classes)
        return [task.classes[number] for number in task.chosen(trained.answers(texts)).tolist()]

    return predict


def linear(train: list[Example], class_weight: str | None, seed: int) -> Predict:
    def predict(texts: list[str]) -> list[str]:
        features = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
        model = LogisticRegression(C=10, class_weight=class_weight, max_iter=1000, random_state=seed)
        model.fit(features.fit_transform([example.text for example in train]), [str(one.label) for one in train])
        return [str(name) for name in model.predict(features.transform(texts))]

    return predict


if __name__ == "__main__":
    main()
