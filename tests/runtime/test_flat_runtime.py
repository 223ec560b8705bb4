"""A flat run answers and explains in the runtime as it does in regard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard.runtime
from regard import TextClassifier
from regard.data.reviews import reviews
from regard.errors import InputError
from regard.estimators import load
from regard.runtime.flat_model import FlatModel
from regard.runtime.units import UnitReader
from tricky_texts import TRICKY, random_texts

TEXTS = [*TRICKY, *random_texts(200), *(example.text for example in reviews(100))]


def assert_same(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """The same record; numbers may differ by rounding."""
    assert actual.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, float):
            assert actual[key] == pytest.approx(value, rel=1e-5, abs=2e-6), key
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            assert len(actual[key]) == len(value)
            for one, other in zip(actual[key], value, strict=True):
                assert_same(one, other)
        elif isinstance(value, dict):
            assert_same(actual[key], value)
        else:
            assert actual[key] == value, key


@pytest.mark.parametrize("name", ["flat_run", "number_run"])
def test_explanations_are_those_of_regard(name: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(name)
    full, runtime = load(folder), regard.runtime.load(folder)
    for explanation in full.explain_all(TEXTS):
        assert_same(dict(runtime.explain(explanation.text).as_dict()), dict(explanation.as_dict()))


def test_labels_and_probabilities_are_those_of_regard(flat_run: Path) -> None:
    full, runtime = load(flat_run), regard.runtime.load(flat_run)
    assert runtime.classes is not None
    assert runtime.classes.tolist() == full.classes_.tolist()
    assert runtime.predict(TEXTS).tolist() == full.predict(TEXTS).tolist()
    assert runtime.predict_proba(TEXTS) == pytest.approx(full.predict_proba(TEXTS), abs=1e-6)


def test_numbers_are_those_of_regard(number_run: Path) -> None:
    full, runtime = load(number_run), regard.runtime.load(number_run)
    assert runtime.predict(TEXTS) == pytest.approx(full.predict(TEXTS), abs=1e-5)
    with pytest.raises(InputError, match="predict_proba: expected a classifier, got a model that predicts numbers"):
        runtime.predict_proba(TEXTS)


def test_labels_have_the_type_they_were_trained_with(tmp_path: Path) -> None:
    examples = reviews(60)
    stars = [10 * int(example.label or 0) for example in examples]
    model = TextClassifier(epochs=1).fit([example.text for example in examples], stars)
    model.save(tmp_path / "run")
    runtime = regard.runtime.load(tmp_path / "run")
    assert runtime.predict(["good"]).dtype == np.dtype(int)
    assert runtime.predict(TEXTS).tolist() == model.predict(TEXTS).tolist()
    assert runtime.explain("good", target=20).target == "20"
    assert runtime.explain("good").prediction.value == model.explain("good").prediction.value


@pytest.mark.parametrize("options", [{}, {"pairs": False}, {"beginnings": 0}, {"pairs": False, "beginnings": 0}])
def test_units_are_those_of_the_compiled_tokenizer(options: dict[str, Any]) -> None:
    examples = reviews(60)
    fitted = TextClassifier(epochs=1, **options).fit([x.text for x in examples], [x.label for x in examples])
    tokenizer = fitted.trained_.tokenizer
    reader, expected = UnitReader(tokenizer), tokenizer.encode_all(TEXTS)
    for row, text in enumerate(TEXTS):
        units, span = reader.read(text), slice(*expected.offsets[row : row + 2])
        assert units.ids.tolist() == expected.ids[span].tolist(), text
        assert units.first.tolist() == expected.first[span].tolist(), text
        assert units.last.tolist() == expected.last[span].tolist(), text
        assert len(units.words) == expected.words[row]


def test_a_text_can_be_cut_to_the_first_words(table: Path, tmp_path: Path) -> None:
    examples = reviews(60)
    model = TextClassifier(epochs=1, max_words=5).fit([x.text for x in examples], [x.label for x in examples])
    model.save(tmp_path / "run")
    explanation = regard.runtime.load(tmp_path / "run").explain("one two three four five six seven")
    assert [token.text for token in explanation.tokens] == ["one", "two", "three", "four", "five"]


def test_weights_alone_have_no_sign(flat_run: Path) -> None:
    explanation = regard.runtime.load(flat_run).explain("The room was clean.", contributions=False)
    assert not explanation.is_signed
    assert {token.contribution for token in explanation.tokens} == {None}
    assert sum(token.weight for token in explanation.tokens) == pytest.approx(1)


def test_texts_must_be_strings(flat_run: Path) -> None:
    runtime = regard.runtime.load(flat_run)
    with pytest.raises(InputError, match="texts: expected a list of texts, got a single string"):
        runtime.predict("one text")
    with pytest.raises(InputError, match="texts, number 2: expected a string, got int"):
        runtime.predict(["one", 2])  # type: ignore[list-item]
    with pytest.raises(InputError, match="explain: expected one text, got a list"):
        runtime.explain(["one"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="target: expected one of "):
        runtime.explain("one", target="x")


def test_contributions_keep_their_digits_next_to_a_word_with_all_the_weight(flat_run: Path) -> None:
    """Without the heavy word, the others are summed; a difference of sums would be 0, since e^60 + 1 is e^60 in float64."""
    runtime = regard.runtime.load(flat_run)
    model = runtime.model
    assert isinstance(model, FlatModel)
    assert "staff" in model.tokenizer.vocabulary
    heavy = int(model.tokenizer.vocabulary.ids(["staff"])[0])
    model.tables.scores.setflags(write=True)
    model.tables.scores[heavy] += 60
    explanation = runtime.explain("zzqqy staff zzyxx", target=str(runtime.classes[0]))  # type: ignore[index]
    assert explanation.tokens[1].weight == pytest.approx(1)
    unknown = runtime.explain("zzqqy zzyxx").prediction.probabilities[explanation.target or ""]
    whole = explanation.prediction.probabilities[explanation.target or ""]
    odds = np.log(whole / (1 - whole)) - np.log(unknown / (1 - unknown))
    assert explanation.tokens[1].contribution == pytest.approx(odds, abs=1e-6)
