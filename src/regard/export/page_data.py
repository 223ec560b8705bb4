"""What a page needs to answer: word patterns, vocabulary, and the tables of a flat model in 16 bits per number.

Each column of a table is stored as whole numbers from 0 to 65,535 between its smallest and its largest value. Half precision
takes as much space but rounds large numbers coarsely, and a single polarity of 80 can decide a text: on made-up texts it moved
probabilities by up to 1.6e-3, this by 3e-4. If a probability moves by more than `MOST`, the tables stay in float32, and the page
is larger.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Tokenizer
from regard.data.words import LINE_BREAK, ascii_pattern, unicode_pattern
from regard.export.samples import sample_units
from regard.export.word_pattern import script_pattern
from regard.kernels.attention import attend
from regard.models.flat import Tables
from regard.models.tasks import Regression, Task
from regard.models.trained import Trained
from regard.report.text.strongest_words import function_words

FORMAT = "regard page 1"
MOST = 1e-3  # of a probability, or of the standard deviation of a regression's labels
TEXTS = 2000


class Column(NamedTuple):
    """A table whose columns are low + step × values, or float32 values if step is None."""

    low: NDArray[np.float64]  # (columns,)
    step: NDArray[np.float64] | None
    values: NDArray[Any]  # (rows, columns)

    def decoded(self) -> NDArray[np.float32]:
        exact = self.values if self.step is None else self.low + self.step * self.values
        return exact.astype(np.float32)

    def as_dict(self) -> dict[str, Any]:
        step = None if self.step is None else self.step.tolist()
        return {"low": self.low.tolist(), "step": step, "values": encoded(self.values, self.values.dtype.str)}


@dataclass(frozen=True)
class PageTables:
    scores: Column
    polarity: Column
    precision: str
    texts: int  # made-up texts that were compared
    difference: float  # the largest of a probability


def page_data(trained: Trained, chosen: PageTables, name: str) -> dict[str, Any]:
    tokenizer = trained.tokenizer
    assert isinstance(tokenizer, Tokenizer)
    wide = len(tokenizer.vocabulary) > 1 << 16
    left, right = (encoded(side, "<u4" if wide else "<u2") for side in tokenizer.pairs.T)
    return {
        "format": FORMAT,
        "name": name,
        "model": f"{trained.config.model.encoder}-{trained.config.model.pooling}",
        "task": trained.task.as_dict(),
        "function_words": sorted(function_words()),
        "tokenizer": {
            "patterns": {
                "ascii": script_pattern(ascii_pattern()),
                "unicode": script_pattern(unicode_pattern()),
                "line_break": script_pattern(LINE_BREAK),
            },
            "lowercase": tokenizer.lowercase,
            "max_words": tokenizer.max_words,
            "letters": tokenizer.letters,
            "words": "\n".join(tokenizer.vocabulary.words),
            "beginnings": "\n".join(tokenizer.beginnings),
            "wide": wide,
            "left": left,
            "right": right,
        },
        "tables": {
            "scores": chosen.scores.as_dict(),
            "polarity": chosen.polarity.as_dict(),
            "bias": trained.tables.bias.tolist(),
        },
    }


def encoded(values: NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def page_tables(trained: Trained) -> PageTables:
    exact, tokenizer = trained.tables, trained.tokenizer
    assert isinstance(tokenizer, Tokenizer)
    texts = sample_units(tokenizer, TEXTS)

    def stored(make: Callable[[NDArray[np.float32]], Column], precision: str) -> PageTables:
        scores, polarity = make(exact.scores), make(exact.polarity.reshape(len(exact.polarity), -1))
        rounded = Tables(scores.decoded(), polarity.decoded().reshape(exact.polarity.shape), exact.bias)
        difference = largest_difference(trained.task, exact, rounded, texts)
        return PageTables(scores, polarity, precision, TEXTS, difference)

    small = stored(in_16_bits, "16 bits")
    return small if small.difference <= MOST else stored(in_32_bits, "float32")


def in_16_bits(table: NDArray[np.float32]) -> Column:
    values = table.astype(np.float64)
    low = values.min(0)
    step = np.maximum((values.max(0) - low) / 65535, np.finfo(np.float64).tiny)
    return Column(low, step, np.round((values - low) / step).astype("<u2"))


def in_32_bits(table: NDArray[np.float32]) -> Column:
    return Column(np.zeros(table.shape[1]), None, table.astype("<f4"))


def largest_difference(task: Task, exact: Tables, rounded: Tables, texts: list[NDArray[np.int32]]) -> float:
    """Over the texts, and over every unit alone."""
    pairs = [(one.polarity.sum(1) + one.bias, logits_of(one, texts)) for one in (exact, rounded)]
    unit = task.scale if isinstance(task, Regression) else 1.0
    gaps = [np.abs(task.answers(one) - task.answers(other)).max() / unit for one, other in zip(*pairs, strict=True)]
    return float(max(gaps))


def logits_of(tables: Tables, texts: list[NDArray[np.int32]]) -> NDArray[np.float32]:
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    logits = np.empty((len(texts), len(tables.bias)), dtype=np.float32)
    attend(np.concatenate(texts), offsets, *tables, logits, np.empty(0, dtype=np.float32))
    return logits
