"""What regard is measured against: fastText, and TF-IDF with a linear classifier. benchmarks/accuracy.py runs them.

    REGARD_DATA=… python benchmarks/peers.py imdb "TF-IDF bigrams, LinearSVC" '{"reading": "words", …}' model.joblib

trains one of them from the file to the saved model in this process and does nothing else: that is what is timed.

fastText: Joulin et al. 2017, the official build, with its defaults (100 numbers a word, 2,000,000 buckets for word pairs) but
two threads and every word kept. It learns in the order of its file, so the file is shuffled. TF-IDF is scikit-learn's.

With fewer than ten threads fastText 0.9.3 sets only a part of its word vectors at the start and leaves the rest to whatever
the memory held: numbers without meaning, or "Encountered NaN", from the second model of a process on. `from_zeros` helps; on
sst2's dev part it makes no difference beside ten threads, which set them all.
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
MARK = "__label__"  # how fastText knows a label
PATTERN = r"(?u)\b\w\w+\b"  # scikit-learn's own idea of a word

# A text as the peer is given it: regard's words between blanks, or as peers are usually given it.
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
    """A model from texts that `READINGS` has made ready; None where fastText's rate was too high for it."""
    if peer.kind == "fasttext":
        return fit_fasttext(peer, setting, lines, labels, seed)
    from sklearn.pipeline import make_pipeline

    return make_pipeline(vectorizer(peer, setting), classifier(peer, setting, seed)).fit(lines, labels)


def from_zeros() -> None:
    """Large arrays of this process are new memory from now on, which is zero; see above. glibc only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).mallopt(-3, 1 << 16)  # M_MMAP_THRESHOLD, which also keeps it from growing


def fit_fasttext(peer: Peer, setting: Setting, lines: Sequence[str], labels: Sequence[str], seed: int) -> Model | None:
    import fasttext

    from_zeros()
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

    own = setting["reading"] == "words"  # already lower-cased and between blanks
    return TfidfVectorizer(
        lowercase=not own,
        token_pattern=r"\S+" if own else PATTERN,
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
    # The whole list at once: fastText 0.9.3's answer to a single text asks numpy for something that numpy 2 refuses.
    said, _ = model.predict(list(lines))
    return [row[0].removeprefix(MARK) if row else "" for row in said]  # no row where no word is known


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
        examples, _ = hold_out(examples, 0.1, seed=0, by_label=True)  # the texts that regard learns from
    peer, reading = PEERS[arguments.peer], READINGS[arguments.setting["reading"]]
    lines = [reading(example.text) for example in examples]
    model = fit(peer, arguments.setting, lines, [str(example.label) for example in examples], seed=0)
    if model is None:
        raise SystemExit(f"fastText's rate of {arguments.setting['lr']} is too high")
    save(peer, model, arguments.out)


if __name__ == "__main__":
    main()
