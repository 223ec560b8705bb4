"""Members that read letters: trained over sequences of letters, kept as one vector per word."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import regard
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import Vocabulary
from regard.errors import InputError
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY, State, tables
from regard.training.letters import by_unit, find_letters, sequences, squares_by_unit
from regard.training.sparse_engine import read_texts

PAIRS = np.array([[2, 3]], dtype=np.int64)
TOKENIZER = Tokenizer(Vocabulary(("good", "goods", "a")), 1, True, None, 4, ("good",), PAIRS)
# padding, unknown, good, goods, a, good…, (good, goods)
TEXTS = UnitTexts(
    np.array([2, 3, 5, 6, 4, 1], dtype=np.int32),
    np.array([2, 1, 1, 1, 3, 1], dtype=np.uint16),
    np.array([0, 4, 5, 6, 6], dtype=np.int64),
    np.zeros(4),
)
REVIEWS = (
    ["a good film", "good goods, really", "a bad film", "badly made and bad"] * 12,
    ["yes", "yes", "no", "no"] * 12,
)


def random_state(units: int, outputs: int, width: int = 6) -> State:
    rng = np.random.default_rng(3)
    shapes = {EMBEDDING: (units, width), QUERY: (width,), HEAD: (outputs, width), HEAD_BIAS: (outputs,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_a_word_is_its_sequences_of_three_to_five_letters_with_its_edges() -> None:
    assert sequences(" the ") == [" th", "the", "he ", " the", "the ", " the "]
    assert sequences(" a ") == [" a "]


def test_a_unit_has_the_sequences_that_others_share_and_itself() -> None:
    letters = find_letters(TOKENIZER)
    counts = np.diff(letters.offsets)
    # " good ": " go", "goo", "ood", " goo", "good", " good" are shared, and the word; "od ", "ood ", "good " are not
    # " goods ": the same six and the word; " a ": the word; " good": five shared ones and itself
    assert counts.tolist() == [0, 1, 7, 7, 1, 6, 0]
    shared = {*letters.ids[letters.offsets[2] : letters.offsets[3]]} & {
        *letters.ids[letters.offsets[3] : letters.offsets[4]]
    }
    assert len(shared) == 6
    assert letters.size == 2 + letters.ids.max() - 1


def test_texts_count_the_sequences_of_their_units() -> None:
    letters = find_letters(TOKENIZER)
    read = letters.texts(TEXTS)
    first = dict(zip(read.ids[: read.offsets[1]].tolist(), read.counts[: read.offsets[1]].tolist(), strict=True))
    of_good = letters.ids[letters.offsets[2] : letters.offsets[3]]
    assert first[int(of_good[0])] == 4  # twice in "good", once in "goods", once in the beginning
    assert sum(first.values()) == 2 * 7 + 7 + 6  # the pair has none
    assert read.counts[read.offsets[1] : read.offsets[2]].tolist() == [3]
    assert read.ids[read.offsets[2] : read.offsets[3]].tolist() == [1]
    assert read.offsets[3] == read.offsets[4]


@pytest.mark.parametrize("outputs", [1, 3])
def test_weights_by_unit_predict_what_weights_by_sequence_predict(outputs: int) -> None:
    letters, scale = find_letters(TOKENIZER), 3.0
    state = random_state(letters.size, outputs)
    expected, _ = read_texts(tables(state, scale), letters.texts(TEXTS))
    logits, _ = read_texts(tables(by_unit(state, scale, letters), scale), TEXTS)
    assert_allclose(logits, expected, atol=1e-5)


def test_sequences_that_were_not_learned_do_not_count() -> None:
    letters, learned = find_letters(TOKENIZER), np.ones(find_letters(TOKENIZER).size, dtype=bool)
    learned[letters.ids[letters.offsets[4]]] = False  # " a "
    state = random_state(letters.size, 1)
    lookup = tables(by_unit(state, 3.0, letters, learned), 3.0)
    assert_allclose(lookup.polarity[[4, 6]], 0, atol=1e-4)
    assert (lookup.scores[[4, 6]] < lookup.scores[[2, 3, 5]].min() - 15).all()
    changed = {**state, EMBEDDING: np.where(learned[:, None], state[EMBEDDING], 9)}
    assert_array_equal(
        by_unit(changed, 3.0, letters, learned)[EMBEDDING][2], by_unit(state, 3.0, letters, learned)[EMBEDDING][2]
    )


def test_sums_of_a_unit_are_the_mean_of_its_sequences() -> None:
    letters = find_letters(TOKENIZER)
    squares = {EMBEDDING: np.arange(letters.size, dtype=np.float32)[:, None]}
    result = squares_by_unit(squares, letters)[EMBEDDING][:, 0]
    assert result[2] == pytest.approx(letters.ids[letters.offsets[2] : letters.offsets[3]].mean())
    assert result[[0, 6]].tolist() == [0, 0]
    assert squares_by_unit({}, letters) == {}


def test_a_committee_with_letters_predicts_explains_and_is_the_same_again(tmp_path: Path) -> None:
    texts, labels = REVIEWS
    model = regard.TextClassifier(members=3, letters=1, seed=4).fit(texts, labels)
    again = regard.TextClassifier(members=3, letters=1, seed=4).fit(texts, labels)
    assert_array_equal(model.predict_proba(texts), again.predict_proba(texts))
    assert model.score(texts, labels) == 1.0
    words = regard.TextClassifier(members=3, seed=4).fit(texts, labels)
    assert (model.predict_proba(texts) != words.predict_proba(texts)).any()
    explained = model.explain("a good film")
    assert sum(token.weight for token in explained.tokens) == pytest.approx(1, abs=1e-5)
    model.save(tmp_path / "run")
    assert_allclose(regard.load(tmp_path / "run").predict_proba(texts), model.predict_proba(texts), atol=1e-6)


def test_a_word_that_was_never_seen_is_read_by_its_beginning() -> None:
    texts, labels = REVIEWS
    model = regard.TextClassifier(members=4, letters=3, beginnings=3, seed=4).fit(texts, labels)
    assert model.predict(["goodish", "baddest"]).tolist() == ["yes", "no"]


@pytest.mark.parametrize("labels", [["yes", "no", "perhaps", "no"], [1.5, 3.25, 2.0, 4.75]])
def test_letters_are_read_for_several_classes_and_for_numbers(labels: list[object]) -> None:
    estimator = regard.TextRegressor if isinstance(labels[0], float) else regard.TextClassifier
    model = estimator(members=3, letters=2).fit(REVIEWS[0], labels * 12)
    assert len(model.predict(["a good film"])) == 1


def test_training_continues_with_members_that_read_letters() -> None:
    texts, labels = REVIEWS
    model = regard.TextClassifier(members=3, letters=1, seed=4).fit(texts, labels)
    model.partial_fit(["a lousy film", "lousy"] * 6, ["no", "no"] * 6)
    assert model.predict(["lousy", "good"]).tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": 2, "letters": 2}, "letters = 2: expected fewer than the 2 attention models"),
        ({"members": 3, "letters": 1, "vectors": "x.vec", "linear": False}, "letters = 1: expected a linear member"),
        (
            {"members": 3, "letters": 1, "embedding": 1},
            "letters = 1: expected embedding = 2 or more for 1 outputs, got 1",
        ),
    ],
)
def test_options_that_leave_no_room_for_letters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        regard.TextClassifier(**options).fit(*REVIEWS)
