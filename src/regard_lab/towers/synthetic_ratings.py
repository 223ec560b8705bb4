"""Synthetic reviews by users and of items whose effects are known: rating = mean + user effect + item effect + noise.

A user is mild or strict, an item good or bad, each by a known amount: the quantiles of a normal distribution in random
order. One sentence of a review is about the item (words g0 … or b0 …), one shows the user's tone (m0 … or s0 …), both
among neutral words (o0 …); the others are neutral, and so is all of a silent review. A word about an item is a good one
with probability σ(slope · effect / spread), and a word of tone is a mild one in the same way; the noise is in no text. So
the other reviews of a user show that user's effect, the other reviews of an item that item's, and nothing shows the
noise, whose standard deviation is a lower bound of every reader's error.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

from regard.data.synthetic import Deck, check_share, check_whole, shuffled
from regard.errors import InputError
from regard_lab.towers.ratings import Rating, ReviewContext

MEAN = 3.0
GRID = [(step + 0.5) / 200 for step in range(200)]  # quantiles at which the posterior of an effect is evaluated


@dataclass(frozen=True)
class WorldOptions:
    """How the reviews are generated; with few distinct words, a text can hardly be recognised by its words."""

    users: int = 120
    items: int = 60
    each: int = 10  # reviews per user
    user_spread: float = 0.6  # standard deviation of the users' effects
    item_spread: float = 0.8  # and of the items'
    noise: float = 0.4  # standard deviation
    slope: float = 1.5  # how clearly words show an effect
    sentences: int = 4  # per review
    length: int = 8  # words per sentence
    evidence: int = 4  # words that show an effect, in a sentence that shows one
    silent: float = 0.3  # share of reviews that show nothing
    kind: int = 10  # distinct words of each of the four kinds
    neutral: int = 50  # distinct neutral words


WORLD_OPTIONS = WorldOptions()


@dataclass(frozen=True)
class World:
    """Reviews in random order, and the effects that they were generated from."""

    ratings: list[Rating]
    users: Mapping[str, float]  # effects
    items: Mapping[str, float]
    user_spread: float
    item_spread: float
    noise: float
    slope: float


def world(options: WorldOptions = WORLD_OPTIONS, seed: int = 0) -> World:
    """Every user reviews `each` different items, and all items are reviewed equally often, give or take one."""
    check(options)
    check_whole("seed", seed, 0)
    rng = random.Random(seed)
    tones = effects("u", options.users, options.user_spread, rng)
    qualities = effects("i", options.items, options.item_spread, rng)
    deck = Deck(options.items, rng)
    ratings = []
    for user, tone in tones.items():
        for card in deck.deal(options.each):
            item = f"i{card}"
            value = MEAN + tone + qualities[item] + options.noise * normal(rng)
            ratings.append(Rating(user, item, value, review(qualities[item], tone, options, rng)))
    mixed = shuffled(ratings, rng)
    rows = [Rating(x.user, x.item, x.value, x.text, row) for row, x in enumerate(mixed, 1)]
    return World(rows, tones, qualities, options.user_spread, options.item_spread, options.noise, options.slope)


def check(options: WorldOptions) -> None:
    least = {"users": 2, "items": 2, "each": 1, "kind": 1, "neutral": 1, "sentences": 2, "evidence": 1}
    for name, bound in {**least, "length": options.evidence}.items():
        check_whole(name, getattr(options, name), bound)
    check_share("silent", options.silent)
    if options.each > options.items:
        raise InputError(f"each: expected at most the number of items, {options.items}, got {options.each}")
    for name in ("user_spread", "item_spread", "noise", "slope"):
        if not 0 < getattr(options, name) < math.inf:
            raise InputError(f"{name}: expected a finite number above 0, got {getattr(options, name)}")


def effects(letter: str, count: int, spread: float, rng: random.Random) -> dict[str, float]:
    quantiles = [spread * NormalDist().inv_cdf((index + 0.5) / count) for index in range(count)]
    return {f"{letter}{index}": effect for index, effect in enumerate(shuffled(quantiles, rng))}


def normal(rng: random.Random) -> float:
    """By `random()` alone, which gives the same numbers in every version of Python."""
    return NormalDist().inv_cdf(min(max(rng.random(), 1e-12), 1 - 1e-12))


def review(quality: float, tone: float, options: WorldOptions, rng: random.Random) -> str:
    """One sentence about the item, one in the user's tone, unless the review is silent; the others are neutral."""
    evidence: list[list[str]] = []
    if rng.random() >= options.silent:
        evidence.append(evidence_words("gb", quality / options.item_spread * options.slope, options, rng))
        evidence.append(evidence_words("ms", tone / options.user_spread * options.slope, options, rng))
    sentences = []
    for words in [*evidence, *([[]] * (options.sentences - len(evidence)))]:
        filling = [f"o{int(rng.random() * options.neutral)}" for _ in range(options.length - len(words))]
        sentences.append(" ".join(shuffled([*words, *filling], rng)) + ".")
    return " ".join(shuffled(sentences, rng))


def evidence_words(letters: str, logit: float, options: WorldOptions, rng: random.Random) -> list[str]:
    """Words of the first or the second kind."""
    share = logistic(logit)
    return [f"{letters[rng.random() >= share]}{int(rng.random() * options.kind)}" for _ in range(options.evidence)]


def logistic(value: float) -> float:
    """Never 0, which has no logarithm; the exponential overflows a little beyond e⁷⁰⁰."""
    return 1 / (1 + math.exp(min(-value, 700.0)))


def ideal(world: World, known: Sequence[Rating], contexts: Iterable[ReviewContext]) -> list[float]:
    """The optimal prediction of each rating from the reviews that may be read: its mean given the counts of words."""
    return [
        MEAN
        + expected([known[index].text for index in context.user], "ms", world.slope, world.user_spread)
        + expected([known[index].text for index in context.item], "gb", world.slope, world.item_spread)
        for context in contexts
    ]


def expected(texts: Iterable[str], letters: str, slope: float, spread: float) -> float:
    """The mean of an effect given the words of these texts."""
    words = [word[0] for text in texts for word in text.split()]
    return spread * posterior(words.count(letters[0]), words.count(letters[1]), slope)


@cache
def posterior(first: int, second: int, slope: float) -> float:
    """The mean of a standard normal z given the number of words of either kind, the first with probability σ(slope · z)."""
    points = [NormalDist().inv_cdf(share) for share in GRID]
    heights = [
        first * math.log(logistic(slope * point)) + second * math.log(logistic(-slope * point)) for point in points
    ]
    weights = [math.exp(height - max(heights)) for height in heights]
    return sum(weight * point for weight, point in zip(weights, points, strict=True)) / sum(weights)
