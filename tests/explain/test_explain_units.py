"""Explanations of models that read words, beginnings and pairs: the weight of a unit goes to the words it covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import Config, Model
from regard.data.reviews import reviews
from regard.data.tokenizer import Tokenizer, Units
from regard.data.vocabulary import Vocabulary
from regard.data.words import spans
from regard.explain.attention_weights import share_out
from regard.explain.explain import explain
from regard.explain.reading import left, read
from regard.models.flat import EMBEDDING, HEAD, QUERY
from regard.models.tasks import Binary
from regard.models.trained import Trained, outputs
from regard.records import Explanation
from regard.training.fit import Parts, fit

# not 2, good 3; movi… 4; (not, good) 5, (edge, not) 6
WORDS = Tokenizer(Vocabulary(("not", "good")), letters=4, beginnings=("movi",), pairs=np.array([[2, 3], [0, 2]]))
TEXTS = st.lists(st.sampled_from(["not", "good", "movies", "movie", "odd", "!"]), min_size=1, max_size=8).map(" ".join)


def scored(*scores: float) -> Trained:
    """A model whose units, from "not" on, have these attention scores; each contributes 1."""
    table = np.zeros((2 + len(scores), 2), dtype=np.float32)
    table[2:, 0], table[:, 1] = scores, 1
    weights = {EMBEDDING: table, QUERY: np.array([1, 0], np.float32), HEAD: np.array([[0, 1]], np.float32)}
    config = Config(model=Model(embedding=2, attention="dot", scale=1.0, head_bias=False))
    return Trained(config, WORDS, Binary(("no", "yes")), weights=weights)


def one(trained: Trained, text: str) -> Explanation:
    (explanation,) = explain(trained, [text])
    return explanation


def test_the_words_of_a_pair_share_its_weight_equally() -> None:
    """Scores log 1, 2, 3, 4, 6: "not good" has the units not (1), good (2), (not, good) (4), (edge, not) (6)."""
    trained = scored(*np.log([1, 2, 3, 4, 6]))
    tokens = one(trained, "not good").tokens
    assert [token.text for token in tokens] == ["not", "good"]
    assert [token.weight for token in tokens] == pytest.approx([(1 + 4 / 2 + 6) / 13, (2 + 4 / 2) / 13])


def test_a_beginning_belongs_to_its_word_and_an_unknown_word_has_no_weight() -> None:
    """ "odd movies good" has the units movi… (3) and good (2); "odd" is not a unit."""
    tokens = one(scored(*np.log([1, 2, 3, 4, 6])), "odd movies good").tokens
    assert [token.weight for token in tokens] == pytest.approx([0, 3 / 5, 2 / 5])
    assert [token.known for token in tokens] == [False, False, True]


def test_the_rest_of_a_text_is_not_read_anew() -> None:
    """ ":(613)" without the number is ":", "(", ")", and not the emoticon that its characters could form."""
    vocabulary = Vocabulary((":(", ":", "(", "613", ")"))
    table = np.zeros((7, 2), dtype=np.float32)
    table[:, 1] = (0, 0, 50, 1, 2, 4, 8)  # polarities; the emoticon's is by far the largest
    weights = {EMBEDDING: table, QUERY: np.zeros(2, np.float32), HEAD: np.array([[0, 1]], np.float32)}
    config = Config(model=Model(embedding=2, attention="dot", scale=1.0, head_bias=False))
    tokenizer = Tokenizer(vocabulary, letters=4, beginnings=(), pairs=np.zeros((0, 2), np.int32))
    trained = Trained(config, tokenizer, Binary(("no", "yes")), weights=weights)
    (shown,) = explain(trained, [":(613)"], method="leave_one_out")
    assert [token.text for token in shown.tokens] == [":", "(", "613", ")"]
    assert shown.tokens[2].contribution == pytest.approx(15 / 4 - 11 / 3, abs=1e-5)
    (reading,) = read(trained, [":(613)"])
    (rest,) = left(trained, reading, np.array([[True, True, False, True]]))
    assert rest.ids.tolist() == [3, 4, 6]


def test_words_have_equal_weights_if_none_is_known() -> None:
    tokens = one(scored(*np.log([1, 2, 3, 4, 6])), "odd ! zzz").tokens
    assert [token.weight for token in tokens] == pytest.approx([1 / 3] * 3)
    assert not any(token.known for token in tokens)


def test_a_text_without_words_has_no_tokens() -> None:
    assert one(scored(0, 0, 0, 0, 0), "").tokens == ()


def test_texts_keep_their_order_and_labels() -> None:
    trained = scored(0, 0, 0, 0, 0)
    explanations = list(explain(trained, ["not", "", "good movies"], ["no", None, "yes"]))
    assert [item.text for item in explanations] == ["not", "", "good movies"]
    assert [item.label for item in explanations] == ["no", None, "yes"]


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(0, 50))
def test_word_weights_come_from_the_classifiers_unit_weights(texts: list[str], seed: int) -> None:
    """The torch model's weight of each unit, given to the words that the unit covers."""
    trained = scored(*np.random.default_rng(seed).normal(size=5))
    units = WORDS.encode_all(texts)
    for text, explanation in zip(texts, explain(trained, texts), strict=True):
        ((_, _, output),) = outputs(trained.model, [WORDS.encode(text)])
        single = WORDS.encode_all([text])
        expected = np.zeros(int(single.words[0]))
        for weight, first, last in zip(
            output.traces[0].pooled.weights[0].tolist(), single.first, single.last, strict=True
        ):
            expected[first] += weight / 2 if last > first else weight
            expected[last] += weight / 2 if last > first else 0
        assert [token.weight for token in explanation.tokens] == pytest.approx(expected.tolist(), abs=1e-6)
        assert sum(token.weight for token in explanation.tokens) == pytest.approx(1, abs=1e-6)
    assert units.words.tolist() == [len(spans(text)) for text in texts]


def test_weights_are_the_same_without_the_tables() -> None:
    """On a device other than the CPU a flat model is run like any other."""
    trained = scored(*np.log([1, 2, 3, 4, 6]))
    trained.device = "cpu:0"  # any other name of the device turns the tables off
    assert not trained.is_flat
    assert [token.weight for token in one(trained, "not good").tokens] == pytest.approx([9 / 13, 4 / 13])
    assert [token.weight for token in one(trained, "odd movies good").tokens] == pytest.approx([0, 3 / 5, 2 / 5])


def test_share_out_by_hand() -> None:
    """Two texts of two words: first a pair that covers both, then one unit per word."""
    units = Units(
        *(np.array(values, dtype=np.int32) for values in ([9, 2, 3], [0, 0, 1], [1, 0, 1])),
        np.array([0, 1, 3]),
        np.array([2, 2]),
    )
    assert share_out(units, np.array([1.0, 0.25, 0.75]), np.array([0, 2, 4])).tolist() == [0.5, 0.5, 0.25, 0.75]


@pytest.fixture(scope="module")
def trained() -> Trained:
    return fit(Config().override({"max_words": 30, "device": "cpu"}), Parts(reviews(100)))


def test_word_weights_of_a_trained_model_sum_to_one(trained: Trained) -> None:
    assert trained.tokenizer.has_units
    texts = [example.text for example in reviews(40, seed=9)] + ["zzz", "Zzz good?"]
    for text, explanation in zip(texts, explain(trained, texts), strict=True):
        assert [(token.start, token.end) for token in explanation.tokens] == spans(text)[:30]
        assert sum(token.weight for token in explanation.tokens) == pytest.approx(1, abs=1e-5)
        assert all(token.weight >= 0 for token in explanation.tokens)
        assert explanation.prediction == trained.task.predictions(trained.answers([text]))[0]
        assert explanation.sentences == ()
