"""The systems of the leaderboard: each learns from texts with labels and predicts a label for every other text.

Settings are those that users of each library start from, the same for all corpora and sizes; nothing is tuned. Systems whose
package is not installed are left out of a run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from embeddings import embedded, has_embeddings

sys.path.insert(0, str(Path(__file__).parents[1]))  # peers.py
Texts = Sequence[str]
Predict = Callable[[Texts], list[str]]


@dataclass(frozen=True)
class System:
    fit: Callable[[Texts, Texts, int], Predict]  # (texts, labels, seed)
    needs: tuple[str, ...] = ()  # packages besides regard
    setting: str = ""  # in words, for the page
    is_random: bool = True  # whether the seed or the order of the texts matters

    is_prepared: Callable[[], bool] = lambda: True

    @property
    def is_available(self) -> bool:
        return self.is_prepared() and all(find_spec(name) is not None for name in self.needs)


def fit_regard(options: dict[str, Any]) -> Callable[[Texts, Texts, int], Predict]:
    def fit(texts: Texts, labels: Texts, seed: int) -> Predict:
        import regard

        model = regard.TextClassifier(seed=seed, **options).fit(list(texts), list(labels))
        return lambda others: [str(label) for label in model.predict(list(others))]

    return fit


def fit_regard_static(others: str) -> Callable[[Texts, Texts, int], Predict]:
    def fit(texts: Texts, labels: Texts, seed: int) -> Predict:
        return fit_regard({"vectors": os.environ["REGARD_STATIC"] + others})(texts, labels, seed)

    return fit


def has_static() -> bool:
    return os.path.isdir(os.environ.get("REGARD_STATIC", ""))


def fit_tfidf(kind: str) -> Callable[[Texts, Texts, int], Predict]:
    def fit(texts: Texts, labels: Texts, seed: int) -> Predict:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        classifier = (
            LinearSVC(random_state=seed)
            if kind == "svc"
            else LogisticRegression(C=10, max_iter=1000, random_state=seed)
        )
        model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), classifier).fit(texts, labels)
        return lambda others: list(model.predict(others))

    return fit


def fit_fasttext(texts: Texts, labels: Texts, seed: int) -> Predict:
    import peers

    peer, reading = peers.Peer("fasttext", 2, 25), peers.READINGS["words"]
    codes = {label: str(number) for number, label in enumerate(sorted(set(labels)))}  # labels may have spaces
    names = {code: label for label, code in codes.items()}
    lines = [reading(text) for text in texts]
    model = peers.fit(peer, {"lr": 0.5}, lines, [codes[label] for label in labels], seed)
    if model is None:
        raise RuntimeError("fastText diverged")
    fallback = max(names, key=list(map(codes.get, labels)).count)  # for texts without a known word
    return lambda others: [
        names.get(code, names[fallback]) for code in peers.answers(peer, model, [reading(text) for text in others])
    ]


def fit_static(texts: Texts, labels: Texts, seed: int) -> Predict:
    """Mean static vectors, distilled from MiniLM by model2vec, and logistic regression."""
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(os.environ["REGARD_STATIC"])
    return fit_head(model.encode, texts, labels, seed)


def fit_minilm(texts: Texts, labels: Texts, seed: int) -> Predict:
    """Embeddings of MiniLM, computed beforehand by the step `encode`: times of these cells are without them."""
    return fit_head(embedded, texts, labels, seed)


def fit_head(encode: Callable[[list[str]], Any], texts: Texts, labels: Texts, seed: int) -> Predict:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000, random_state=seed))
    model.fit(np.asarray(encode(list(texts))), labels)
    return lambda others: list(model.predict(np.asarray(encode(list(others)))))


SYSTEMS = {
    "regard": System(fit_regard({}), setting="no options"),
    "regard, one model": System(fit_regard({"members": 1}), setting="members=1"),
    "regard, GloVe": System(fit_regard({"vectors": "glove100"}), setting='vectors="glove100" (100 dimensions)'),
    "regard, static vectors": System(
        fit_regard_static(""),
        ("tokenizers",),
        "vectors: 256 dimensions distilled from MiniLM by model2vec",
        is_prepared=has_static,
    ),
    "regard, static vectors and GloVe": System(
        fit_regard_static(",glove100"),
        ("tokenizers",),
        "vectors: 256 dimensions distilled from MiniLM by model2vec, and GloVe (100 dimensions)",
        is_prepared=has_static,
    ),
    "TF-IDF, LR": System(fit_tfidf("lr"), ("sklearn",), "words and pairs, sublinear; C=10", is_random=False),
    "TF-IDF, LinearSVC": System(fit_tfidf("svc"), ("sklearn",), "words and pairs, sublinear; C=1", is_random=False),
    "fastText": System(fit_fasttext, ("fasttext",), "bigrams, 25 epochs, learning rate 0.5, regard's words"),
    "model2vec, LR": System(
        fit_static,
        ("model2vec", "sklearn"),
        "256 dimensions distilled from MiniLM, standardised; C=0.1",
        is_random=False,
    ),
    "MiniLM, LR": System(fit_minilm, ("sklearn",), "embeddings standardised; C=0.1", False, has_embeddings),
}
