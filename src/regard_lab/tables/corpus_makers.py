"""Functions that change a corpus before training, or generate one: the table CORPUS_MAKERS.

A maker takes the examples of one split (none for synthetic corpora), the name of the split, and its keys from the
table. Random choices have a fixed seed, so that every method and every seed of training sees the same texts.
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
    """Posts without quoted lines and signatures; posts with fewer than `least` words left are dropped."""
    if least < 1:
        raise InputError(f"unquoted: expected least to be 1 or more, got {least}")
    cleaned = [replace(example, text=without_signature(without_quotes(example.text))) for example in examples]
    return [example for example in cleaned if len(forms(example.text)) >= least]


def without_quotes(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not QUOTED.search(line))


def without_signature(text: str) -> str:
    """Cut at the last line that is empty or consists of hyphens; a post of one paragraph stays unchanged."""
    lines = text.strip().split("\n")
    breaks = [index for index, line in enumerate(lines) if not line.strip().strip("-")]
    return "\n".join(lines[: breaks[-1]]) if breaks and breaks[-1] > 0 else text


def sided(examples: list[Example], split: str, *, low: float, high: float) -> list[Example]:
    """Labels of up to `low` become 0, those of `high` or more become 1."""
    if not low < high:
        raise InputError(f"sided: expected low to be below high, got low = {low} and high = {high}")
    kept = []
    for example in examples:
        try:
            rating = float(str(example.label))
        except ValueError:
            raise InputError(f"sided: expected a number as the label, got {example.label!r}") from None
        if rating <= low or rating >= high:
            kept.append(replace(example, label="1" if rating >= high else "0"))
    return kept


SPLITS = ("train", "dev", "test")


def padded(examples: list[Example], split: str, *, length: int, filler: str = "_") -> list[Example]:
    """Pad texts to `length` words with a meaningless word: what a model without masks would see."""
    if length < 1 or len(forms(filler)) != 1:
        raise InputError(f"padded: expected a length of 1 or more and one word as filler, got {length} and {filler!r}")
    texts = []
    for example in examples:
        lacking = length - len(forms(example.text))
        texts.append(replace(example, text=example.text + f" {filler}" * lacking) if lacking > 0 else example)
    return texts


def part(examples: list[Example], split: str, *, texts: int, seed: int | None = None) -> list[Example]:
    """The first `texts` training texts, or random ones if a seed is given; dev and test stay complete."""
    if texts < 2:
        raise InputError(f"part: expected texts to be 2 or more, got {texts}")
    if split != "train" or texts >= len(examples):
        return examples
    if seed is None:
        return examples[:texts]
    kept = np.random.default_rng((seed, SPLITS.index(split))).permutation(len(examples))[:texts]
    return [examples[index] for index in sorted(kept)]


def balanced(
    examples: list[Example], split: str, *, ratio: float = 1.0, texts: int | None = None, seed: int = 0
) -> list[Example]:
    """The same number of texts per class, in total as many as `skewed` has with the same keys, without replacement."""
    counts = Counter(example.label for example in examples)
    total = largest(counts, ratio, texts)
    return resampled(examples, apportion(total, [1.0] * len(counts)), seed, split)


def skewed(
    examples: list[Example], split: str, *, ratio: float, texts: int | None = None, seed: int = 0
) -> list[Example]:
    """Each class `ratio` times as frequent as the one before it (sorted by name), without replacement."""
    counts = Counter(example.label for example in examples)
    total = largest(counts, ratio, texts)
    return resampled(examples, apportion(total, geometric(len(counts), ratio)), seed, split)


def geometric(classes: int, ratio: float) -> list[float]:
    if not 0 < ratio < float("inf"):
        raise InputError(f"ratio: expected a finite number above 0, got {ratio}")
    return [float(ratio) ** k for k in range(classes)]


def largest(counts: Counter[Any], ratio: float, texts: int | None) -> int:
    """How many texts both a balanced and a skewed sample can have."""
    if len(counts) < 2:
        raise InputError(f"balanced and skewed: expected texts of two or more classes, got {len(counts)}")
    available = [counts[label] for label in sorted(counts, key=str)]
    total = sum(available) if texts is None else min(texts, sum(available))
    for weights in ([1.0] * len(available), geometric(len(available), ratio)):
        while total and any(want > have for want, have in zip(apportion(total, weights), available, strict=True)):
            most = min(have * sum(weights) / weight for have, weight in zip(available, weights, strict=True))
            total = min(total - 1, int(most) + len(available))
    return total


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Divide a whole number in proportion to the weights; the largest remainders get what rounding down leaves."""
    exact = [total * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in exact]
    order = sorted(range(len(exact)), key=lambda k: (counts[k] - exact[k], k))
    for k in order[: total - sum(counts)]:
        counts[k] += 1
    return counts


def resampled(examples: list[Example], counts: Sequence[int], seed: int, split: str) -> list[Example]:
    """Random examples, this many of each class (sorted by name), in their original order."""
    rng = np.random.default_rng((seed, SPLITS.index(split)))
    kept: list[int] = []
    for label, count in zip(sorted({example.label for example in examples}, key=str), counts, strict=True):
        indices = [index for index, example in enumerate(examples) if example.label == label]
        kept += rng.permutation(indices)[:count].tolist()
    return [examples[index] for index in sorted(kept)]


class SyntheticKeys(TypedDict, total=False):
    """Keys of synthetic texts; SYNTHETIC_DEFAULTS has the defaults."""

    number: int  # of classes
    tokens: int  # per class
    neutral: int
    length: int
    evidence: int
    ratio: float
    noisy: float
    crossing: float


SYNTHETIC_DEFAULTS: SyntheticKeys = {"number": 3, "tokens": 50, "neutral": 1000, "length": 12, "evidence": 2}
SYNTHETIC_DEFAULTS |= {"ratio": 1.0, "noisy": 0.2, "crossing": 0.1}


def synthetic(
    examples: list[Example],
    split: str,
    *,
    data: Literal["one", "two", "classes"] = "one",
    texts: int,
    seed: int = 0,
    chosen: Literal["dev", "last"] = "dev",
    **keys: Unpack[SyntheticKeys],
) -> list[Example]:
    """Synthetic texts of `data/synthetic`: `texts` for training, and a fifth as many other ones each for dev and test.

    `chosen = "last"`: there is no dev split, and the last epoch counts.
    """
    from regard.data.synthetic import TwoClasses, classes, data_one, data_two

    if split == "dev" and chosen == "last":
        return []
    count = texts if split == "train" else max(texts // 5, 2)
    start = seed * len(SPLITS) + SPLITS.index(split)
    options: SyntheticKeys = {**SYNTHETIC_DEFAULTS, **keys}
    shared = {"neutral": options["neutral"], "length": options["length"], "evidence": options["evidence"]}
    if data == "classes":
        return classes(options["number"], count, start, tokens=options["tokens"], **shared)
    two_classes = TwoClasses(options["tokens"], options["tokens"], ratio=options["ratio"], **shared)
    if data == "one":
        return data_one(count, start, two_classes)
    return data_two(count, start, two_classes, noisy=options["noisy"], crossing=options["crossing"])


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
    """The keys of a maker: its parameters after the examples and the split."""
    return keywords(CORPUS_MAKERS[maker], skip=2)
