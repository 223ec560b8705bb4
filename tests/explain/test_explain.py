"""Explanations: spans match the text in every script, weights are the model's, and the order is that of the texts."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.config import Config
from regard.data.reviews import reviews
from regard.explain import explain as module
from regard.explain.explain import explain
from regard.faithfulness.plausibility import plausibility
from regard.models.trained import Trained, outputs
from regard.records import Example, Explanation, Prediction, TokenScore
from regard.training.fit import Parts, fit

SMALL = {"embedding": 8, "hidden": 8, "query": 8, "epochs": 1, "min_count": 1, "device": "cpu", "task": "multiclass"}
SCRIPTS = {
    "english": "I don't like it. Not at all!",
    "chinese": "这部电影很好。我不喜欢结局！",
    "japanese": "この映画はとても良かった。ラーメンも美味しい。",
    "thai": "หนังเรื่องนี้ดีมาก อาหารไม่อร่อย",
    "arabic": "هذا الفيلم جيد جداً. لم يعجبني الطعام؟",
    "hebrew": "הסרט טוב. האוכל רע!",
    "hindi": "यह फ़िल्म अच्छी है। खाना बुरा था।",
    "mixed": "Ça 好吃 😀👍🏽 и <br /> cool… e\u0301te\u0301",
    "one word": "good",
    "parts": "One is good. Two is not.\n\nThree is bad.",
}


@pytest.fixture(scope="module", params=[1, 2, 3])
def trained(request: pytest.FixtureRequest) -> Trained:
    config = Config().override({**SMALL, "levels": request.param, "encoder": "cnn", "pooling": "attention"})
    examples = [*reviews(20), *(Example(text, "1") for text in SCRIPTS.values())]
    return fit(config, Parts(examples))


@pytest.mark.parametrize("script", SCRIPTS)
def test_spans_match_the_text(trained: Trained, script: str) -> None:
    text = SCRIPTS[script]
    (explanation,) = explain(trained, [text])
    assert explanation.text == text
    assert explanation.tokens
    assert all(text[token.start : token.end] == token.text != "" for token in explanation.tokens)
    ends = [0, *(edge for token in explanation.tokens for edge in (token.start, token.end))]
    assert ends == sorted(ends), "in order, without overlap"
    assert sum(token.weight for token in explanation.tokens) == pytest.approx(1, abs=1e-6)
    left = "".join(text[a.end : b.start] for a, b in zip(explanation.tokens, explanation.tokens[1:], strict=False))
    assert not left.replace("<br />", "").strip(), "every letter is in a word"


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_weight_of_a_unit_is_the_sum_of_its_words(trained: Trained, script: str) -> None:
    (explanation,) = explain(trained, [SCRIPTS[script]])
    levels = trained.config.model.levels
    assert (bool(explanation.sentences), bool(explanation.parts)) == (levels > 1, levels > 2)
    for units in (explanation.sentences, explanation.parts):
        for unit in units:
            weights = [token.weight for token in explanation.tokens if unit.start <= token.start < unit.end]
            assert sum(weights) == pytest.approx(unit.weight, abs=1e-6)
        assert not units or sum(unit.weight for unit in units) == pytest.approx(1, abs=1e-6)


def test_weights_and_predictions_are_the_models(trained: Trained) -> None:
    texts = [example.text for example in reviews(9, seed=5)]
    explanations = list(explain(trained, texts))
    indexed = [trained.tokenizer.encode(text) for text in texts]
    for rows, batch, output in outputs(trained.model, indexed):
        for index, row in enumerate(rows):
            weights = output.word_weights[index][batch.mask[index]]
            tokens = explanations[row].tokens
            torch.testing.assert_close(torch.tensor([token.weight for token in tokens]), weights.float())
    predictions = trained.task.predictions(trained.answers(texts))
    assert [item.prediction for item in explanations] == predictions


def test_order_labels_and_chunks(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = [example.text for example in reviews(7, seed=6)], list("1234512")
    whole = list(explain(trained, texts, labels))
    assert [item.text for item in whole] == texts
    assert [item.label for item in whole] == labels
    monkeypatch.setattr(module, "CHUNK", 2)
    for one, other in zip(explain(trained, texts, labels), whole, strict=True):
        assert (one.text, one.label, one.prediction.value) == (other.text, other.label, other.prediction.value)
        assert [t.weight for t in one.tokens] == pytest.approx([t.weight for t in other.tokens], abs=1e-6)


def test_texts_without_words(trained: Trained) -> None:
    first, second, third = explain(trained, ["", "good", " \n "])
    assert first.tokens == third.tokens == ()
    assert first.sentences == first.parts == ()
    assert [token.text for token in second.tokens] == ["good"]
    assert sum(first.prediction.probabilities.values()) == pytest.approx(1)


def test_words_without_a_vector_are_marked(trained: Trained) -> None:
    (explanation,) = explain(trained, ["Good xyzzy"])
    assert [token.known for token in explanation.tokens] == [True, False]


def test_words_beyond_max_words_have_no_weight() -> None:
    config = Config().override({**SMALL, "max_words": 3, "levels": 2})
    trained = fit(config, Parts(reviews(12)))
    (explanation,) = explain(trained, ["One two. Three four. Five six."])
    assert [token.text for token in explanation.tokens] == ["One", "two", "."]
    assert len(explanation.sentences) == 1


def test_an_explanation_can_be_restored_from_its_dict(trained: Trained) -> None:
    (explanation,) = explain(trained, [SCRIPTS["parts"]], ["3"])
    assert Explanation.from_dict(explanation.as_dict()) == explanation


def make(weights: list[float]) -> Explanation:
    words = [TokenScore("w", 2 * index, 2 * index + 1, weight) for index, weight in enumerate(weights)]
    return Explanation("w " * len(weights), Prediction("a", {}), tuple(words))


@pytest.mark.parametrize(
    ("weights", "spans", "expected"),
    [
        ([0.1, 0.2, 0.7, 0.0], [(4, 5)], (0.7, 1.0, 0.25)),
        ([0.1, 0.2, 0.7, 0.0], [(0, 3)], (0.3, 0.5, 0.5)),  # one of the two heaviest words is evidence
        ([0.1, 0.2, 0.7, 0.0], [(0, 1), (0, 1), (5, 6)], (0.1, 0.0, 0.25)),  # a span between words marks none
    ],
)
def test_plausibility_by_hand(weights: list[float], spans: Any, expected: tuple[float, float, float]) -> None:
    means = plausibility([make(weights), make([1.0])], [spans, []])
    assert means["texts"] == 1
    assert [means[name] for name in ("weight_on_evidence", "precision_at_evidence", "random")] == pytest.approx(
        expected
    )


def test_plausibility_without_evidence() -> None:
    assert plausibility([make([1.0])], [[]]) == {"texts": 0}
