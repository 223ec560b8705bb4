"""Answers from sums that are computed in advance, against attention over the units of each text in float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.config import Config, Model
from regard.data.packing import pack
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.models import trained as module
from regard.models.flat import Tables, state_of
from regard.models.tasks import Binary, Multiclass, MultiLabel, Regression, Task
from regard.models.trained import Trained

# not 2, good 3, movies 4; movi… 5, été… 6; pairs from 7
WORDS = Tokenizer(
    Vocabulary(("not", "good", "movies")),
    letters=4,
    beginnings=("movi", "étés"),
    pairs=np.array([[2, 3], [0, 2], [4, 0], [3, 3]]),
)
PLAIN = Tokenizer(Vocabulary(("not", "good", "movies")))
CUT = Tokenizer(Vocabulary(("not", "good", "movies")), max_words=2, pairs=np.array([[2, 3], [4, 0]]))
TASKS: list[Task] = [
    Binary(("no", "yes")),
    Multiclass(("a", "b", "c")),
    MultiLabel.untuned(("a", "b")),
    Regression(3.0, 2.0),
]
WORD = st.sampled_from(["not", "Good", "movies", "movie", "odd", "!", "étésque", "NOT"])
TEXTS = st.lists(st.lists(WORD, max_size=8).map(" ".join), min_size=1, max_size=6)


def drawn(tokenizer: Tokenizer, task: Task, members: int, spread: float, seed: int) -> Trained:
    rng = np.random.default_rng(seed)
    scores = (spread * rng.normal(size=(len(tokenizer), members))).astype(np.float32)
    polarity = rng.normal(size=(len(tokenizer), members, task.out_dim)).astype(np.float32)
    scores[0], polarity[0] = 0, 0
    lookup = Tables(scores, polarity, rng.normal(size=task.out_dim).astype(np.float32))
    model = Model(embedding=task.out_dim + 1, attention="dot", scale=1.0, members=members)
    return Trained(Config(model=model), tokenizer, task, weights=state_of(lookup, 1.0))


def exact(trained: Trained, texts: list[str]) -> NDArray[np.float64]:
    units, (scores, polarity, bias) = trained.tokenizer.encode_all(texts), trained.tables  # type: ignore[union-attr]
    rows = []
    for low, high in itertools.pairwise(units.offsets.tolist()):
        ids = units.ids[low:high]
        chosen = scores[ids].astype(np.float64)
        weights = np.exp(chosen - chosen.max(0, initial=-np.inf))
        shares = weights / weights.sum(0) if len(ids) else weights
        rows.append(np.einsum("um,umc->c", shares, polarity[ids].astype(np.float64)) + bias)
    return np.array(rows)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
@pytest.mark.parametrize("tokenizer", [WORDS, PLAIN, CUT], ids=["units", "words", "cut"])
@settings(max_examples=25)
@given(texts=TEXTS, members=st.integers(1, 3), spread=st.sampled_from([0.0, 1.0, 5.0, 40.0]), seed=st.integers(0, 9))
def test_logits_equal_those_of_attention(
    tokenizer: Tokenizer, task: Task, texts: list[str], members: int, spread: float, seed: int
) -> None:
    """A spread of 40 leaves many texts with units far below the highest score only."""
    trained = drawn(tokenizer, task, members, spread, seed)
    answered = np.concatenate(list(trained.answered(texts, len(texts))))
    assert answered == pytest.approx(exact(trained, texts), abs=1e-5)


def test_units_that_a_member_ignores_and_texts_without_known_words_are_left_to_attention() -> None:
    trained = drawn(WORDS, TASKS[0], 2, 1.0, 0)
    trained.tables.scores[3, 0] = -60.0  # "good" is silent in the first member
    texts = ["odd", "", "good", "good not", "not"]
    packed, logits = pack(texts), np.empty((len(texts), 1), dtype=np.float32)
    left = trained.answering.answer(packed.data, *WORDS.find_words(packed), logits)
    assert left.tolist() == [0, 1, 2]
    assert np.concatenate(list(trained.answered(texts, 5))) == pytest.approx(exact(trained, texts), abs=1e-5)


def test_many_texts_are_answered_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = drawn(WORDS, TASKS[1], 3, 1.0, 1)
    texts = ["not good", "movie", "odd", "étésque movies good good"] * 3
    few = trained.answers(texts)
    monkeypatch.setattr(module, "CHUNK", 4)
    monkeypatch.setattr(module, "PIECE", 2)
    assert trained.answers(texts) == pytest.approx(few, abs=1e-5)
    assert trained.flat_answers(pack(texts)) == pytest.approx(few, abs=1e-5)
