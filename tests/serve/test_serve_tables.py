"""A table whose rows a model may refuse: each has its sentence, and the others their answers."""

from __future__ import annotations

from regard.data.formats import Row
from regard.data.wordpieces import WordPieces
from regard.records import Example
from regard.serve.tables import example_of
from tiny_bert import word_pieces


def test_a_row_that_is_too_long_for_the_model_does_not_keep_others_from_their_answers() -> None:
    tokenizer = WordPieces(word_pieces().to_str(), longest=6)
    short, long = (Row(place, None, {"text": text}) for place, text in enumerate(("good film", "good " * 7), 1))
    assert example_of(short, "text", None, tokenizer) == Example("good film", None, 1)
    said = str(example_of(long, "text", None, tokenizer))
    assert said.startswith("table, row 2: a text of 7 word pieces is longer than the 6")
    freely = WordPieces(word_pieces().to_str())
    assert isinstance(example_of(long, "text", None, freely), Example)
