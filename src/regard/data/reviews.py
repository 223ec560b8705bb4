"""A built-in corpus of reviews with 1 to 5 stars, composed of sentences in reviews.json; the deciding words are known.

A review is about one thing (a restaurant, a book …) in 3 to 7 sentences, 1 to 3 of them neutral. The others express an
opinion of strength −2, −1, +1 or +2, and the mean of these strengths determines the stars (see `stars`). The deciding
words, marked with [brackets] in the bank, are the evidence; {slots} are filled anew each time. Sentences are in random
order, so that positions carry no information.

Randomness comes from Python's `random.Random(seed).random()`, which is documented to give the same numbers in every
version; numpy's generators and Python's other methods are not.
"""

from __future__ import annotations

import json
import random
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeVar

from regard.data.synthetic import Deck, check_whole, shuffled
from regard.records import Example, Span

T = TypeVar("T")

STRENGTHS = (-2, -1, 1, 2)
SHAPES = tuple((neutral, opinions) for neutral in (1, 2, 3) for opinions in range(2, 7) if neutral + opinions <= 7)
EDGES = (-1.25, -0.5, 0.5, 1.25)
MARGIN = 0.15  # no review is written whose mean strength is nearer than this to an edge between two stars
EVERYWHERE = "any"  # the domain of sentences that fit every review
MARK = re.compile(r"\[(?P<word>[^\[\]{}]+)\]|\{(?P<slot>\w+)\}")


def reviews(count: int, seed: int = 0) -> list[Example]:
    """`count` different reviews from the whole bank, balanced over the stars; labels "1" to "5"."""
    check_whole("count", count, least=1)
    check_whole("seed", seed, least=0)
    return _compose(count, random.Random(seed), heldout=0.2, seen=set())  # 0.2: their share of the bank


def splits(seed: int = 0, train: int = 1600, dev: int = 200, test: int = 200) -> dict[str, list[Example]]:
    """Three sets of reviews without a text in common.

    Every fifth opinion sentence of the bank is held out of `train`; three in ten opinions of `dev` and `test` are such
    sentences, so that memorising sentences isn't enough. `test` doesn't depend on the sizes of the others.
    """
    for name, size in {"train": train, "dev": dev, "test": test}.items():
        check_whole(name, size, least=1)
    check_whole("seed", seed, least=0)
    rng = random.Random(seed)
    seen: set[str] = set()
    tests = _compose(test, rng, heldout=0.3, seen=seen)
    devs = _compose(dev, rng, heldout=0.3, seen=seen)
    return {"train": _compose(train, rng, heldout=0.0, seen=seen), "dev": devs, "test": tests}


def stars(strengths: Sequence[int]) -> int:
    """The mean strength as stars: 1 below −1.25, 2 below −0.5, 3 below 0.5, 4 below 1.25, else 5."""
    return 1 + bisect_right(EDGES, sum(strengths) / len(strengths))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A line of the bank: its topic, its strength (0: no opinion), and whether it is held out of training."""

    domain: str
    strength: int
    template: str
    heldout: bool


@dataclass(frozen=True)
class Bank:
    sentences: tuple[Sentence, ...]
    slots: dict[str, list[str]]

    @property
    def domains(self) -> list[str]:
        return [name for name in dict.fromkeys(sentence.domain for sentence in self.sentences) if name != EVERYWHERE]


@cache
def bank() -> Bank:
    """The sentences of reviews.json in the order of the file; of the opinions every fifth is held out."""
    stored = json.loads(Path(__file__).with_name("reviews.json").read_text(encoding="utf-8"))
    sentences = []
    opinions = 0
    for domain, kinds in stored["sentences"].items():
        for kind, templates in kinds.items():
            strength = 0 if kind == "neutral" else int(kind)
            for template in templates:
                opinions += strength != 0
                sentences.append(Sentence(domain, strength, template, strength != 0 and opinions % 5 == 0))
    return Bank(tuple(sentences), stored["slots"])


@cache
def _pool(domain: str, strength: int, heldout: bool) -> tuple[Sentence, ...]:
    """The sentences of this strength that fit a review of `domain`."""
    return tuple(
        sentence
        for sentence in bank().sentences
        if sentence.domain in (domain, EVERYWHERE) and (sentence.strength, sentence.heldout) == (strength, heldout)
    )


@cache
def _mixtures(opinions: int, star: int) -> list[tuple[int, ...]]:
    """All combinations of strengths of `opinions` sentences that clearly give the review this star."""
    return [
        strengths
        for strengths in product(STRENGTHS, repeat=opinions)
        if stars(strengths) == star and all(abs(sum(strengths) / opinions - edge) >= MARGIN for edge in EDGES)
    ]


def _compose(count: int, rng: random.Random, heldout: float, seen: set[str]) -> list[Example]:
    """`count` reviews that aren't in `seen` yet, `heldout` of whose opinions are held-out sentences."""
    turns = Deck(5, rng)
    examples: list[Example] = []
    while len(examples) < count:
        star = 1 + turns.deal(1)[0]
        text, evidence = _write(star, rng, heldout)
        while text in seen:
            text, evidence = _write(star, rng, heldout)
        seen.add(text)
        examples.append(Example(text=text, label=str(star), row=len(examples) + 1, evidence=evidence))
    return examples


def _write(star: int, rng: random.Random, heldout: float) -> tuple[str, tuple[Span, ...]]:
    """One review: its sentences, joined by spaces, and the spans of its deciding words."""
    domain = _pick(bank().domains, rng)
    neutral, opinions = _pick(SHAPES, rng)
    chosen: list[Sentence] = []
    for strength in [0] * neutral + list(_pick(_mixtures(opinions, star), rng)):
        use_heldout = strength != 0 and rng.random() < heldout
        free = [sentence for sentence in _pool(domain, strength, use_heldout) if sentence not in chosen]
        # The few held-out sentences of one strength can run out within a review; the others can't.
        free = free or [sentence for sentence in _pool(domain, strength, False) if sentence not in chosen]
        chosen.append(_pick(free, rng))
    text = ""
    spans: list[Span] = []
    for sentence in shuffled(chosen, rng):
        start = len(text) + (text != "")
        written, marked = fill(sentence.template, rng)
        spans += [(start + first, start + last) for first, last in marked]
        text = f"{text} {written}" if text else written
    return text, tuple(spans)


def fill(template: str, rng: random.Random) -> tuple[str, list[Span]]:
    """The finished sentence, with a different filler for each slot, and the spans of its marked words."""
    fillers: dict[str, list[str]] = {}
    text = ""
    spans: list[Span] = []
    at = 0
    for mark in MARK.finditer(template):
        text += template[at : mark.start()]
        at = mark.end()
        if mark["word"]:
            spans.append((len(text), len(text) + len(mark["word"])))
            text += mark["word"]
        else:
            if mark["slot"] not in fillers:
                fillers[mark["slot"]] = shuffled(bank().slots[mark["slot"]], rng)
            text += fillers[mark["slot"]].pop()
    text += template[at:]
    return text[0].upper() + text[1:], spans


def _pick(items: Sequence[T], rng: random.Random) -> T:
    return items[int(rng.random() * len(items))]
