"""A model that reads Arrow columns of texts and returns Arrow columns of answers.

A flat model reads Arrow's buffers; any other model gets strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.arrow_texts import column_texts
from regard.data.examples import encode_examples
from regard.data.tokenizer import Tokenizer
from regard.data.wordpieces import WordPieces
from regard.errors import InputError
from regard.explain.explain import explain
from regard.explain.flat_texts import flat_chunks
from regard.explain.targets import PREDICTED
from regard.extras import import_extra
from regard.models.model import Model
from regard.models.trained import Trained
from regard.novelty import novelty
from regard.records import Example, Span
from regard.report.text.predictions import Layout
from regard.scoring.answer_columns import answer_columns

WORDS = "words"  # the column of the heaviest words


class Answered(NamedTuple):
    columns: dict[str, Any]  # Arrow arrays by name
    errors: dict[int, str]  # by index


class Scorer:
    """`words`: how many words of each text are written with their contributions; 0: none."""

    def __init__(self, trained: Model, layout: Layout, words: int = 0) -> None:
        self.trained, self.layout, self.words = trained, layout, words
        self.arrow = import_extra("pyarrow", "Parquet")

    def columns(self) -> list[str]:
        names = self.layout.answer_columns()
        return [*names[: len(names) - self.layout.errors], *[WORDS] * bool(self.words), *["error"] * self.layout.errors]

    def score(self, column: Any, where: str, name: str, first_row: int) -> Answered:
        """`column`: Arrow strings, the column `name` of the file `where` from its row `first_row` on."""
        tokenizer = self.trained.tokenizer
        lowercase = tokenizer.lowercase if isinstance(tokenizer, Tokenizer) else True
        texts = column_texts(column, where, name, first_row, lowercase)
        errors = dict(texts.errors)
        flat = isinstance(self.trained, Trained) and self.trained.is_flat
        strings: list[str] = []
        if not flat or self.words or self.layout.novelty:
            strings = self.strings(column, texts.is_bad)
            errors |= self.too_long(strings, errors, where, first_row)
        usable = np.array([index not in errors for index in range(len(texts))], dtype=np.bool_)
        if flat:
            assert isinstance(self.trained, Trained)
            answers = self.trained.flat_answers(texts.packed)
        else:
            answers = scattered(self.trained.answers(chosen(strings, usable)), usable)
        columns = answer_columns(self.trained.task, self.layout, answers, ~usable)
        if self.layout.novelty:
            columns["novelty"] = self.novelties(chosen(strings, usable), answers[usable], usable)
        if self.words:
            columns[WORDS] = self.heaviest(chosen(strings, usable), usable)
        if self.layout.errors:
            columns["error"] = self.arrow.array([errors.get(index) for index in range(len(texts))], self.arrow.string())
        return Answered(columns, errors)

    def strings(self, column: Any, bad: NDArray[np.bool_]) -> list[str]:
        """Empty where the text is bad: it need not be UTF-8."""
        compute = import_extra("pyarrow.compute", "Parquet")
        masked = compute.if_else(self.arrow.array(bad), "", column.cast(self.arrow.large_string()))
        values: list[str] = masked.to_pylist()
        return values

    def too_long(self, texts: Sequence[str], bad: dict[int, str], where: str, first_row: int) -> dict[int, str]:
        """The errors of texts that a model with a limit of its own cannot read."""
        tokenizer = self.trained.tokenizer
        if not (isinstance(tokenizer, WordPieces) and tokenizer.longest is not None):
            return {}
        errors = {}
        for index, text in enumerate(texts):
            if index not in bad:
                try:
                    encode_examples(tokenizer, [Example(text, row=first_row + index)], where)
                except InputError as error:
                    errors[index] = str(error)
        return errors

    def novelties(self, texts: Sequence[str], answers: NDArray[np.float64], usable: NDArray[np.bool_]) -> Any:
        values = [self.layout.rounded(value) for value in novelty(self.trained, texts, answers).tolist()]
        return self.arrow.array(spread(values, usable), self.arrow.float64())

    def heaviest(self, texts: Sequence[str], usable: NDArray[np.bool_]) -> Any:
        """Per text a list of {word, contribution}, the largest first, whatever their sign."""
        contributions = (
            flat_contributions if isinstance(self.trained, Trained) and self.trained.is_flat else model_contributions
        )
        rows = []
        for text, spans, values in contributions(self.trained, texts):
            order = np.argsort(-np.abs(values), kind="stable")[: self.words].tolist()
            rows.append([{"word": text[slice(*spans[k])], "contribution": float(values[k])} for k in order])
        pair = self.arrow.struct([("word", self.arrow.string()), ("contribution", self.arrow.float64())])
        return self.arrow.array(spread(rows, usable), self.arrow.list_(pair))


Contributions = tuple[
    str, Sequence[Span] | NDArray[np.int64], NDArray[np.float64]
]  # a text, its words and what they contribute


def flat_contributions(trained: Any, texts: Sequence[str]) -> Iterator[Contributions]:
    """What `explain` gives, without the rest of its record, which takes longer than the contributions."""
    for chunk in flat_chunks(trained, texts, np.full(len(texts), PREDICTED), repeated=False):
        for text, (low, high) in zip(chunk.texts, pairwise(chunk.bounds.tolist()), strict=True):
            spans = np.stack((chunk.starts[low:high], chunk.ends[low:high]), 1)
            yield text, spans, chunk.effects[low:high]


def model_contributions(trained: Model, texts: Sequence[str]) -> Iterator[Contributions]:
    for text, explanation in zip(texts, explain(trained, texts), strict=True):
        tokens = explanation.tokens
        yield (
            text,
            [(token.start, token.end) for token in tokens],
            np.array([token.contribution or 0.0 for token in tokens]),
        )


def chosen(texts: Sequence[str], usable: NDArray[np.bool_]) -> list[str]:
    return [text for text, is_usable in zip(texts, usable.tolist(), strict=True) if is_usable]


def spread(values: Sequence[Any], usable: NDArray[np.bool_]) -> list[Any]:
    """The values of usable rows among all rows, with None for the others."""
    remaining = iter(values)
    return [next(remaining) if is_usable else None for is_usable in usable.tolist()]


def scattered(answers: NDArray[np.float64], usable: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(usable rows, outputs) -> (rows, outputs)"""
    result = np.full((len(usable), answers.shape[1]), np.nan)
    result[usable] = answers
    return result
