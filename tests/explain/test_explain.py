"""Explanations: spans that fit the text in every script, weights that are the model's own, in the order of the texts."""

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
def test_words_stand_where_they_are_said_to(trained: Trained, script: str) -> None:
    text = SCRIPTS[script]
    (found,) = explain(trained, [text])
    assert found.text == text
    assert found.tokens
    assert all(text[token.start : token.end] == token.text != "" for token in found.tokens)
    ends = [0, *(edge for token in found.tokens for edge in (token.start, token.end))]
    assert ends == sorted(ends), "in order, none over another"
    assert sum(token.weight for token in found.tokens) == pytest.approx(1, abs=1e-6)
    left = "".join(text[a.end : b.start] for a, b in zip(found.tokens, found.tokens[1:], strict=False))
    assert not left.replace("<br />", "").strip(), "every letter is in a word"


@pytest.mark.parametrize("script", SCRIPTS)
def test_units_weigh_what_their_words_weigh(trained: Trained, script: str) -> None:
    (found,) = explain(trained, [SCRIPTS[script]])
    levels = trained.config.model.levels
    assert (bool(found.sentences), bool(found.parts)) == (levels > 1, levels > 2)
    for units in (found.sentences, found.parts):
        for unit in units:
            own = [token.weight for token in found.tokens if unit.start <= token.start < unit.end]
            assert sum(own) == pytest.approx(unit.weight, abs=1e-6)
        assert not units or sum(unit.weight for unit in units) == pytest.approx(1, abs=1e-6)


def test_weights_and_answers_are_the_models_own(trained: Trained) -> None:
    texts = [example.text for example in reviews(9, seed=5)]
    found = list(explain(trained, texts))
    indexed = [trained.tokenizer.encode(text) for text in texts]
    for rows, batch, output in outputs(trained.model, indexed):
        for place, row in enumerate(rows):
            own = output.word_weights[place][batch.mask[place]]
            torch.testing.assert_close(torch.tensor([token.weight for token in found[row].tokens]), own.float())
    said = trained.task.predictions(trained.answers(texts))
    assert [item.prediction for item in found] == said


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
    (found,) = explain(trained, ["Good xyzzy"])
    assert [token.known for token in found.tokens] == [True, False]


def test_words_that_were_cut_off_have_no_weight() -> None:
    config = Config().override({**SMALL, "max_words": 3, "levels": 2})
    trained = fit(config, Parts(reviews(12)))
    (found,) = explain(trained, ["One two. Three four. Five six."])
    assert [token.text for token in found.tokens] == ["One", "two", "."]
    assert len(found.sentences) == 1


def test_an_explanation_comes_back_from_its_record(trained: Trained) -> None:
    (found,) = explain(trained, [SCRIPTS["parts"]], ["3"])
    assert Explanation.from_dict(found.as_dict()) == found


def make(weights: list[float]) -> Explanation:
    words = [TokenScore("w", 2 * place, 2 * place + 1, weight) for place, weight in enumerate(weights)]
    return Explanation("w " * len(weights), Prediction("a", {}), tuple(words))


@pytest.mark.parametrize(
    ("weights", "spans", "expected"),
    [
        ([0.1, 0.2, 0.7, 0.0], [(4, 5)], (0.7, 1.0, 0.25)),
        ([0.1, 0.2, 0.7, 0.0], [(0, 3)], (0.3, 0.5, 0.5)),  # of the two heaviest words one is evidence
        ([0.1, 0.2, 0.7, 0.0], [(0, 1), (0, 1), (5, 6)], (0.1, 0.0, 0.25)),  # between words there is none
    ],
)
def test_plausibility_by_hand(weights: list[float], spans: Any, expected: tuple[float, float, float]) -> None:
    found = plausibility([make(weights), make([1.0])], [spans, []])
    assert found["texts"] == 1
    assert [found[name] for name in ("weight_on_evidence", "precision_at_evidence", "random")] == pytest.approx(
        expected
    )


def test_plausibility_without_evidence() -> None:
    assert plausibility([make([1.0])], [[]]) == {"texts": 0}
