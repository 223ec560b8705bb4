"""Texts of made-up tokens with known polarity: Sun & Lu (2020), supplement, sections C (Data I, II) and F (K classes).

A text holds a few tokens of its class and fills up with neutral ones. "Balanced and symmetric" is by construction:
tokens are dealt from shuffled packs, so that within a class every token stands equally often (give or take one), and
the classes are mirror images: for each text with p7 there is one with n7, among the same neutral tokens at the same
places. (Where one class has more texts than the other, the surplus has no mirror image.)
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from regard.errors import InputError
from regard.records import Example

T = TypeVar("T")


def data_one(
    texts: int,
    seed: int = 0,
    *,
    positive: int = 50,
    negative: int = 50,
    neutral: int = 1000,
    length: int = 12,
    evidence: int = 2,
    ratio: float = 1.0,
) -> list[Example]:
    """Data I: texts of `evidence` tokens of their own class (p0 …, n0 …), for the rest neutral ones (o0 …).

    Labels are "positive" and "negative"; `ratio` is the number of positive texts for one negative text.
    """
    counts = _two_counts(texts, ratio)
    return _deal(_two_sides(positive, negative, evidence), counts, seed, neutral, length, evidence)


def data_two(
    texts: int,
    seed: int = 0,
    *,
    positive: int = 50,
    negative: int = 50,
    neutral: int = 1000,
    length: int = 12,
    evidence: int = 2,
    ratio: float = 1.0,
    noisy: float = 0.2,
    crossing: float = 0.1,
) -> list[Example]:
    """Data II: Data I where the share `noisy` of each class's tokens (the first: p0 …) also stands in the other class.

    The share `crossing` of the texts has one such token in the place of a neutral one; it isn't evidence. The paper
    says "a few times" and no more. With the standing values every noisy token stands four times as often in its own
    class as in the other (γ = ±0.6), so that it still counts as a polarity token.
    """
    check_share("noisy", noisy)
    check_share("crossing", crossing)
    counts = _two_counts(texts, ratio)
    sides = _two_sides(positive, negative, evidence)
    strays = [round(noisy * len(side.tokens)) for side in sides]
    if crossing and not all(strays):
        raise InputError(
            f"noisy is {noisy}, which is no token of {positive} positive or of {negative} negative ones; "
            "accepted: a share of at least one token of each class, or a crossing of 0"
        )
    return _deal(sides, counts, seed, neutral, length, evidence, strays, crossing)


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
    return _deal(sides, counts, seed, neutral, length, evidence)


def shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    """A shuffled copy, by `random()` alone: Python promises the same numbers in every version of that one draw only."""
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


def _deal(
    sides: Sequence[Side],
    counts: Sequence[int],
    seed: int,
    neutral: int,
    length: int,
    evidence: int,
    strays: Sequence[int] = (),
    crossing: float = 0.0,
) -> list[Example]:
    """The texts of all sides, shuffled. Sides of one size share their deck, which is what makes them mirror images."""
    check_whole("seed", seed, least=0)
    check_whole("length", length, least=evidence + (crossing > 0))
    check_whole("neutral", neutral, least=length - evidence)
    rng = random.Random(seed)
    fill = Deck(neutral, rng)
    own = {size: Deck(size, rng) for size in sorted({len(side.tokens) for side in sides})}
    foreign = {size: Deck(size, rng) for size in sorted(set(strays))}
    examples = []
    for turn in range(max(counts)):
        crosses = _reached(turn + 1, crossing) > _reached(turn, crossing)
        places = shuffled(range(length), rng)
        hands = {size: deck.deal(evidence) for size, deck in own.items()}
        stray = {size: deck.deal(1)[0] for size, deck in foreign.items()} if crosses else {}
        filling = [f"o{card}" for card in fill.deal(length - evidence - crosses)]
        for k, side in enumerate(sides):
            if turn < counts[k]:
                deciding = [side.tokens[card] for card in hands[len(side.tokens)]]
                guest = [sides[1 - k].tokens[stray[strays[1 - k]]]] if crosses else []
                examples.append(_example(side.label, deciding, guest + filling, places))
    return [replace(example, row=row) for row, example in enumerate(shuffled(examples, rng), start=1)]


def _example(label: str, deciding: Sequence[str], rest: Sequence[str], places: Sequence[int]) -> Example:
    """The token number i of deciding + rest goes to places[i]."""
    words = [word for _, word in sorted(zip(places, [*deciding, *rest], strict=True))]
    spans = []
    start = 0
    for place, word in enumerate(words):
        if place in places[: len(deciding)]:
            spans.append((start, start + len(word)))
        start += len(word) + 1
    return Example(text=" ".join(words), label=label, evidence=tuple(spans))


def _two_sides(positive: int, negative: int, evidence: int) -> list[Side]:
    check_whole("evidence", evidence, least=1)
    check_whole("positive", positive, least=evidence)
    check_whole("negative", negative, least=evidence)
    return [
        Side("positive", tuple(f"p{i}" for i in range(positive))),
        Side("negative", tuple(f"n{i}" for i in range(negative))),
    ]


def _two_counts(texts: int, ratio: float) -> tuple[int, int]:
    check_whole("texts", texts, least=2)
    if not (math.isfinite(ratio) and ratio > 0):
        raise InputError(f"ratio is {ratio}; accepted: a finite number above 0 (positive texts for one negative text)")
    positives = round(texts * ratio / (1 + ratio))
    if not 0 < positives < texts:
        raise InputError(
            f"ratio is {ratio}, which leaves one class without a text among {texts}; "
            "accepted: a ratio nearer to 1, or more texts"
        )
    return positives, texts - positives


def _reached(turns: int, share: float) -> int:
    """How many of the first `turns` belong to a share, evenly spread; 1e-9 undoes rounding (0.29·100 < 29)."""
    return int(turns * share + 1e-9)


def check_whole(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is {value!r}; accepted: a whole number of at least {least}")


def check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value!r}; accepted: a share between 0 and 1")
