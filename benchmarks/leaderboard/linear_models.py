"""Linear models of the leaderboard: TF-IDF, NB-SVM, and logistic regression over vectors of whole texts.

NB-SVM: Wang and Manning 2012, "Baselines and Bigrams: Simple, Good Sentiment and Topic Classification". Words and pairs are
present or absent; each is weighted by the log-count ratio of a class against the others, with one added to every count, and a
linear SVM per class learns from the weighted features.

Implementation choices: squared hinge loss and C = 1, as `LinearSVC` has them; the weights are not interpolated with their mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from embeddings import embedded
from numpy.typing import NDArray
from system import Fit, Fitted, Options, Texts


def fit_tfidf(kind: str, options: Options | None = None) -> Fit:
    """`kind`: "svc" or "lr". `options`: C, and those of scikit-learn's vectorizer."""
    given = {"C": 1.0 if kind == "svc" else 10.0, "ngram_range": (1, 2), "sublinear_tf": True, **(options or {})}
    c = given.pop("C")

    def fit(texts: Texts, labels: Texts, seed: int) -> Fitted:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        svc = kind == "svc"
        classifier = (
            LinearSVC(C=c, random_state=seed) if svc else LogisticRegression(C=c, max_iter=1000, random_state=seed)
        )
        model = make_pipeline(TfidfVectorizer(**given), classifier).fit(texts, labels)
        return Fitted(lambda others: list(model.predict(others)), saving(model))

    return fit


def fit_nbsvm(texts: Texts, labels: Texts, seed: int) -> Fitted:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.svm import LinearSVC

    vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True)
    counts, true = vectorizer.fit_transform(texts), np.asarray(labels)
    names = sorted(set(labels))
    scored = names[1:] if len(names) == 2 else names  # of two classes, one against the other is enough
    ratios = [log_count_ratio(counts, true == name) for name in scored]
    machines = [
        LinearSVC(random_state=seed).fit(counts.multiply(ratio).tocsr(), true == name)
        for name, ratio in zip(scored, ratios, strict=True)
    ]

    def predict(others: Texts) -> list[str]:
        given = vectorizer.transform(others)
        scores = np.stack(
            [one.decision_function(given.multiply(r).tocsr()) for one, r in zip(machines, ratios, strict=True)], axis=1
        )  # (texts, classes)
        best = (scores[:, 0] > 0).astype(int) if len(names) == 2 else scores.argmax(1)
        return [names[row] for row in best]

    return Fitted(predict, saving((vectorizer, ratios, machines)))


def log_count_ratio(counts: Any, is_class: NDArray[np.bool_]) -> NDArray[np.float64]:
    """log((p / |p|) / (q / |q|)), where p and q count each feature inside and outside of the class, plus one."""
    inside, outside = (1.0 + np.asarray(counts[rows].sum(0)).ravel() for rows in (is_class, ~is_class))
    ratio: NDArray[np.float64] = np.log((inside / inside.sum()) / (outside / outside.sum()))
    return ratio


def fit_static(texts: Texts, labels: Texts, seed: int) -> Fitted:
    """Mean static vectors, distilled from MiniLM by model2vec, and logistic regression."""
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(os.environ["REGARD_STATIC"])
    return fit_head(model.encode, texts, labels, seed)


def fit_minilm(texts: Texts, labels: Texts, seed: int) -> Fitted:
    """Embeddings of MiniLM, computed beforehand by the step `encode`: times of these cells are without them."""
    return fit_head(embedded, texts, labels, seed)


def fit_head(encode: Callable[[list[str]], Any], texts: Texts, labels: Texts, seed: int) -> Fitted:
    """Its size is not measured: that of the encoder would have to be added."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000, random_state=seed))
    model.fit(np.asarray(encode(list(texts))), labels)
    return Fitted(lambda others: list(model.predict(np.asarray(encode(list(others))))))


def saving(model: Any) -> Callable[[Path], None]:
    def save(folder: Path) -> None:
        import joblib

        joblib.dump(model, folder / "model.joblib")

    return save
