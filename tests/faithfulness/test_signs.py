"""Wrong signs, and erased texts that look empty, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from regard.faithfulness import signs
from regard.faithfulness.emptiness import like_empty
from regard.faithfulness.scored import Doubles, Scored
from regard.faithfulness.signs import remove_each, wrong_signs

LOGITS = {"good": 2.0, "fine": 1.0, "bad": -1.0, "the": 0.0}


def judge(texts: Sequence[str]) -> Doubles:
    logits = np.array([sum(LOGITS[word] for word in text.split()) for text in texts])
    p = 1 / (1 + np.exp(-logits))
    return np.stack([1 - p, p], axis=1)


def scored(text: str, *scores: float) -> Scored:
    ends = np.cumsum([len(word) + 1 for word in text.split()]).tolist()
    return Scored(text, [(end - 1 - len(word), end - 1) for word, end in zip(text.split(), ends, strict=True)], scores)


def test_drops_of_log_odds_by_hand() -> None:
    removed = remove_each(judge, [scored("good bad the", 0, 0, 0), scored("bad the", 0, 0)])
    assert removed.rows.tolist() == [0, 1]
    assert removed.drops[0] == pytest.approx([2.0, -1.0, 0.0])
    assert removed.drops[1] == pytest.approx([1.0, 0.0]), "of the predicted class, which is the other one here"


def test_a_word_for_the_prediction_whose_removal_raises_it_is_counted() -> None:
    texts = [scored("good bad the", 1.0, 2.0, 0.5), scored("good fine", 1.0, 0.5), scored("good the", -1.0, 0.0)]
    removed = remove_each(judge, texts)
    wrong = wrong_signs([np.array(one.scores) for one in texts], removed)
    assert wrong.marked.tolist() == [3, 2, 0]
    assert wrong.raised.tolist() == [1, 0, 0], "a word without an effect is not wrong"
    assert wrong.share.tolist() == pytest.approx([1 / 3, 0.0, np.nan], nan_ok=True)
    assert wrong.top.tolist() == pytest.approx([1.0, 0.0, np.nan], nan_ok=True)


def test_the_number_of_removed_words_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs, "MOST_WORDS", 5)
    texts = [scored("good bad the", 0, 0, 0)] * 10
    assert len(remove_each(judge, texts).rows) == 1
    assert remove_each(judge, texts, 1).rows.tolist() == remove_each(judge, texts, 1).rows.tolist()
    assert remove_each(judge, [Scored("", [], [])]).drops == []


def test_texts_with_the_prediction_of_an_empty_text_are_counted() -> None:
    answers = judge(["good", "the", "the the", "bad good", "good", "fine"]).reshape(1, 2, 3, 2)
    assert like_empty(answers, judge([""])[0]).tolist() == pytest.approx([2 / 3, 0.0])
