"""Made-up reviews by users and of items whose effects are known: rating = mean + user effect + item effect + noise.

A user is mild or strict, an item good or bad, each by a known amount: the quantiles of a normal distribution, dealt out
in random order. Of a review's sentences one speaks of the item (words g0 … or b0 …), one shows the user's tone (m0 … or
s0 …), both among neutral words (o0 …); the others are neutral, and so is all of a silent review. A word about an item is
a good one with probability σ(slope · effect / spread), and in the same way a word of tone is a mild one; the noise is in
no text. So the other reviews of a user show that user's effect, the other reviews of an item that item's, and nothing
shows the noise, whose deviation is the floor that no reader gets below.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

from regard.data.meetings import Meeting
from regard.data.ratings import Rating
from regard.data.synthetic import Deck, check_share, check_whole, shuffled
from regard.errors import InputError

MEAN = 3.0
GRID = [(place + 0.5) / 200 for place in range(200)]  # quantiles at which an effect's posterior is looked at


@dataclass(frozen=True)
class World:
    """Reviews in random order, and the truth behind them."""

    ratings: list[Rating]
    users: Mapping[str, float]  # effects
    items: Mapping[str, float]
    user_spread: float
    item_spread: float
    noise: float
    slope: float


def world(
    users: int = 120,
    items: int = 60,
    each: int = 10,
    seed: int = 0,
    *,
    user_spread: float = 0.6,
    item_spread: float = 0.8,
    noise: float = 0.4,
    slope: float = 1.5,
    sentences: int = 4,
    length: int = 8,
    evidence: int = 4,
    silent: float = 0.3,
    kind: int = 10,
    neutral: int = 50,
) -> World:
    """`each` reviews by every user, of different items, which are all reviewed equally often, give or take one.

    There are `kind` different words of each of the four kinds, and `neutral` ones: the fewer, the less a text can be
    recognised by.
    """
    for name, whole, least in (("users", users, 2), ("items", items, 2), ("each", each, 1), ("seed", seed, 0)):
        check_whole(name, whole, least)
    check_whole("kind", kind, 1)
    check_whole("neutral", neutral, 1)
    check_whole("sentences", sentences, 2)
    check_whole("evidence", evidence, 1)
    check_whole("length", length, evidence)
    check_share("silent", silent)
    if each > items:
        raise InputError(f"each is {each}, but there are {items} items; accepted: at most as many as items")
    for name, size in (("user_spread", user_spread), ("item_spread", item_spread), ("noise", noise), ("slope", slope)):
        if not 0 < size < math.inf:
            raise InputError(f"{name} is {size}; accepted: a finite number above 0")
    rng = random.Random(seed)
    tones = effects("u", users, user_spread, rng)
    qualities = effects("i", items, item_spread, rng)
    deck = Deck(items, rng)
    found = []
    for user, tone in tones.items():
        for card in deck.deal(each):
            item = f"i{card}"
            value = MEAN + tone + qualities[item] + noise * normal(rng)
            if rng.random() < silent:
                saying: list[list[str]] = []
            else:
                saying = [
                    said("gb", qualities[item] / item_spread * slope, evidence, kind, rng),
                    said("ms", tone / user_spread * slope, evidence, kind, rng),
                ]
            found.append(Rating(user, item, value, write(saying, sentences, length, neutral, rng)))
    mixed = shuffled(found, rng)
    rows = [Rating(x.user, x.item, x.value, x.text, row) for row, x in enumerate(mixed, 1)]
    return World(rows, tones, qualities, user_spread, item_spread, noise, slope)


def effects(letter: str, count: int, spread: float, rng: random.Random) -> dict[str, float]:
    quantiles = [spread * NormalDist().inv_cdf((place + 0.5) / count) for place in range(count)]
    return {f"{letter}{place}": effect for place, effect in enumerate(shuffled(quantiles, rng))}


def normal(rng: random.Random) -> float:
    """By `random()` alone, whose numbers are the same in every version."""
    return NormalDist().inv_cdf(min(max(rng.random(), 1e-12), 1 - 1e-12))


def said(letters: str, logit: float, count: int, kind: int, rng: random.Random) -> list[str]:
    """So many words of the first or the second kind."""
    share = logistic(logit)
    return [f"{letters[rng.random() >= share]}{int(rng.random() * kind)}" for _ in range(count)]


def write(saying: Sequence[Sequence[str]], sentences: int, length: int, neutral: int, rng: random.Random) -> str:
    """A sentence for each list of words that say something, filled up with neutral words, and neutral sentences."""
    lines = []
    for words in [*saying, *([()] * (sentences - len(saying)))]:
        filling = [f"o{int(rng.random() * neutral)}" for _ in range(length - len(words))]
        lines.append(" ".join(shuffled([*words, *filling], rng)) + ".")
    return " ".join(shuffled(lines, rng))


def logistic(value: float) -> float:
    """Never 0, of which there is no logarithm: beyond e⁷⁰⁰ an exponential is near its end."""
    return 1 / (1 + math.exp(min(-value, 700.0)))


def ideal(world: World, known: Sequence[Rating], meetings: Iterable[Meeting]) -> list[float]:
    """The best guess of each rating from the reviews that may be read, by one who knows how they were written.

    The mean of the rating given the counts of words: what a reader could reach, above the noise.
    """
    return [
        MEAN
        + expected([known[place].text for place in meeting.user], "ms", world.slope, world.user_spread)
        + expected([known[place].text for place in meeting.item], "gb", world.slope, world.item_spread)
        for meeting in meetings
    ]


def expected(texts: Iterable[str], letters: str, slope: float, spread: float) -> float:
    """An effect's mean given the words of these texts."""
    words = [word[0] for text in texts for word in text.split()]
    return spread * posterior(words.count(letters[0]), words.count(letters[1]), slope)


@cache
def posterior(first: int, second: int, slope: float) -> float:
    """The mean of a standard normal z given so many words of either kind, the first with probability σ(slope · z)."""
    points = [NormalDist().inv_cdf(share) for share in GRID]
    heights = [
        first * math.log(logistic(slope * point)) + second * math.log(logistic(-slope * point)) for point in points
    ]
    weights = [math.exp(height - max(heights)) for height in heights]
    return sum(weight * point for weight, point in zip(weights, points, strict=True)) / sum(weights)
