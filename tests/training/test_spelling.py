"""A member that reads letters: features against dense arrays, the solver against scikit-learn, and committees that have one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import regard
from regard.config import Config
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import Vocabulary
from regard.errors import InputError
from regard.models.flat import tables
from regard.training.defaults import DataSize, fill_defaults
from regard.training.linear_solver import Linear, Problem
from regard.training.span_solver import fit_in_span
from regard.training.sparse_engine import read_texts
from regard.training.spelling import SparseMatrix, Spelling, find_spelling, letter_sequences, sequences

PAIRS = np.array([[2, 3]], dtype=np.int64)
TOKENIZER = Tokenizer(Vocabulary(("good", "goods", "a")), 1, True, None, 4, ("good",), PAIRS)
# padding, unknown, good, goods, a, good…, (good, goods)
TEXTS = UnitTexts(
    np.array([2, 3, 5, 6, 4, 1, 2, 4], dtype=np.int32),
    np.array([2, 1, 1, 1, 3, 1, 1, 1], dtype=np.uint16),
    np.array([0, 4, 5, 6, 6, 8], dtype=np.int64),
    np.array([1.0, 0.0, 0.0, 1.0, 0.0]),
)
REVIEWS = (
    ["a good film", "good goods, really", "a bad film", "badly made and bad"] * 12,
    ["yes", "yes", "no", "no"] * 12,
)


def dense(matrix: SparseMatrix) -> np.ndarray[Any, Any]:
    result = np.zeros((matrix.rows, matrix.columns))
    rows = np.repeat(np.arange(matrix.rows), np.diff(matrix.offsets))
    np.add.at(result, (rows, matrix.ids), matrix.values)
    return result


def test_products_are_those_of_dense_arrays() -> None:
    rng = np.random.default_rng(1)
    counts = np.array([0, 3, 1, 0, 4])
    matrix = SparseMatrix(
        rng.integers(6, size=8).astype(np.int32), rng.normal(size=8), np.concatenate(([0], np.cumsum(counts))), 6
    )
    table, errors = rng.normal(size=(6, 2)), rng.normal(size=(5, 3))
    assert_allclose(matrix.times(table), dense(matrix) @ table)
    assert_allclose(matrix.transposed_times(errors), dense(matrix).T @ errors)


def test_a_word_is_its_sequences_of_three_to_five_letters_with_its_edges() -> None:
    assert sequences(" the ") == [" th", "the", "he ", " the", "the ", " the "]
    assert sequences(" a ") == [" a "]


def test_a_unit_has_the_sequences_that_others_share_and_itself() -> None:
    ids, lengths, columns = letter_sequences(TOKENIZER)
    # " good ": " go", "goo", "ood", " goo", "good", " good" are shared, and the word; "od ", "ood ", "good " are not
    # " goods ": the same six and the word; " a ": the word; " good": five shared ones and itself
    assert lengths.tolist() == [0, 0, 7, 7, 1, 6, 0]
    assert len({*ids[:7]} & {*ids[7:14]}) == 6
    assert columns == len({*ids}) == ids.max() + 1


def test_a_text_is_the_weighted_mean_of_its_words() -> None:
    spelling = find_spelling(TOKENIZER, TEXTS)
    vectors = dense(spelling.vectors)
    assert_allclose(np.linalg.norm(vectors, axis=1), [0, 0, 1, 1, 1, 1, 0])
    assert_allclose(np.linalg.norm(vectors[2] - vectors[3]), np.sqrt(2 - 2 * vectors[2] @ vectors[3]))
    # five texts: "good" and "a" occur in two of them, "goods" in one
    frequent, rare = (np.log(6 / 3) + 1) ** 2, (np.log(6 / 2) + 1) ** 2
    weights = np.array([2 * frequent, rare, rare]) / (2 * frequent + 2 * rare)
    features = spelling.features(TEXTS) @ np.eye(spelling.vectors.columns)
    assert_allclose(features[0], weights @ vectors[[2, 3, 5]] / spelling.length)
    assert_allclose(features[2:4], 0, atol=0)  # an unknown word, and no word
    errors = np.random.default_rng(2).normal(size=(3, 5))
    assert_allclose(errors @ spelling.features(TEXTS), errors @ features)


@pytest.mark.parametrize(("outputs", "scale"), [(1, 3.0), (3, 3.0), (3, 0.01), (3, 1e9)])
def test_the_member_predicts_what_the_linear_model_predicts(outputs: int, scale: float) -> None:
    spelling, rng = find_spelling(TOKENIZER, TEXTS, scale), np.random.default_rng(3)
    linear = Linear(rng.normal(size=(outputs, spelling.vectors.columns)), rng.normal(size=outputs))
    state = spelling.member(linear, 8, scale)
    logits, _ = read_texts(tables(state, scale), TEXTS)
    assert_allclose(logits, linear.logits(spelling.features(TEXTS)), atol=1e-6)


@pytest.mark.parametrize("outputs", [0, 9])
def test_products_of_texts_are_those_of_dense_features(outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.training.spelling.BLOCK", 2)
    features = find_spelling(TOKENIZER, TEXTS).features(TEXTS)
    matrix, table = features @ np.eye(features.shape[1]), np.random.default_rng(4).normal(size=(5, 2))
    assert_allclose(features.gram(outputs)(table), matrix @ matrix.T @ table)


def test_a_huge_scale_weighs_all_words_alike() -> None:
    weights = find_spelling(TOKENIZER, TEXTS, 1e9).features(TEXTS).weights
    assert_allclose(weights.values[:3] / weights.values[:3].sum(), [2 / 4, 1 / 4, 1 / 4], atol=1e-6)


@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
def test_the_solver_finds_what_scikit_learn_finds(loss: Any) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    texts, labels = REVIEWS
    kinds = ["yes", "no"] if loss == "sigmoid" else ["yes", "no", "perhaps"]
    codes = np.array([kinds.index(label) for label in labels])
    if loss == "softmax":
        codes[::5] = 2
    words = sorted({word for text in texts for word in text.replace(",", "").split()})
    tokenizer = Tokenizer(Vocabulary(tuple(words)))
    units = UnitTexts.of(tokenizer, texts, codes)
    spelling = find_spelling(tokenizer, units)
    features = spelling.features(units)
    targets = codes[:, None].astype(float) if loss == "sigmoid" else np.eye(3)[codes]
    found = fit_in_span(Problem(features, targets, loss), features, spelling.usual_strength)
    matrix = features @ np.eye(spelling.vectors.columns)
    peer = linear_model.LogisticRegression(C=spelling.usual_strength, tol=1e-10, max_iter=1000).fit(matrix, codes)
    assert_allclose(found.weights, peer.coef_, atol=0.02)
    expected = peer.decision_function(matrix).reshape(len(codes), -1)
    mine = found.logits(features)
    assert_allclose(mine - mine.mean(1, keepdims=True) * (loss == "softmax"), expected, atol=0.02)


def test_few_words_have_such_a_member_by_default() -> None:
    model = regard.TextClassifier(seed=4).fit(*REVIEWS)
    options = model.trained_.config.model
    assert options.spelling
    assert (options.members, options.attention_models) == (6, 5)


@pytest.mark.parametrize(
    ("given", "size", "expected"),
    [
        ({}, DataSize(900, 20_000), True),
        ({}, DataSize(900, 1_000_000), False),
        ({}, DataSize(900, 20_000, 63), True),
        ({}, DataSize(900, 20_000, 64), False),  # a vector has no room for 64 polarities and a score
        ({"embedding": 1}, DataSize(900, 20_000), False),
        ({"members": 3}, DataSize(900, 20_000), False),
        ({"members": 3, "spelling": True}, DataSize(900, 20_000), True),
        ({"spelling": False}, DataSize(900, 20_000), False),
        ({"task": "regression"}, DataSize(900, 20_000), False),
        ({"task": "multilabel"}, DataSize(900, 20_000, 5), True),
        ({"vectors": "x.vec"}, DataSize(900, 20_000), False),
        ({"head_bias": False}, DataSize(900, 20_000), False),
        ({"record": "epochs"}, DataSize(900, 20_000), False),
    ],
)
def test_which_committees_have_one(given: dict[str, Any], size: DataSize, expected: bool) -> None:
    assert fill_defaults(Config().override(given), size).model.spelling is expected


def test_it_is_the_same_again_loads_and_explains(tmp_path: Path) -> None:
    texts, labels = REVIEWS
    model = regard.TextClassifier(seed=4).fit(texts, labels)
    again = regard.TextClassifier(seed=4).fit(texts, labels)
    assert_array_equal(model.predict_proba(texts), again.predict_proba(texts))
    assert model.score(texts, labels) == 1.0
    explained = model.explain("a good film")
    assert sum(token.weight for token in explained.tokens) == pytest.approx(1, abs=1e-5)
    model.save(tmp_path / "run")
    assert_allclose(regard.load(tmp_path / "run").predict_proba(texts), model.predict_proba(texts), atol=1e-6)


def test_contributions_are_what_leaving_a_word_out_changes() -> None:
    model = regard.TextClassifier(seed=4, pairs=False, beginnings=0).fit(*REVIEWS)
    tokens = model.explain("a good film").tokens
    whole, without = model.predict_proba(["a good film", "a film"])[:, 1]
    change = np.log(whole / (1 - whole)) - np.log(without / (1 - without))
    assert abs(tokens[1].contribution) == pytest.approx(abs(change), abs=1e-4)


@pytest.mark.parametrize("labels", [["yes", "no", "perhaps", "no"], [["a"], ["a", "b"], [], ["b"]]])
def test_several_classes_and_several_labels(labels: list[Any]) -> None:
    task = {"task": "multilabel"} if isinstance(labels[0], list) else {}
    model = regard.TextClassifier(**task).fit(REVIEWS[0], labels * 12) if not task else fitted_on_sets(labels * 12)
    assert model.trained_.config.model.spelling
    assert len(model.predict(["a good film"])) == 1


def fitted_on_sets(sets: list[list[str]]) -> regard.TextClassifier:
    names = ["a", "b"]
    targets = np.array([[name in labels for name in names] for labels in sets], dtype=int)
    return regard.TextClassifier().fit(REVIEWS[0], targets)


def test_texts_have_weights() -> None:
    texts, labels = REVIEWS
    half = [2.0 if label == "yes" else 1.0 for label in labels]
    weighted = regard.TextClassifier(seed=4).fit(texts, labels, sample_weight=half)
    plain = regard.TextClassifier(seed=4).fit(texts, labels)
    assert (weighted.predict_proba(["film"])[:, 1] > plain.predict_proba(["film"])[:, 1]).all()


def test_nothing_needs_to_be_held_out() -> None:
    model = regard.TextClassifier(seed=4, dev_fraction=0.0).fit(*REVIEWS)
    assert model.trained_.config.model.spelling
    assert model.score(*REVIEWS) == 1.0


def test_training_continues_with_a_member_that_read_letters() -> None:
    model = regard.TextClassifier(seed=4).fit(*REVIEWS)
    before = model.predict_proba(["good", "bad"])
    model.partial_fit(["a lousy film", "lousy"] * 6, ["no", "no"] * 6)
    assert model.predict(["lousy", "good"]).tolist() == ["no", "yes"]
    assert model.trained_.config.model.members == 6
    assert not model.trained_.config.model.spelling
    assert_allclose(model.predict_proba(["good", "bad"]), before, atol=0.35)


def test_letters_of_a_word_speak_for_words_spelled_like_it() -> None:
    spelling, texts = find_spelling(TOKENIZER, TEXTS), TEXTS
    features = spelling.features(texts)
    problem = Problem(features, texts.labels[:, None], "sigmoid")
    linear = fit_in_span(problem, features, 100 * Spelling._field_defaults["usual_strength"])
    polarity = tables(spelling.member(linear, 8, 1.0), 1.0).polarity[:, 0, 0]
    assert polarity[3] > polarity[4]  # "goods" is like "good", which is in texts of the class; "a" is not


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": 1, "spelling": True}, "spelling = true: expected members = 2 or more"),
        ({"spelling": True, "encoder": "cnn"}, "spelling = true: expected encoder = 'embedding'"),
        ({"spelling": True, "head_bias": False}, "spelling = true needs head_bias left on"),
        ({"spelling": True, "linear": True, "vectors": "x.vec"}, "spelling = true: expected linear = false"),
    ],
)
def test_options_that_contradict_it_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        regard.TextClassifier(**options).fit(*REVIEWS)


def test_numbers_have_no_such_member() -> None:
    with pytest.raises(InputError, match="spelling = true: expected classes"):
        regard.TextRegressor(spelling=True).fit(REVIEWS[0], [1.5, 3.25, 2.0, 4.75] * 12)


def test_vectors_must_have_room_for_the_score() -> None:
    with pytest.raises(InputError, match="spelling = true: expected embedding = 2 or more"):
        regard.TextClassifier(spelling=True, members=3, embedding=1).fit(*REVIEWS)
