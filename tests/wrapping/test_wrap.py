"""`regard.wrap`: explanations of a model of which only the predicted probabilities are available."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import regard
from regard.data.characters import Characters
from regard.errors import InputError
from regard.explain.explainers import EXPLAINERS, methods
from regard.wrapping import Wrapped

WEIGHTS = {"good": (0.0, 2.0, 0.0), "bad": (1.5, 0.0, 0.0), "not": (0.5, -0.5, 0.25), "okay": (0.0, 0.0, 3.0)}
TEXT = "The food was good. The room was not okay, but good."


def logits(text: str, classes: int) -> NDArray[np.float64]:
    words = re.findall(r"\w+", text.lower())
    return np.sum([np.zeros(3), *(WEIGHTS.get(word, (0, 0, 0)) for word in words)], axis=0)[:classes]


class Counting:
    """A bag of words with known log-odds; counts the texts that it predicts."""

    def __init__(self, classes: int) -> None:
        self.classes, self.calls, self.seen = classes, 0, []  # type: ignore[var-annotated]

    def __call__(self, texts: list[str]) -> NDArray[np.float64]:
        self.calls += 1
        self.seen += texts
        powers = np.exp([logits(text, self.classes) for text in texts])
        return np.asarray(powers / powers.sum(1, keepdims=True))


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def model(request: pytest.FixtureRequest) -> Wrapped:
    return regard.wrap(Counting(request.param), ["poor", "fine", "middling"][: request.param], name="bag of words")


def log_odds(text: str, classes: int, target: int) -> float:
    values = logits(text, classes)
    return float(values[target] - np.log(np.exp(np.delete(values, target)).sum()))


def test_contributions_are_drops_of_the_log_odds(model: Wrapped) -> None:
    shown, classes = model.explain(TEXT), len(model.classes)
    target = model.classes.index(shown.prediction.value)
    whole = log_odds(TEXT, classes, target)
    assert shown.target == shown.prediction.value
    assert shown.method == shown.contribution_method == "leave_one_out"
    for token in shown.tokens:
        rest = TEXT[: token.start] + " " + TEXT[token.end :]
        assert token.contribution == pytest.approx(whole - log_odds(rest, classes, target), abs=1e-9)
    assert [TEXT[one.start : one.end] for one in shown.sentences] == [TEXT[:18], TEXT[19:]]
    for sentence in shown.sentences:
        rest = TEXT[: sentence.start] + TEXT[sentence.end :]
        assert sentence.contribution == pytest.approx(whole - log_odds(rest, classes, target), abs=1e-9)
    (good,) = [one for one in shown.repeated if one.text == "good"]
    rest = TEXT.replace("good", "")
    assert good.contribution == pytest.approx(whole - log_odds(rest, classes, target), abs=1e-9)
    assert sum(token.weight for token in shown.tokens) == pytest.approx(1)


def test_a_target_can_be_named(model: Wrapped) -> None:
    shown = model.explain("good, not bad", target="poor")
    by_word = {token.text: token.contribution for token in shown.tokens}
    assert shown.target == "poor"
    assert by_word["bad"] > 0 > by_word["good"]


def test_words_are_cut_out_of_the_text_itself() -> None:
    predict = Counting(2)
    regard.wrap(predict, "ab").attribute(["Good  food,\nbad view."])
    assert set(predict.seen) == {
        "Good  food,\nbad view.",
        "food,\nbad view.",
        "Good ,\nbad view.",
        "Good  food\nbad view.",
        "Good  food,\nview.",
        "Good  food,\nbad .",
        "Good  food,\nbad view",
        "bad view.",
        "Good  food,",
    }


def test_each_different_text_is_predicted_once_in_batches() -> None:
    predict = Counting(2)
    model = regard.wrap(predict, ["a", "b"], batch_size=4)
    answers = model.predict_proba(["good", "bad", "good", "not good", "okay", "bad bad"])
    assert sorted(predict.seen) == ["bad", "bad bad", "good", "not good", "okay"]
    assert predict.calls == 2
    assert answers[0].tolist() == answers[2].tolist()
    assert answers.argmax(1).tolist() == [1, 0, 1, 1, 0, 0]
    assert model.predict(["good", "bad"]) == ["b", "a"]


def test_sentence_occlusion_gives_each_word_its_part_of_the_sentence(model: Wrapped) -> None:
    (one,) = model.attribute([TEXT], "sentence_occlusion")
    assert one.cost["forward"] == 3
    (reference,) = model.attribute([TEXT])
    assert [unit.weight for unit in one.sentences] == pytest.approx([unit.weight for unit in reference.sentences])
    first, second = one.sentences
    assert one.scores[:5] == pytest.approx(first.weight / 5)
    assert one.scores[5:] == pytest.approx(second.weight / 9)


def test_the_surrogate_agrees_in_sign(model: Wrapped) -> None:
    shown = model.explain("good food, bad view", method="surrogate", target="fine")
    by_word = {token.text: token.contribution for token in shown.tokens}
    assert shown.method == shown.contribution_method == "surrogate"
    assert by_word["good"] > 0.5
    assert by_word["bad"] < -0.5


def test_only_methods_that_need_predictions_are_available(model: Wrapped) -> None:
    available = ["leave_one_out", "surrogate", "sentence_occlusion", "random", "tfidf"]
    assert methods(model) == available
    for method in EXPLAINERS:
        if method in available:
            assert len(model.attribute([TEXT, ""], method)) == 2
            assert model.explain(TEXT, method=method).tokens
        else:
            message = f"for bag of words, of which only predictions are available, got '{method}'"
            with pytest.raises(InputError, match=message):
                model.explain(TEXT, method=method)
            with pytest.raises(InputError, match=message):
                model.attribute([TEXT], method)


@pytest.mark.parametrize("text", ["", "good", " \n", "a\ud83d", "👍🏽 good 中文 text"])
def test_any_text_is_explained(text: str, model: Wrapped) -> None:
    shown = model.explain(text)
    assert shown.text == text
    assert Characters().decode(Characters().encode(text)) == text


def test_certain_predictions_stay_finite() -> None:
    model = regard.wrap(lambda texts: [[float("bad" in t), float("bad" not in t)] for t in texts], ["poor", "fine"])
    (one,) = model.attribute(["bad food"])
    assert one.scores[0] == pytest.approx(2 * np.log(1e12))
    assert one.scores[1] == 0


@pytest.mark.parametrize(
    ("predict", "classes", "message"),
    [
        (None, ["a", "b"], "predict_proba: expected a function, got NoneType"),
        (len, ["a"], r"classes: expected at least two different names, got \['a'\]"),
        (len, ["1", 1], r"classes: expected at least two different names, got \['1', '1'\]"),
        (
            lambda texts: np.ones(len(texts)),
            "ab",
            r"model, predict_proba: expected an array of 1 texts × 2 classes, got \(1,\)",
        ),
        (
            lambda texts: [[0.7, 0.7]] * len(texts),
            "ab",
            r"model, predict_proba: expected probabilities that sum to 1, got \[0.7, 0.7\]",
        ),
        (lambda texts: [[np.nan, 0.7]] * len(texts), "ab", "expected probabilities that sum to 1"),
        (lambda texts: [[-0.5, 1.5]] * len(texts), "ab", "expected probabilities that sum to 1"),
    ],
)
def test_bad_models_are_refused(predict: object, classes: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        regard.wrap(predict, classes).predict(["a text"])  # type: ignore[arg-type]


def test_a_batch_size_must_be_positive() -> None:
    with pytest.raises(InputError, match="batch_size: expected a whole number of at least 1, got 0"):
        regard.wrap(Counting(2), "ab", batch_size=0)


def test_a_report_is_written(model: Wrapped, tmp_path: Path) -> None:
    texts = ["good food", "bad food", "okay and good", "not good"]
    page = model.report(texts, model.predict(texts), tmp_path / "page.html", "four texts").read_text(encoding="utf-8")
    assert "bag of words, of which only predictions are available" in page
    assert "four texts" in page
    assert "okay" in page
