"""The systems of the leaderboard: each learns from texts with labels and predicts a label for every other text.

Settings are those that users of each library start from, the same for all corpora and sizes. The tuned systems at the end
choose theirs on a held-out part of the drawn texts, all with the same number of trials. Systems whose package is not installed
are left out of a run; pretrained and recurrent ones learn from more than a thousand texts only where there is a GPU.
"""

from __future__ import annotations

import os

from embeddings import has_embeddings, has_minilm
from linear_models import fit_minilm, fit_nbsvm, fit_static, fit_tfidf
from neural_models import (
    fit_fasttext,
    fit_finetuned,
    fit_regard,
    fit_regard_static,
    fit_setfit,
    fit_spacy,
    fit_torch_text_classifiers,
)
from system import System

from tuning import SPACES, TRIALS, fit_tuned

SLOW = 1000  # texts; the most that a pretrained or recurrent system learns from without a GPU
DISTILLED = "256 dimensions distilled from MiniLM by model2vec"
STATIC = "a folder with static vectors, which REGARD_STATIC names"


def has_static() -> bool:
    return os.path.isdir(os.environ.get("REGARD_STATIC", ""))


SYSTEMS = {
    "regard": System(fit_regard({}), setting="no options"),
    "regard, one model": System(fit_regard({"members": 1}), setting="members=1"),
    "regard, GloVe": System(fit_regard({"vectors": "glove100"}), setting='vectors="glove100" (100 dimensions)'),
    "regard, static vectors": System(
        fit_regard_static(""),
        ("tokenizers",),
        f"vectors: {DISTILLED}",
        is_prepared=has_static,
        preparation=STATIC,
    ),
    "regard, static vectors and GloVe": System(
        fit_regard_static(",glove100"),
        ("tokenizers",),
        f"vectors: {DISTILLED}, and GloVe (100 dimensions)",
        is_prepared=has_static,
        preparation=STATIC,
    ),
    "regard, BiLSTM-APLN": System(
        fit_regard({"encoder": "bilstm", "pooling": "apln"}),
        ("torch",),
        'encoder="bilstm", pooling="apln", the PyTorch engine',
        uses_gpu=True,
        most_on_cpu=SLOW,
    ),
    "TF-IDF, LR": System(fit_tfidf("lr"), ("sklearn",), "words and pairs, sublinear; C=10", is_random=False),
    "TF-IDF, LinearSVC": System(fit_tfidf("svc"), ("sklearn",), "words and pairs, sublinear; C=1", is_random=False),
    "NB-SVM": System(
        fit_nbsvm,
        ("sklearn",),
        "words and pairs, present or absent, times the log-count ratio; LinearSVC, C=1",
        is_random=False,
    ),
    "fastText": System(fit_fasttext(), ("fasttext",), "bigrams, 25 epochs, learning rate 0.5, regard's words"),
    "spaCy textcat": System(
        fit_spacy,
        ("spacy",),
        "blank English pipeline, the default ensemble, 20 epochs, 32 texts per step, dropout 0.2",
        most_on_cpu=SLOW,
    ),
    "torchTextClassifiers": System(
        fit_torch_text_classifiers,
        ("torchTextClassifiers", "pytorch_lightning", "transformers"),
        "its multiclass example: 5,000 word pieces, 64 dimensions, 30 epochs, early stopping on a fifth of the texts",
        most_on_cpu=SLOW,
    ),
    "model2vec, LR": System(
        fit_static,
        ("model2vec", "sklearn"),
        f"{DISTILLED}, standardised; C=0.1",
        is_random=False,
        is_prepared=has_static,
        preparation=STATIC,
    ),
    "MiniLM, LR": System(
        fit_minilm,
        ("sklearn",),
        "embeddings standardised; C=0.1",
        is_random=False,
        is_prepared=has_embeddings,
        preparation="embeddings from the step `encode`",
        times_leave_out="encoding the texts with MiniLM, done beforehand",
    ),
    "SetFit (MiniLM)": System(
        fit_setfit,
        ("setfit", "datasets"),
        "all-MiniLM-L6-v2, the library's defaults",
        uses_gpu=True,
        most_on_cpu=SLOW,
        is_prepared=has_minilm,
        preparation="the weights of MiniLM",
    ),
    "MiniLM, fine-tuned": System(
        fit_finetuned,
        ("torch", "transformers"),
        "all-MiniLM-L6-v2, a linear layer over [CLS], 20 epochs, 16 texts per step, learning rate 1e-4 with warm-up",
        uses_gpu=True,
        most_on_cpu=SLOW,
        is_prepared=has_minilm,
        preparation="the weights of MiniLM",
    ),
} | {
    f"{name}, tuned": System(
        fit_tuned(space, TRIALS),
        space.needs,
        f"options chosen in {TRIALS} trials on a held-out fifth of the drawn texts",
        trials=TRIALS,
    )
    for name, space in SPACES.items()
}
