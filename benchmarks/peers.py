"""The models that regard is compared with: fastText, and TF-IDF with a linear classifier. benchmarks/accuracy.py runs them.

    REGARD_DATA=… python benchmarks/peers.py imdb "TF-IDF bigrams, LinearSVC" '{"reading": "words", …}' model.joblib

trains one of them from the file to the saved model and does nothing else, so that it can be timed.

fastText: Joulin et al. 2017, the official build, with its defaults (100-dimensional vectors, 2,000,000 buckets for bigrams)
except for two threads and no minimum count. It trains in the order of its file, so the file is shuffled. TF-IDF is
scikit-learn's.

With fewer than ten threads fastText 0.9.3 initialises only some of its word vectors and leaves the rest as uninitialised
memory: meaningless numbers, or "Encountered NaN", from the second model of a process on. `zero_memory` avoids this; on the
dev split of sst2 the result does not differ from that of ten threads, which initialise all vectors.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import itertools
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.data.splitting import hold_out
from regard.data.words import forms
from regard.records import Example

Setting = dict[str, Any]
Model = Any
THREADS = 2
MARK = "__label__"  # fastText's prefix of labels
PATTERN = r"(?u)\b\w\w+\b"  # scikit-learn's default pattern of words

# Preprocessing of texts: regard's words separated by spaces, or what is usual for the peer.
READINGS: dict[str, Callable[[str], str]] = {
    "words": lambda text: " ".join(forms(text)),
    "spaces": lambda text: " ".join(text.lower().split()),
    "pattern": lambda text: text,
}


@dataclass(frozen=True)
class Peer:
    kind: Literal["fasttext", "svm", "logistic"]
    ngrams: int
    epochs: int = 0

    def grid(self) -> Iterator[Setting]:
        if self.kind == "fasttext":
            axes: dict[str, list[Any]] = {"reading": ["words", "spaces"], "lr": [0.1, 0.25, 0.5, 1.0]}
        else:
            axes = {"reading": ["words", "pattern"], "sublinear": [False, True], "min_df": [1, 2]}
            axes["C"] = [0.1, 0.3, 1.0, 3.0] if self.kind == "svm" else [1.0, 3.0, 10.0, 30.0]
        return (dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))


PEERS = {
    "fastText, 5 epochs": Peer("fasttext", 1, 5),
    "fastText bigrams, 5 epochs": Peer("fasttext", 2, 5),
    "fastText, 25 epochs": Peer("fasttext", 1, 25),
    "fastText bigrams, 25 epochs": Peer("fasttext", 2, 25),
    "TF-IDF, LinearSVC": Peer("svm", 1),
    "TF-IDF bigrams, LinearSVC": Peer("svm", 2),
    "TF-IDF, LogisticRegression": Peer("logistic", 1),
    "TF-IDF bigrams, LogisticRegression": Peer("logistic", 2),
}


def fit(peer: Peer, setting: Setting, lines: Sequence[str], labels: Sequence[str], seed: int) -> Model | None:
    """A model trained on texts preprocessed by `READINGS`; None if fastText diverged."""
    if peer.kind == "fasttext":
        return fit_fasttext(peer, setting, lines, labels, seed)
    from sklearn.pipeline import make_pipeline

    return make_pipeline(vectorizer(peer, setting), classifier(peer, setting, seed)).fit(lines, labels)


def zero_memory() -> None:
    """Allocate all large arrays as new memory, which is zero (see above). glibc only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).mallopt(-3, 1 << 16)  # M_MMAP_THRESHOLD; setting it also stops glibc from raising it


def fit_fasttext(peer: Peer, setting: Setting, lines: Sequence[str], labels: Sequence[str], seed: int) -> Model | None:
    import fasttext

    zero_memory()
    rows = [f"{MARK}{label} {line}\n" for label, line in zip(labels, lines, strict=True)]
    random.Random(seed).shuffle(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        path.write_text("".join(rows), encoding="utf-8", errors="replace")
        try:
            return fasttext.train_supervised(
                str(path),
                lr=setting["lr"],
                epoch=peer.epochs,
                wordNgrams=peer.ngrams,
                minCount=1,
                seed=seed,
                thread=THREADS,
                verbose=0,
            )
        except RuntimeError as error:
            if "NaN" not in str(error):
                raise
            return None


def vectorizer(peer: Peer, setting: Setting) -> Model:
    from sklearn.feature_extraction.text import TfidfVectorizer

    tokenized = setting["reading"] == "words"  # already lower case and separated by spaces
    return TfidfVectorizer(
        lowercase=not tokenized,
        token_pattern=r"\S+" if tokenized else PATTERN,
        ngram_range=(1, peer.ngrams),
        sublinear_tf=setting["sublinear"],
        min_df=setting["min_df"],
    )


def classifier(peer: Peer, setting: Setting, seed: int) -> Model:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if peer.kind == "svm":
        return LinearSVC(C=setting["C"], random_state=seed)
    return LogisticRegression(C=setting["C"], max_iter=1000, random_state=seed)


def answers(peer: Peer, model: Model, lines: Sequence[str]) -> list[str]:
    if peer.kind != "fasttext":
        return list(model.predict(lines))
    # all texts at once: for a single text fastText 0.9.3 makes a call that numpy 2 refuses
    predictions, _ = model.predict(list(lines))
    return [row[0].removeprefix(MARK) if row else "" for row in predictions]  # empty if no word is known


def save(peer: Peer, model: Model, path: Path) -> None:
    if peer.kind == "fasttext":
        model.save_model(str(path))
        return
    import joblib

    joblib.dump(model, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("setting", type=json.loads)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    folder = Path(os.environ["REGARD_DATA"]) / arguments.corpus
    with gzip.open(folder / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    examples = [Example(row["text"], str(row["label"])) for row in rows]
    if not (folder / "dev.jsonl.gz").exists():
        examples, _ = hold_out(examples, 0.1, seed=0, by_label=True)  # the texts that regard trains on
    peer, reading = PEERS[arguments.peer], READINGS[arguments.setting["reading"]]
    lines = [reading(example.text) for example in examples]
    model = fit(peer, arguments.setting, lines, [str(example.label) for example in examples], seed=0)
    if model is None:
        raise SystemExit(f"fastText diverged at a learning rate of {arguments.setting['lr']}")
    save(peer, model, arguments.out)


if __name__ == "__main__":
    main()
