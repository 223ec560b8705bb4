"""Synthetic texts of tokens with known polarity: Sun & Lu (2020), supplement, sections C (Data I, II) and F (K classes).

A text has a few tokens of its class and is filled up with neutral ones. The data are balanced and symmetric by
construction: tokens are dealt from shuffled packs, so that within a class every token is used equally often (give or
take one), and the classes are mirror images: for each text with p7 there is one with n7, among the same neutral tokens at
the same positions. (If one class has more texts than the other, the surplus has no mirror image.)
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from regard.errors import InputError
from regard.records import Example

T = TypeVar("T")


@dataclass(frozen=True)
class TwoClasses:
    """How texts of two classes are made."""

    positive: int = 50  # distinct tokens of the positive class (p0 …)
    negative: int = 50  # of the negative class (n0 …)
    neutral: int = 1000  # and of neither (o0 …)
    length: int = 12  # tokens per text
    evidence: int = 2  # tokens of its class per text
    ratio: float = 1.0  # positive texts per negative text


TWO_CLASSES = TwoClasses()


def data_one(texts: int, seed: int = 0, options: TwoClasses = TWO_CLASSES) -> list[Example]:
    """Data I: texts with `evidence` tokens of their class among neutral ones, labelled "positive" or "negative"."""
    counts = _two_counts(texts, options.ratio)
    return _deal(_two_sides(options), counts, seed, Shape(options.neutral, options.length, options.evidence))


def data_two(
    texts: int,
    seed: int = 0,
    options: TwoClasses = TWO_CLASSES,
    *,
    noisy: float = 0.2,
    crossing: float = 0.1,
) -> list[Example]:
    """Data II: Data I where the share `noisy` of the tokens of each class (the first: p0 …) also occurs in the other.

    The share `crossing` of the texts has one such token instead of a neutral one; it is not evidence. The paper only
    says "a few times". With the default values every noisy token occurs four times as often in its class as in the
    other (γ = ±0.6), so that it still counts as a polarity token.
    """
    check_share("noisy", noisy)
    check_share("crossing", crossing)
    counts = _two_counts(texts, options.ratio)
    sides = _two_sides(options)
    strays = [round(noisy * len(side.tokens)) for side in sides]
    if crossing and not all(strays):
        raise InputError(
            f"noisy: expected a share of at least one token of each class, or crossing = 0, got {noisy} of "
            f"{options.positive} positive and {options.negative} negative tokens"
        )
    shape = Shape(options.neutral, options.length, options.evidence)
    return _deal(sides, counts, seed, shape, strays, crossing)


def classes(
    number: int,
    texts: int,
    seed: int = 0,
    *,
    tokens: int = 50,
    neutral: int = 1000,
    length: int = 12,
    evidence: int = 2,
) -> list[Example]:
    """Data I with `number` classes of `tokens` tokens each: c0t0 … in class "0". The paper's Figures 11–12 have 3."""
    check_whole("number", number, least=2)
    check_whole("texts", texts, least=number)
    check_whole("evidence", evidence, least=1)
    check_whole("tokens", tokens, least=evidence)
    sides = [Side(str(k), tuple(f"c{k}t{i}" for i in range(tokens))) for k in range(number)]
    counts = [texts // number + (k < texts % number) for k in range(number)]
    return _deal(sides, counts, seed, Shape(neutral, length, evidence))


def shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    """A shuffled copy, using only `random()`, which gives the same numbers in every version of Python."""
    mixed = list(items)
    for i in range(len(mixed) - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        mixed[i], mixed[j] = mixed[j], mixed[i]
    return mixed


class Deck:
    """Deals the numbers 0 … cards−1 so that each has been dealt equally often, give or take one."""

    def __init__(self, cards: int, rng: random.Random) -> None:
        self.cards = cards
        self.rng = rng
        self.pack: list[int] = []

    def deal(self, count: int) -> list[int]:
        """`count` different numbers, at most `cards`."""
        hand: list[int] = []
        again: list[int] = []
        while len(hand) < count:
            if not self.pack:
                self.pack = shuffled(range(self.cards), self.rng)
            card = self.pack.pop()
            (again if card in hand else hand).append(card)
        self.pack += again
        return hand


@dataclass(frozen=True, slots=True)
class Side:
    """A class: its label and its tokens."""

    label: str
    tokens: tuple[str, ...]


class Shape(NamedTuple):
    """How many neutral tokens there are, and how many tokens, and tokens of its class, a text has."""

    neutral: int
    length: int
    evidence: int


def _deal(
    sides: Sequence[Side],
    counts: Sequence[int],
    seed: int,
    shape: Shape,
    strays: Sequence[int] = (),
    crossing: float = 0.0,
) -> list[Example]:
    """The texts of all sides, shuffled. Sides of one size share their deck, which makes them mirror images."""
    neutral, length, evidence = shape
    check_whole("seed", seed, least=0)
    check_whole("length", length, least=evidence + (crossing > 0))
    check_whole("neutral", neutral, least=length - evidence)
    rng = random.Random(seed)
    fill = Deck(neutral, rng)
    evidence_decks = {size: Deck(size, rng) for size in sorted({len(side.tokens) for side in sides})}
    stray_decks = {size: Deck(size, rng) for size in sorted(set(strays))}
    examples = []
    for turn in range(max(counts)):
        crosses = _reached(turn + 1, crossing) > _reached(turn, crossing)
        positions = shuffled(range(length), rng)
        hands = {size: deck.deal(evidence) for size, deck in evidence_decks.items()}
        stray = {size: deck.deal(1)[0] for size, deck in stray_decks.items()} if crosses else {}
        filling = [f"o{card}" for card in fill.deal(length - evidence - crosses)]
        for k, side in enumerate(sides):
            if turn < counts[k]:
                deciding = [side.tokens[card] for card in hands[len(side.tokens)]]
                guest = [sides[1 - k].tokens[stray[strays[1 - k]]]] if crosses else []
                examples.append(_example(side.label, deciding, guest + filling, positions))
    return [replace(example, row=row) for row, example in enumerate(shuffled(examples, rng), start=1)]


def _example(label: str, deciding: Sequence[str], rest: Sequence[str], positions: Sequence[int]) -> Example:
    """Token i of deciding + rest goes to positions[i]."""
    words = [word for _, word in sorted(zip(positions, [*deciding, *rest], strict=True))]
    spans = []
    start = 0
    for position, word in enumerate(words):
        if position in positions[: len(deciding)]:
            spans.append((start, start + len(word)))
        start += len(word) + 1
    return Example(text=" ".join(words), label=label, evidence=tuple(spans))


def _two_sides(options: TwoClasses) -> list[Side]:
    check_whole("evidence", options.evidence, least=1)
    check_whole("positive", options.positive, least=options.evidence)
    check_whole("negative", options.negative, least=options.evidence)
    return [
        Side("positive", tuple(f"p{i}" for i in range(options.positive))),
        Side("negative", tuple(f"n{i}" for i in range(options.negative))),
    ]


def _two_counts(texts: int, ratio: float) -> tuple[int, int]:
    check_whole("texts", texts, least=2)
    if not (math.isfinite(ratio) and ratio > 0):
        raise InputError(f"ratio: expected a finite number above 0 (positive texts per negative text), got {ratio}")
    positives = round(texts * ratio / (1 + ratio))
    if not 0 < positives < texts:
        raise InputError(
            f"ratio: {ratio} leaves one class without a text among {texts}; use a ratio nearer to 1, or more texts"
        )
    return positives, texts - positives


def _reached(turns: int, share: float) -> int:
    """How many of the first `turns` are in an evenly spread share; 1e-9 undoes rounding (0.29·100 < 29)."""
    return int(turns * share + 1e-9)


def check_whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name}: expected a whole number of at least {least}, got {value!r}")


def check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{name}: expected a share between 0 and 1, got {value!r}")
