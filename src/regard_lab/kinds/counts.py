"""The kind "counts": numbers of a corpus, nothing trained (Sun & Lu, Table 1; supplement, Table 1).

A cell is one number: texts of a split, words a text, different words, or tokens of a type. `of_class` narrows texts and tokens
to one class, the first of which (in the order of their names) is 1; tokens without it are the neutral ones.
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
    "of_class": int,  # of a method: 1 is the first; 0 all texts, or neutral tokens
}
MEASURES = {"number": Measure("Number", 1, 0)}


def check(cell: Cell) -> None:
    counted, number = cell.options.get("counted"), cell.options.get("of_class", 0)
    if counted is None:
        raise InputError(
            f"{cell.name}: no `counted`; {', '.join((*SPLITS, 'length', 'vocabulary', 'tokens'))} is accepted"
        )
    if number < 0 or (number and counted in ("length", "vocabulary")):
        raise InputError(f"{cell.name}: of_class = {number}; 1 or more is accepted, with a split or tokens")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    from regard import __version__
    from regard.training.preparation import versions

    begun = time.perf_counter()
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    number = count(cell, prepared)
    facts: Row = {"values": {"number": number}, "data": prepared.data}
    facts["environment"] = {**versions(), "regard": __version__}
    share = (time.perf_counter() - begun) / len(seeds)
    for seed in seeds:  # chance takes no part
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
    """Of all splits together: words a text in the mean, or how many different ones there are; capitals as small letters."""
    from regard.data.words import forms

    found = [forms(example.text) for several in texts.values() for example in several]
    if counted == "length":
        return sum(map(len, found)) / len(found)
    return len({word for several in found for word in several})


def tokens(train: Sequence[Example], number: int, where: str) -> int:
    """How many tokens are tied to a class, or to none."""
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

    found = tuple(sorted({str(example.label) for example in train}, key=natural_order))
    if number > len(found):
        raise InputError(
            f"{where}: of_class = {number}; 1 to {len(found)}, the classes of the training texts, is accepted"
        )
    return found
