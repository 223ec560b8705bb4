"""How a corpus is changed before training, or made up: CORPUS_MAKERS, one function per row.

A maker takes the examples of one split (of a made-up corpus there are none), the name of the split, and its own keys from the
table. Random choices start at a fixed seed, so that every method and every seed of training sees the same texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from regard.data.words import forms
from regard.errors import InputError
from regard.records import Example
from regard_lab.signatures import Keyword, keywords

QUOTED = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")


def unquoted(examples: list[Example], split: str, *, least: int = 1) -> list[Example]:
    """Posts without quoted lines and signatures; those with fewer than `least` words left are left out."""
    if least < 1:
        raise InputError(f"unquoted: least = {least}; 1 or more is accepted")
    made = [replace(example, text=without_signature(without_quotes(example.text))) for example in examples]
    return [example for example in made if len(forms(example.text)) >= least]


def without_quotes(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not QUOTED.search(line))


def without_signature(text: str) -> str:
    """Cut at the last line that is empty or a rule of hyphens; a post of one paragraph stays."""
    lines = text.strip().split("\n")
    rules = [place for place, line in enumerate(lines) if not line.strip().strip("-")]
    return "\n".join(lines[: rules[-1]]) if rules and rules[-1] > 0 else text


def sided(examples: list[Example], split: str, *, low: float, high: float) -> list[Example]:
    """Labels of up to `low` become 0, those of `high` or more become 1."""
    if not low < high:
        raise InputError(f"sided: low = {low} and high = {high}; a low below the high is accepted")
    made = []
    for example in examples:
        try:
            rating = float(str(example.label))
        except ValueError:
            raise InputError(f"sided: the label {example.label!r} is no number, as ratings are") from None
        if rating <= low or rating >= high:
            made.append(replace(example, label="1" if rating >= high else "0"))
    return made


SPLITS = ("train", "dev", "test")


def padded(examples: list[Example], split: str, *, length: int, filler: str = "_") -> list[Example]:
    """Fill texts up to `length` words by a word that says nothing: what a model sees that takes padding for words."""
    if length < 1 or len(forms(filler)) != 1:
        raise InputError(f"padded: length = {length} and filler = {filler!r}; 1 or more, and one word, are accepted")
    made = []
    for example in examples:
        missing = length - len(forms(example.text))
        made.append(replace(example, text=example.text + f" {filler}" * missing) if missing > 0 else example)
    return made


def part(examples: list[Example], split: str, *, texts: int, seed: int | None = None) -> list[Example]:
    """The first `texts` to learn from, or some by chance where a seed is given; what is tested on stays whole."""
    if texts < 2:
        raise InputError(f"part: texts = {texts}; 2 or more are accepted")
    if split != "train" or texts >= len(examples):
        return examples
    if seed is None:
        return examples[:texts]
    chosen = np.random.default_rng((seed, SPLITS.index(split))).permutation(len(examples))[:texts]
    return [examples[place] for place in sorted(chosen)]


def balanced(
    examples: list[Example], split: str, *, ratio: float = 1.0, texts: int | None = None, seed: int = 0
) -> list[Example]:
    """As many of each class, in all as many as `skewed` has with the same keys, none twice."""
    counts = Counter(example.label for example in examples)
    total = largest(counts, ratio, texts)
    return resampled(examples, shared_out(total, [1.0] * len(counts)), seed, split)


def skewed(
    examples: list[Example], split: str, *, ratio: float, texts: int | None = None, seed: int = 0
) -> list[Example]:
    """Each class `ratio` times as frequent as the one before it (in the order of their names), none twice."""
    counts = Counter(example.label for example in examples)
    total = largest(counts, ratio, texts)
    return resampled(examples, shared_out(total, geometric(len(counts), ratio)), seed, split)


def geometric(classes: int, ratio: float) -> list[float]:
    if not 0 < ratio < float("inf"):
        raise InputError(f"ratio = {ratio}: a number above 0 is accepted")
    return [float(ratio) ** k for k in range(classes)]


def largest(counts: Counter[Any], ratio: float, texts: int | None) -> int:
    """How many texts both a balanced and a skewed corpus can have out of these."""
    if len(counts) < 2:
        raise InputError(f"balanced and skewed need texts of two classes or more; {len(counts)} found")
    there = [counts[label] for label in sorted(counts, key=str)]
    total = sum(there) if texts is None else min(texts, sum(there))
    for weights in ([1.0] * len(there), geometric(len(there), ratio)):
        while total and any(want > have for want, have in zip(shared_out(total, weights), there, strict=True)):
            most = min(have * sum(weights) / weight for have, weight in zip(there, weights, strict=True))
            total = min(total - 1, int(most) + len(there))
    return total


def shared_out(total: int, weights: Sequence[float]) -> list[int]:
    """A whole number in proportion to the weights: the largest remainders get what rounding down leaves."""
    exact = [total * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in exact]
    order = sorted(range(len(exact)), key=lambda k: (counts[k] - exact[k], k))
    for k in order[: total - sum(counts)]:
        counts[k] += 1
    return counts


def resampled(examples: list[Example], counts: Sequence[int], seed: int, split: str) -> list[Example]:
    """So many of each class (in the order of their names), by chance, in the order given."""
    chance = np.random.default_rng((seed, SPLITS.index(split)))
    kept: list[int] = []
    for label, count in zip(sorted({example.label for example in examples}, key=str), counts, strict=True):
        places = [place for place, example in enumerate(examples) if example.label == label]
        kept += chance.permutation(places)[:count].tolist()
    return [examples[place] for place in sorted(kept)]


class World(TypedDict, total=False):
    """Of made-up texts; what is left out is as in MADE_UP."""

    number: int  # of classes
    tokens: int  # of each class
    neutral: int
    length: int
    evidence: int
    ratio: float
    noisy: float
    crossing: float


SYNTHETIC_DEFAULTS: World = {"number": 3, "tokens": 50, "neutral": 1000, "length": 12, "evidence": 2}
SYNTHETIC_DEFAULTS |= {"ratio": 1.0, "noisy": 0.2, "crossing": 0.1}


def synthetic(
    examples: list[Example],
    split: str,
    *,
    data: Literal["one", "two", "classes"] = "one",
    texts: int,
    seed: int = 0,
    chosen: Literal["dev", "last"] = "dev",
    **world: Unpack[World],
) -> list[Example]:
    """Made-up texts of `data/synthetic`: `texts` to learn from, a fifth as many, drawn anew, to stop by and to test.

    `chosen = "last"`: there are none to stop by, and the last epoch counts.
    """
    from regard.data.synthetic import TwoClasses, classes, data_one, data_two

    if split == "dev" and chosen == "last":
        return []
    count = texts if split == "train" else max(texts // 5, 2)
    start = seed * len(SPLITS) + SPLITS.index(split)
    made: World = {**SYNTHETIC_DEFAULTS, **world}
    of_all = {"neutral": made["neutral"], "length": made["length"], "evidence": made["evidence"]}
    if data == "classes":
        return classes(made["number"], count, start, tokens=made["tokens"], **of_all)
    sides = TwoClasses(made["tokens"], made["tokens"], ratio=made["ratio"], **of_all)
    if data == "one":
        return data_one(count, start, sides)
    return data_two(count, start, sides, noisy=made["noisy"], crossing=made["crossing"])


CORPUS_MAKERS: dict[str, Callable[..., list[Example]]] = {
    "padded": padded,
    "part": part,
    "balanced": balanced,
    "skewed": skewed,
    "unquoted": unquoted,
    "sided": sided,
    "synthetic": synthetic,
}


def keys_of(maker: str) -> dict[str, Keyword]:
    """The keys of a maker, after the examples and the split."""
    return keywords(CORPUS_MAKERS[maker], skip=2)
