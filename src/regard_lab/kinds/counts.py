"""The kind "counts": numbers of a corpus, without training (Sun & Lu, Table 1; supplement, Table 1).

A cell is one number: texts of a split, words per text, distinct words, or tokens of a type. `of_class` restricts texts and
tokens to one class, counted from 1 in the order of their names; without it, tokens are the neutral ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from regard.errors import InputError
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context
from regard_lab.tables.corpus_makers import SPLITS

if TYPE_CHECKING:
    from regard.records import Example
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

KEYS: Options = {
    "counted": Literal["train", "dev", "test", "length", "vocabulary", "tokens"],  # of a method
    "of_class": int,  # of a method: 1 is the first class; 0: all texts, or neutral tokens
}
MEASURES = {"number": Measure("Number", 1, 0)}


def check(cell: Cell) -> None:
    counted, number = cell.options.get("counted"), cell.options.get("of_class", 0)
    if counted is None:
        raise InputError(
            f"{cell.name}: counted: expected one of {', '.join((*SPLITS, 'length', 'vocabulary', 'tokens'))}, got nothing"
        )
    if number < 0 or (number and counted in ("length", "vocabulary")):
        raise InputError(f"{cell.name}: of_class: expected 1 or more, with a split or tokens, got {number}")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    from regard import __version__
    from regard.training.preparation import versions

    start = time.perf_counter()
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    number = count(cell, prepared)
    facts: Row = {"values": {"number": number}, "data": prepared.data}
    facts["environment"] = {**versions(), "regard": __version__}
    share = (time.perf_counter() - start) / len(seeds)
    for seed in seeds:  # nothing is random
        yield {"seed": seed, "seconds": share, **facts}


def count(cell: Cell, prepared: Prepared) -> float:
    counted, number = cell.options["counted"], cell.options.get("of_class", 0)
    splits = dict(zip(SPLITS, prepared.parts[:3], strict=True))
    texts = {split: list(part) for split, part in splits.items() if part is not None}
    if counted == "tokens":
        return tokens(texts["train"], number, cell.name)
    if counted in SPLITS:
        return len(texts.get(counted, ())) if not number else of_class(texts, counted, number, cell.name)
    return words(texts, counted)


def of_class(texts: Mapping[str, Sequence[Example]], split: str, number: int, where: str) -> int:
    label = classes(texts["train"], number, where)[number - 1]
    return sum(str(example.label) == label for example in texts.get(split, ()))


def words(texts: Mapping[str, Sequence[Example]], counted: str) -> float:
    """Over all splits: mean words per text, or the number of distinct words, in lower case."""
    from regard.data.words import forms

    tokenised = [forms(example.text) for split in texts.values() for example in split]
    if counted == "length":
        return sum(map(len, tokenised)) / len(tokenised)
    return len({word for text in tokenised for word in text})


def tokens(train: Sequence[Example], number: int, where: str) -> int:
    """The number of tokens of a class, or of neutral tokens."""
    import numpy as np

    from regard.analysis.token_types import token_types
    from regard.data.tokenizer import Tokenizer
    from regard.data.unit_texts import UnitTexts
    from regard.data.vocabulary import Vocabulary
    from regard.data.words import forms

    names = classes(train, number, where)
    tokenizer = Tokenizer(Vocabulary.build((forms(example.text) for example in train), min_count=1))
    labels = np.array([names.index(str(example.label)) for example in train])
    texts = UnitTexts.of(tokenizer, [example.text for example in train], labels)
    types = token_types(texts, len(tokenizer), names)
    return len(types.neutral if not number else types.of(names[number - 1]))


def classes(train: Sequence[Example], number: int, where: str) -> tuple[str, ...]:
    from regard.data.labels import natural_order

    names = tuple(sorted({str(example.label) for example in train}, key=natural_order))
    if number > len(names):
        raise InputError(
            f"{where}: of_class: expected 1 to {len(names)}, the number of classes of the training texts, got {number}"
        )
    return names
