"""Adapters for models of other libraries, with small models that these libraries trained; skipped where one is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import InputError
from regard.wrapping import (
    Wrapped,
    wrap_fasttext,
    wrap_model2vec,
    wrap_setfit,
    wrap_sklearn,
    wrap_transformers,
)
from tiny_bert import save_bert, save_classifier, word_pieces

TEXTS = ["good food", "bad food", "a great film, very good", "the service was poor", "it was great", "so bad and rude"]
LABELS = ["pos", "neg", "pos", "neg", "pos", "neg"]


def sklearn_pipeline() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(TEXTS, LABELS)


def fasttext_file(folder: Path, loss: str = "softmax") -> Path:
    fasttext = pytest.importorskip("fasttext")
    lines = folder / "texts.txt"
    rows = zip(TEXTS, LABELS, strict=True)
    lines.write_text("".join(f"__label__{label} {text}\n" for text, label in rows), encoding="utf-8")
    # with fewer than ten threads, fastText 0.9.3 leaves some vectors uninitialised
    model = fasttext.train_supervised(str(lines), epoch=100, lr=1.0, dim=8, verbose=0, loss=loss, thread=10)
    model.save_model(str(folder / "small.bin"))
    return folder / "small.bin"


def model2vec_folder(folder: Path) -> Path:
    inference = pytest.importorskip("model2vec.inference.model")
    from model2vec import StaticModel
    from sklearn.linear_model import LogisticRegression

    tokenizer = word_pieces()
    vectors = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 16)).astype(np.float32)
    static = StaticModel(vectors, tokenizer)
    head = LogisticRegression(C=100).fit(static.encode(TEXTS), LABELS)
    weights = np.concatenate([-head.coef_, head.coef_]).astype(np.float32)
    bias = np.concatenate([-head.intercept_, head.intercept_]).astype(np.float32)
    layer = inference.Layer(weights, bias)
    classifier = inference.MLPHead([layer], inference.Activation.SOFTMAX, np.array(["neg", "pos"]))
    inference.StaticModelPipeline(static, classifier).save_pretrained(str(folder / "static"))
    return folder / "static"


def setfit_model(folder: Path) -> Any:
    setfit = pytest.importorskip("setfit")
    from sentence_transformers import SentenceTransformer
    from sklearn.linear_model import LogisticRegression

    body = SentenceTransformer(str(save_bert(folder / "bert", max_position_embeddings=64)), device="cpu")
    head = LogisticRegression(C=100).fit(body.encode(TEXTS, show_progress_bar=False), LABELS)
    return setfit.SetFitModel(model_body=body, model_head=head)


MODELS = {
    "scikit-learn": lambda folder: wrap_sklearn(sklearn_pipeline()),
    "fastText": lambda folder: wrap_fasttext(fasttext_file(folder)),
    "model2vec": lambda folder: wrap_model2vec(model2vec_folder(folder)),
    "SetFit": lambda folder: wrap_setfit(setfit_model(folder)),
    "transformers": lambda folder: wrap_transformers(save_classifier(folder / "bert")),
}


@pytest.mark.parametrize("library", MODELS)
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_a_model_of_each_library_predicts_and_explains(library: str, tmp_path: Path) -> None:
    model: Wrapped = MODELS[library](tmp_path)
    assert sorted(model.classes) == ["neg", "pos"]
    if library not in ("SetFit", "transformers"):  # the weights of these encoders are random
        assert model.predict(TEXTS) == LABELS
    shown = model.explain("good food,\nbad film")
    assert [token.text for token in shown.tokens] == ["good", "food", ",", "bad", "film"]
    whole, rest = model.predict_proba(["good food,\nbad film", "food,\nbad film"])
    target = model.classes.index(shown.prediction.value)
    drop = np.log(whole[target] / whole[1 - target]) - np.log(rest[target] / rest[1 - target])
    assert shown.tokens[0].contribution == pytest.approx(drop, abs=1e-4)
    assert model.predict_proba(["", "unknownword", "good " * 100]).shape == (3, 2)


def test_sklearn_probabilities_are_the_pipelines() -> None:
    pipeline = sklearn_pipeline()
    assert wrap_sklearn(pipeline).predict_proba(TEXTS) == pytest.approx(pipeline.predict_proba(TEXTS))
    assert wrap_sklearn(pipeline).name == "LogisticRegression"


def test_sklearn_needs_probabilities_and_fitting() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    with pytest.raises(InputError, match="with predict_proba, got LinearSVC; CalibratedClassifierCV adds"):
        wrap_sklearn(LinearSVC())
    with pytest.raises(InputError, match="expected a fitted classifier, got LogisticRegression before fit"):
        wrap_sklearn(LogisticRegression())


@pytest.mark.filterwarnings("ignore")
def test_setfit_probabilities_are_those_of_the_library(tmp_path: Path) -> None:
    model = setfit_model(tmp_path)
    wrapped = wrap_setfit(model)
    assert wrapped.predict_proba(TEXTS) == pytest.approx(model.predict_proba(TEXTS, as_numpy=True), abs=1e-5)
    assert wrapped.predict(TEXTS) == list(model.predict(TEXTS))


@pytest.mark.filterwarnings("ignore")
def test_fasttext_probabilities_are_those_of_the_library(tmp_path: Path) -> None:
    path = fasttext_file(tmp_path)
    import fasttext

    model, library = wrap_fasttext(str(path)), fasttext.load_model(str(path))
    assert model.name == "small"
    for text, row in zip(TEXTS, model.predict_proba(TEXTS), strict=True):
        expected = {label: probability for probability, label in library.f.predict(text + "\n", -1, 0.0, "strict")}
        assert row == pytest.approx([expected[f"__label__{name}"] for name in model.classes], abs=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_fasttext_models_of_other_kinds_are_refused(tmp_path: Path) -> None:
    path = fasttext_file(tmp_path, loss="ova")
    with pytest.raises(InputError, match=r"one label per text \(softmax or hs\), got supervised, loss ova"):
        wrap_fasttext(path)
    (tmp_path / "wrong.bin").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"wrong.bin: expected a fastText model"):
        wrap_fasttext(tmp_path / "wrong.bin")
    with pytest.raises(InputError, match=r"missing.bin: there is no such file"):
        wrap_fasttext(tmp_path / "missing.bin")


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fasttext", None)
    with pytest.raises(InputError, match="fasttext-wheel is not installed; `pip install fasttext-wheel` adds it"):
        wrap_fasttext(tmp_path / "small.bin")


@pytest.mark.filterwarnings("ignore")
def test_transformers_probabilities_are_those_of_the_library(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "bert", ("neg", "pos", "other"))
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        rows = [model(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0].tolist() for text in TEXTS]
    wrapped = wrap_transformers(folder)
    assert wrapped.classes == ("neg", "pos", "other")
    assert wrapped.predict_proba(TEXTS) == pytest.approx(np.array(rows), abs=1e-5)
    assert wrapped.encoder_weights > 1000


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected the folder of a transformers model, with a file config.json"):
        wrap_transformers(tmp_path)
    with pytest.raises(
        InputError, match=r"expected the folder of a model2vec classifier, with a file head.safetensors"
    ):
        wrap_model2vec(tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_weights_saved_as_pickles_are_not_loaded(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path / "bert")
    (weights,) = folder.glob("*.safetensors")
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="cannot be loaded as a sequence classifier"):
        wrap_transformers(folder)
