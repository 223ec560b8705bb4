"""Static vectors of word pieces: words are composed from them, whatever wrote the folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from regard.data.vectors import read_vectors, vector_words
from regard.errors import InputError
from static_folder import PIECES, vectors_of, write_static

pytest.importorskip("tokenizers", reason="the extra regard[vectors] is not installed")

ROWS = {piece: vector.astype(np.float32) for piece, vector in zip(PIECES, vectors_of(), strict=True)}


@pytest.mark.parametrize("layout", ["model2vec", "sentence-transformers"])
def test_a_word_is_the_mean_of_its_pieces(tmp_path: Path, layout: str) -> None:
    folder = write_static(tmp_path / "static", layout)
    table, found = read_vectors(folder, ["good", "films", "unlikely", "Good", "xyz", "\ud83d"])
    assert found.tolist() == [True, True, True, True, False, False]
    np.testing.assert_allclose(table[0], ROWS["good"])
    np.testing.assert_allclose(table[1], (ROWS["film"] + ROWS["##s"]) / 2, atol=1e-6)
    np.testing.assert_allclose(table[2], (ROWS["un"] + ROWS["##like"] + ROWS["##ly"]) / 3, atol=1e-6)
    np.testing.assert_allclose(table[3], ROWS["good"])
    assert not table[4:].any()


def test_words_are_pieces_that_begin_a_word(tmp_path: Path) -> None:
    assert vector_words(write_static(tmp_path / "static")) == ["good", "bad", "film", "un", "dull", "!", "not"]


def test_pieces_have_weights_and_may_share_vectors(tmp_path: Path) -> None:
    weights = np.arange(len(PIECES), dtype=np.float32)
    mapping = np.arange(len(PIECES))[::-1].copy()
    table, _ = read_vectors(write_static(tmp_path / "static", weights=weights, mapping=mapping), ["films"])
    film, s = PIECES.index("film"), PIECES.index("##s")
    expected = (film * vectors_of()[mapping[film]] + s * vectors_of()[mapping[s]].astype(np.float32)) / 2
    np.testing.assert_allclose(table[0], expected, rtol=1e-3)


def test_byte_level_pieces_are_read_as_words_within_a_sentence(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"Ġ": 0, "g": 1, "o": 2, "Ġg": 3, "Ġgo": 4}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "g"), ("Ġg", "o")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    save_file({"embeddings": np.eye(5, dtype=np.float32)}, tmp_path / "model.safetensors")
    table, _ = read_vectors(tmp_path, ["go"])
    assert table[0].tolist() == [0, 0, 0, 0, 1]
    assert vector_words(tmp_path) == ["g", "o", "go"]


def test_no_word_has_a_vector(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no vector for any of the 1 words"):
        read_vectors(write_static(tmp_path / "static"), ["xyz"])


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"expected a folder of static vectors with model.safetensors and tokenizer.json"
    ):
        read_vectors(tmp_path, ["good"])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"embeddings": np.zeros(3, dtype=np.float32)}, "expected static vectors, an array 'embeddings'"),
        ({"embeddings": np.full((12, 2), np.nan, dtype=np.float32)}, "not finite"),
        ({"embeddings": np.zeros((3, 2), dtype=np.float32)}, "expected a vector for each of the 12 pieces, got 3"),
        ({"weights": np.ones(3, dtype=np.float32)}, r"weights: expected one per piece \(12\)"),
        ({"mapping": np.full(12, 99)}, "mapping: expected rows from 0 to 11"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    folder = write_static(tmp_path / "static", **arrays)
    with pytest.raises(InputError, match=message):
        read_vectors(folder, ["good"])


@pytest.mark.parametrize(
    ("name", "message"), [("model.safetensors", "cannot be read"), ("tokenizer.json", "not a tokenizer")]
)
def test_damaged_files(tmp_path: Path, name: str, message: str) -> None:
    folder = write_static(tmp_path / "static")
    (folder / name).write_text(json.dumps({"no": 1}), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_vectors(folder, ["good"])


def test_the_package_tokenizers_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_static(tmp_path / "static")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=r"needs tokenizers, which is not installed: pip install 'regard\[vectors\]'"):
        read_vectors(folder, ["good"])
