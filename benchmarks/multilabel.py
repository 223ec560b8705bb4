"""Several labels per text: regard beside one-versus-rest TF-IDF + logistic regression, on corpora made from others.

    REGARD_DATA=… python benchmarks/multilabel.py [--development | --thresholds] [--corpora …] [--seeds 5] [--save]

No corpus at hand has several labels per text, so they are made:

- ag_news and 20newsgroups: one, two or three random texts (20newsgroups: their first 100 words) are joined in random order, and
  the result has the labels of all of them; one in ten has an additional text of `trec`, which has no label, and one in twenty is
  only such a text.
- trec: each question has its coarse label and its fine one, such as HUM and HUM:ind.

2,000 training texts (trec: all), 2,000 scored ones, drawn anew for each seed. Scored texts are made from the test splits, or with
`--development`, from training texts that the model is not trained on. `--thresholds` compares rules for thresholds in that way.

The peer gets what regard gets: C and thresholds are chosen on a held-out tenth of the training texts, thresholds by the same
rule, and then it is trained on all texts. `--save` writes results/multilabel.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures, source_commit
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import regard
from regard.models.multilabel import MultiLabel
from regard.student import t_quantile
from regard.training.multilabel_metrics import multilabel_metrics
from regard.training.thresholds import tuned

CORPORA = ("ag_news", "20newsgroups", "trec")
TRAIN, SCORED = 2000, 2000
WORDS = 100  # of a text of 20newsgroups
C = (1.0, 10.0, 100.0)
MEASURES = ("micro_f1", "macro_f1", "subset_accuracy", "map")
Matrix = NDArray[np.int64]
Labelled = tuple[list[str], list[list[str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--thresholds", action="store_true")
    arguments = parser.parse_args()
    results: dict[str, Any] = {}
    if arguments.thresholds:
        results["thresholds"] = {name: compare_rules(name, arguments.seeds) for name in arguments.corpora}
        arguments.corpora = []
    for corpus in arguments.corpora:
        found: dict[str, list[dict[str, float]]] = {name: [] for name in arguments.systems}
        for seed in range(arguments.seeds):
            train, scored = make(corpus, seed, arguments.development)
            labels = sorted({label for one in train[1] for label in one})
            y, true = matrix(train[1], labels), matrix(scored[1], labels)
            for name in arguments.systems:
                thresholds, answers = SYSTEMS[name](train[0], y, scored[0], seed)
                task = MultiLabel(tuple(labels), tuple(thresholds))
                metrics: Any = multilabel_metrics(task, answers, true.astype(np.float64))
                found[name].append({key: 100 * metrics[key] for key in MEASURES})
                print(corpus, seed, name, {key: round(value, 1) for key, value in found[name][-1].items()}, flush=True)
        facts = {"labels": len(labels), "labels_per_text": round(float(y.sum(1).mean()), 2), "texts": len(y)}
        results[corpus] = {**facts, **{name: summary(rows) for name, rows in found.items()}}
    print(json.dumps(results, indent=1))
    if arguments.save:
        facts = {"seeds": arguments.seeds, "commit": source_commit(), "machine": machine("numpy", "scikit-learn")}
        save_figures(Path(__file__).parent / "results" / "multilabel.json", {**results, **facts})


def compare_rules(corpus: str, seeds: int) -> dict[str, dict[str, float]]:
    """By how many dev texts a label needs for a threshold of its own: the measures on other training texts, in percent."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(seeds):
        train, scored = make(corpus, seed, development=True)
        labels = sorted({label for one in train[1] for label in one})
        y, true, held = matrix(train[1], labels), matrix(scored[1], labels).astype(np.float64), len(train[1]) // 10
        model = regard.TextClassifier(seed=seed, members=1, dev_fraction=0.0).fit(train[0][held:], y[held:])
        dev, answers = model.predict_proba(train[0][:held]), model.predict_proba(scored[0])
        untuned = MultiLabel.untuned(tuple(labels))
        tasks = {
            str(few): tuned(untuned, dev, y[:held].astype(np.float64), few) for few in (1, 10, 20, 50, 100, len(y))
        }
        for name, task in {"0.5": untuned, **tasks}.items():
            assert isinstance(task, MultiLabel)
            metrics: Any = multilabel_metrics(task, answers, true)
            found.setdefault(name, []).append([100 * metrics[key] for key in MEASURES[:3]])
    means = {name: np.mean(rows, 0).round(2).tolist() for name, rows in found.items()}
    print(corpus, means, flush=True)
    return {name: dict(zip(MEASURES, row, strict=False)) for name, row in means.items()}


def summary(rows: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The mean over the seeds, half of its 95 % interval (Student's t), and every seed."""
    result = {}
    for key in rows[0]:
        values = np.array([row[key] for row in rows])
        half = t_quantile(len(rows) - 1, 0.975) * values.std(ddof=1) / len(rows) ** 0.5 if len(rows) > 1 else 0.0
        mean, half = round(float(values.mean()), 2), round(float(half), 2)
        result[key] = {"mean": mean, "half": half, "seeds": values.round(2).tolist()}
    return result


def make(corpus: str, seed: int, development: bool) -> tuple[Labelled, Labelled]:
    """Training texts and scored texts, which share none of the texts they are made from."""
    rng = np.random.default_rng((seed, 31))
    if corpus == "trec":
        train = fine("trec", "train")
        order = rng.permutation(len(train[0]))
        train = pick(train, order)
        if development:
            return pick(train, range(len(order) // 5, len(order))), pick(train, range(len(order) // 5))
        return train, fine("trec", "test")
    rows, others = read(corpus, "train"), [text for text, _ in read("trec", "train")]
    order = rng.permutation(len(rows))
    half = len(rows) // 2
    if development:
        parts = [[rows[k] for k in order[:half]], [rows[k] for k in order[half:]]]
    else:
        parts = [[rows[k] for k in order], read(corpus, "test")]
    cut = WORDS if corpus == "20newsgroups" else None
    return joined(parts[0], others, TRAIN, cut, rng), joined(parts[1], others, SCORED, cut, rng)


def read(corpus: str, split: str) -> list[tuple[str, str]]:
    path = Path(os.environ["REGARD_DATA"]) / corpus / f"{split}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [(row["text"], str(row.get("fine", row["label"]))) for row in rows]


def fine(corpus: str, split: str) -> Labelled:
    rows = read(corpus, split)
    return [text for text, _ in rows], [[name.partition(":")[0], name] for _, name in rows]


def pick(labelled: Labelled, rows: Sequence[int] | NDArray[np.int64] | range) -> Labelled:
    return [labelled[0][k] for k in rows], [labelled[1][k] for k in rows]


def joined(
    rows: Sequence[tuple[str, str]], others: Sequence[str], count: int, cut: int | None, rng: np.random.Generator
) -> Labelled:
    """Each of `count` texts is made of one to three texts, the same one possibly in several."""
    texts, labels = [], []
    for _ in range(count):
        chosen = [rows[k] for k in rng.integers(len(rows), size=rng.integers(1, 4))]
        draw = rng.random()
        if draw < 0.05:
            chosen = []
        parts = [" ".join(text.split()[:cut]) for text, _ in chosen]
        if draw < 0.15:
            parts.append(others[rng.integers(len(others))])
        texts.append(" ".join(parts[k] for k in rng.permutation(len(parts))))
        labels.append(sorted({label for _, label in chosen}))
    return texts, labels


def matrix(sets: Sequence[Sequence[str]], labels: Sequence[str]) -> Matrix:
    """A label that no training text has is left out."""
    return np.array([[int(label in one) for label in labels] for one in sets])


def regard_default(
    texts: list[str], y: Matrix, scored: list[str], seed: int
) -> tuple[list[float], NDArray[np.float64]]:
    model = regard.TextClassifier(seed=seed).fit(texts, y)
    order = model.columns()
    task = model.trained_.task
    assert isinstance(task, MultiLabel)
    return [1.0 if k is None else task.thresholds[k] for k in order], model.predict_proba(scored)


def tfidf(texts: Sequence[str], scored: Sequence[str]) -> tuple[Any, Any]:
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    return vectorizer.fit_transform(texts), vectorizer.transform(scored)


def one_versus_rest(x: Any, y: Matrix, scored: Any, inverse: float) -> NDArray[np.float64]:
    model = OneVsRestClassifier(LogisticRegression(C=inverse, solver="liblinear"))
    return np.asarray(model.fit(x, y).predict_proba(scored))


def tfidf_tuned(texts: list[str], y: Matrix, scored: list[str], seed: int) -> tuple[list[float], NDArray[np.float64]]:
    """C by micro F1 on the held-out tenth, with the thresholds chosen there."""
    order = np.random.default_rng(seed).permutation(len(texts))
    held, kept = order[: len(order) // 10], order[len(order) // 10 :]
    untuned = MultiLabel.untuned(tuple(map(str, range(y.shape[1]))))
    best: tuple[float, float, list[float]] = (-1.0, 1.0, [])
    x, x_held = tfidf([texts[k] for k in kept], [texts[k] for k in held])
    for inverse in C:
        answers, true = one_versus_rest(x, y[kept], x_held, inverse), y[held].astype(np.float64)
        task = tuned(untuned, answers, true)
        assert isinstance(task, MultiLabel)
        best = max(best, (multilabel_metrics(task, answers, true)["micro_f1"], inverse, [*task.thresholds]))
    x, x_scored = tfidf(texts, scored)
    return best[2], one_versus_rest(x, y, x_scored, best[1])


def tfidf_plain(texts: list[str], y: Matrix, scored: list[str], seed: int) -> tuple[list[float], NDArray[np.float64]]:
    """As scikit-learn has it: C = 1, thresholds 0.5."""
    x, x_scored = tfidf(texts, scored)
    return [0.5] * y.shape[1], one_versus_rest(x, y, x_scored, 1.0)


System = Callable[[list[str], Matrix, list[str], int], tuple[list[float], NDArray[np.float64]]]
SYSTEMS: dict[str, System] = {
    "regard": regard_default,
    "TF-IDF + LR, C and thresholds chosen": tfidf_tuned,
    "TF-IDF + LR": tfidf_plain,
}


if __name__ == "__main__":
    main()
