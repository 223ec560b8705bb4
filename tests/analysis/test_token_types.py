from __future__ import annotations

import numpy as np
import pytest

from regard.analysis.token_types import token_types, types_of
from regard.corpora.lookup import companion, resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms


def test_two_classes_by_hand() -> None:
    #        f⁻  f⁺
    counts = [
        [0, 0],  # padding
        [9, 9],  # the unknown word
        [1, 6],  # γ = 5/7, six places
        [0, 6],  # γ = 1: in one class only
        [1, 5],  # γ = 4/6, five places only
        [2, 6],  # γ = 1/2 exactly
        [7, 2],  # γ = −5/9
        [2, 2],  # γ = 0
        [50, 52],  # γ = 2/102, two apart
        [100, 105],  # γ small, five apart
        [0, 0],  # never seen
    ]
    types = types_of(np.array(counts), ["bad", "good"])
    assert types.names == ("bad", "good", "neutral")
    assert types.codes.tolist() == [-1, -1, 1, 1, -1, -1, 0, 2, 2, -1, -1]
    assert types.gamma[[2, 3, 5, 6]].tolist() == pytest.approx([5 / 7, 1, 1 / 2, -5 / 9])
    assert types.of("good").tolist() == [2, 3]
    assert types.tied.tolist() == [2, 3, 6]
    assert types.neutral.tolist() == [7, 8]


def test_many_classes() -> None:
    types = types_of(np.eye(302, 300, -2, dtype=np.int64) * 9, [f"class {number}" for number in range(300)])
    assert types.codes.tolist() == [-1, -1, *range(300)]


def test_three_classes_require_two_thirds() -> None:
    counts = [[0, 0, 0], [0, 0, 0], [0, 7, 3], [8, 1, 1], [6, 1, 2], [30, 31, 32], [3, 4, 5], [0, 0, 6]]
    types = types_of(np.array(counts), ["a", "b", "c"])
    assert types.codes.tolist() == [-1, -1, 1, 0, -1, 3, -1, 2]


def test_a_class_called_neutral_is_not_the_neutral_tokens() -> None:
    types = types_of(np.array([[0, 0, 0]] * 2 + [[2, 2, 2], [0, 9, 0]]), ["good", "neutral", "bad"])
    assert types.names == ("good", "neutral", "bad", "of no class")
    assert types.neutral.tolist() == [2]
    assert types.of("neutral").tolist() == [3]


def test_occurrences_are_counted_by_class_with_repeats_and_empty_texts() -> None:
    tokenizer = Tokenizer(Vocabulary(("red", "blue")))
    texts = UnitTexts.of(tokenizer, ["red red blue", "", "blue", "green red"], np.array([1.0, 0.0, 0.0, 1.0]))
    types = token_types(texts, len(tokenizer), ["0", "1"])
    assert types.counts.tolist() == [[0, 0], [0, 1], [0, 3], [1, 1]]


@pytest.mark.data
@pytest.mark.skipif(companion("sst2_uaftc", "train") is None, reason="needs the corpus sst2_uaftc in REGARD_DATA")
def test_sst_has_the_counts_of_the_supplement() -> None:
    examples = read(resolve("sst2_uaftc", "train"), ReadOptions(labelled=True)).examples
    tokenizer = Tokenizer(Vocabulary.build((forms(example.text) for example in examples), 1))
    labels = np.array([float(example.label) for example in examples])
    types = token_types(UnitTexts.of(tokenizer, [e.text for e in examples], labels), len(tokenizer), ["0", "1"])
    assert [len(types.of(name)) for name in ("1", "0", "neutral")] == [412, 265, 1384]
