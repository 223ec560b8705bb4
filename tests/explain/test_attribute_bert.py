"""Explainers with a pretrained encoder: it reads word pieces, and scores are per word."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import Config
from regard.data.collate import collate
from regard.data.wordpieces import WordPieces
from regard.data.words import spans
from regard.explain.attribute import attribute
from regard.explain.explainers import EXPLAINERS, default_contribution
from regard.explain.reading import left, read, to_words
from regard.models.build import build
from regard.models.tasks import Binary
from regard.models.trained import Trained
from tiny_bert import save_bert

pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")

TEXTS = [
    "The food was lovely, and so unbelievably good! It wasn't bad.\n\nThe film was.",
    "it was bad",
    "",
    "unbelievably unbelievably lovely. 好 zzz",
]
FAST = {"surrogate": {"samples": 30}, "integrated_gradients": {"steps": 5}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bert"))


def make(folder: Path, levels: int = 1, pooling: str = "attention", window: int | None = None) -> Trained:
    from regard.encoders.pretrained import read_pretrained

    pretrained = read_pretrained(str(folder))
    encoder = "bert" if levels == 1 else ",".join(["bert", *["lstm"] * (levels - 1)])
    options = {"encoder": encoder, "levels": levels, "pooling": pooling, "pretrained": str(folder), "window": window}
    config = Config().override({**options, "hidden": 6, "query": 5})
    pieces = WordPieces(pretrained.tokenizer, levels)
    torch.manual_seed(0)
    model = build(config.model, len(pieces), 1, vectors=pretrained.table[torch.from_numpy(pieces.sources).clamp(min=0)])
    torch.nn.init.normal_(model.head.weight)
    return Trained(config, pieces, Binary(("no", "yes")), model=model.double().eval())


def test_the_default_contribution_is_the_cheapest_signed_method(folder: Path) -> None:
    assert default_contribution(make(folder)) == "gradient_times_input"


@pytest.mark.parametrize("method", EXPLAINERS)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_every_word_has_a_score_whatever_the_batch(folder: Path, levels: int, method: str) -> None:
    trained = make(folder, levels)
    whole = attribute(trained, TEXTS, method, **FAST.get(method, {}))
    for text, one in zip(TEXTS, whole, strict=True):
        assert list(one.spans) == spans(text)
        assert one.scores.shape == (len(one.spans),)
        assert np.isfinite(one.scores).all()
        assert bool(one.sentences) == (levels > 1 and bool(text))
        if method != "tfidf":
            (alone,) = attribute(trained, [text], method, **FAST.get(method, {}))
            np.testing.assert_allclose(alone.scores, one.scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("pooling", ["attention", "summary"])
def test_integrated_gradients_of_pieces_sum_to_the_difference(folder: Path, pooling: str, window: int | None) -> None:
    for one in attribute(make(folder, 1, pooling, window), TEXTS, steps=100):
        facts = one.facts
        assert one.scores.sum() - facts["convergence"] == pytest.approx(facts["value"] - facts["start"], abs=1e-9)
        assert abs(facts["convergence"]) < 0.05


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_leaving_a_word_out_equals_never_having_written_it(folder: Path, levels: int) -> None:
    trained = make(folder, levels)
    text = "The food was lovely, and so unbelievably good"
    words = [text[start:end] for start, end in spans(text)]
    (result,) = attribute(trained, [text], "leave_one_out", "yes")
    versions = [" ".join([*words[:index], *words[index + 1 :]]) for index in range(len(words))]
    probabilities = [one.prediction.probabilities["yes"] for one in attribute(trained, [text, *versions], "random")]
    logits = [math.log(p) - math.log1p(-p) for p in probabilities]
    assert result.scores == pytest.approx([logits[0] - logit for logit in logits[1:]], abs=1e-9)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_text_that_keeps_all_words_is_unchanged(folder: Path, levels: int) -> None:
    trained = make(folder, levels)
    for reading in read(trained, [text for text in TEXTS if text]):
        (again,) = left(trained, reading, np.ones((1, reading.words), dtype=bool))
        assert again.ids.tolist() == reading.indexed.ids.tolist()
        assert [part.tolist() for part in again.shape] == [part.tolist() for part in reading.indexed.shape]
        (none,) = left(trained, reading, np.zeros((1, reading.words), dtype=bool))
        assert (len(none.ids), [len(part) for part in none.shape]) == (0, [0] * (levels - 1))


def test_gradients_of_pieces_equal_captums(folder: Path) -> None:
    captum = pytest.importorskip("captum.attr", reason="Captum is not installed")
    trained = make(folder)
    texts = [text for text in TEXTS if text]
    slopes = attribute(trained, texts, "gradient_times_input", "yes")
    integrals = attribute(trained, texts, "integrated_gradients", "yes", steps=7)
    for reading, slope, integral in zip(read(trained, texts), slopes, integrals, strict=True):
        batch = collate([reading.indexed], 1)

        def value(embedded: torch.Tensor, batch: object = batch) -> torch.Tensor:
            ids, mask = (torch.cat([tensor] * len(embedded)) for tensor in (batch.ids, batch.mask))  # type: ignore[attr-defined]
            return trained.model(batch._replace(ids=ids, mask=mask), embedded).logits[:, 0]  # type: ignore[attr-defined]

        embedded = trained.model.embedding(batch.ids).detach().requires_grad_()
        expected = captum.InputXGradient(value).attribute(embedded).detach().sum(-1)[0].numpy()
        np.testing.assert_allclose(slope.scores, to_words(reading, expected), rtol=0, atol=1e-9)
        expected = captum.IntegratedGradients(value).attribute(embedded, n_steps=7).detach().sum(-1)[0].numpy()
        np.testing.assert_allclose(
            integral.scores, to_words(reading, expected), rtol=0, atol=1e-7
        )  # its weights are float32
