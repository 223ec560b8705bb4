"""Words of an explained text as arrays: equal to the tuple of their records, and written as JSON would write that."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.records import Explanation, Prediction, RepeatedWord
from regard.report.text.explanation_lines import explanation_line, written
from regard.scored_tokens import WAYS, Tokens, TokenScore

SCORE = st.floats(width=64) | st.floats(-1e-3, 1e-3) | st.sampled_from([0.0, -0.0, 1e-4, 1e16, 1e-5, 1.0])
WORD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6) | st.sampled_from(
    ['"', "\\", "a", "é"]
)
ROW = st.tuples(WORD, SCORE, SCORE, st.integers(0, len(WAYS) - 1))


def made(rows: list[tuple[str, float, float, int]]) -> Tokens:
    words = [row[0] for row in rows]
    sizes = np.array([len(word) + 1 for word in words], dtype=np.int64)
    starts = sizes.cumsum() - sizes
    weights, contributions = (np.array([row[k] for row in rows], dtype=np.float64) for k in (1, 2))
    codes = np.array([row[3] for row in rows], dtype=np.uint8)
    return Tokens(" ".join(words), starts, starts + sizes - 1, weights, contributions, codes)


def test_they_equal_their_records() -> None:
    tokens = made([("good", 0.75, 2.0, WAYS.index("word")), ("xyz", 0.25, -1.0, WAYS.index("nothing"))])
    records = (
        TokenScore("good", 0, 4, 0.75, True, 2.0, "word"),
        TokenScore("xyz", 5, 8, 0.25, False, -1.0, "nothing"),
    )
    assert tokens == records
    assert records == tokens
    assert tokens == made([("good", 0.75, 2.0, 2), ("xyz", 0.25, -1.0, 0)])
    assert tokens != records[:1]
    assert (tokens[0], tokens[-1], tokens[1:], len(tokens)) == (records[0], records[1], records[1:], 2)
    assert hash(tokens) == hash(records)
    assert repr(tokens) == repr(records)
    assert made([]) == ()
    assert pickle.loads(pickle.dumps(tokens)) == records
    with pytest.raises(IndexError):
        tokens[2]


@given(st.lists(ROW, max_size=6), st.booleans())
@example([], False)
@example([('"\\\u2028é', 1e-05, -1e16, 1), ("a", 0.1, 5e-324, 2)], True)
def test_a_line_is_what_json_writes(rows: list[tuple[str, float, float, int]], repeated: bool) -> None:
    tokens = made(rows)
    more = {"repeated": (RepeatedWord("a", (0, 1), 0.5),), "strong": 2.0} if repeated else {}
    shown = Explanation(
        tokens.text, Prediction("é", {"é": 1.0}), tokens, contribution_method="leave_one_out", target="é", **more
    )
    expected = json.dumps({"row": 3, **shown.as_dict()}, ensure_ascii=False)
    assert explanation_line({"row": 3}, shown) == expected


@given(st.lists(SCORE))
def test_numbers_are_written_as_python_writes_them(numbers: list[float]) -> None:
    assert written(np.array(numbers, dtype=np.float64)) == [json.dumps(number) for number in numbers]


@given(st.lists(st.tuples(st.sampled_from(["good", "!!", "?", "7", "étoile"]), st.integers(0, 3)), max_size=12))
def test_the_note_is_that_of_the_records(words: list[tuple[str, int]]) -> None:
    tokens = made([(word, 0.0, 0.0, code) for word, code in words])
    one, other = (Explanation(tokens.text, Prediction(1.0, {}), each) for each in (tokens, tuple(tokens)))
    assert one.note == other.note
