"""A table with rows that a model refuses: each of them gets an error, the others a prediction."""

from __future__ import annotations

from regard.data.formats import Row
from regard.data.wordpieces import WordPieces
from regard.records import Example
from regard.serve.tables import example_of
from tiny_bert import word_pieces


def test_a_row_that_is_too_long_for_the_model_gets_a_separate_error() -> None:
    tokenizer = WordPieces(word_pieces().to_str(), longest=6)
    short, long = (Row(number, None, {"text": text}) for number, text in enumerate(("good film", "good " * 7), 1))
    assert example_of(short, "text", None, tokenizer) == Example("good film", None, 1)
    error = str(example_of(long, "text", None, tokenizer))
    assert error.startswith("table, row 2: expected a text of up to 6 word pieces, ")
    assert "got 7;" in error
    unlimited = WordPieces(word_pieces().to_str())
    assert isinstance(example_of(long, "text", None, unlimited), Example)
