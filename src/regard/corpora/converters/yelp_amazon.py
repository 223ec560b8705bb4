"""Yelp and Amazon reviews with stars: JSON lines of Yelp and of McAuley, or Yelp as the CSV of Zhang et al. (2015).

There are too many to hold in memory: a sample of all reviews with a text is drawn in one pass and split, stratified by
stars.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from regard.corpora.converters.ag_news import labelled_rows
from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, divided, sampled


class Sample(NamedTuple):
    size: int
    shares: tuple[float, float, float]  # train, dev, test


SAMPLES = {
    "yelp": Sample(50_000, (0.8, 0.1, 0.1)),
    "yelp_small": Sample(10_000, (0.7, 0.1, 0.2)),
    "amazon": Sample(50_000, (0.8, 0.1, 0.1)),
}
YELP = r"/(?:(train|test)\.csv|[^/]*review[^/]*\.jsonl?)$"
AMAZON = r"/(?!meta)[^/]+\.jsonl?$"

# our field -> its names in Yelp's file, in McAuley's of 2014 and 2018, and in that of 2023
FIELDS = {
    "id": ("review_id",),
    "title": ("summary", "title"),
    "item": ("business_id", "asin"),
    "user": ("user_id", "reviewerID"),
}
TEXT = ("text", "reviewText")
STARS = ("stars", "overall", "rating")


def convert(source: Source, name: str) -> Splits:
    files = source.files(AMAZON if name == "amazon" else YELP)
    return drawn(chain.from_iterable(map(_rows, files)), name)


def drawn(rows: Iterable[Record], name: str) -> Splits:
    sample = SAMPLES[name]
    return divided(sampled(rows, sample.size), lambda row: row["label"], sample.shares)


def _rows(file: File) -> Iterator[Record]:
    return _csv_rows(file) if file.name.removesuffix(".gz").endswith(".csv") else _json_rows(file)


def _json_rows(file: File) -> Iterator[Record]:
    for number, line in file.filled_lines():
        try:
            review = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise file.error(number, f"expected one JSON object per line, got what is not JSON ({problem})") from None
        if not isinstance(review, dict):
            raise file.error(number, f"expected a JSON object, got {type(review).__name__}")
        stars = _first(review, STARS)
        if isinstance(stars, bool) or not isinstance(stars, int | float) or stars not in (1, 2, 3, 4, 5):
            raise file.error(number, f"expected stars from 1 to 5 (fields {', '.join(STARS)}), got {stars!r}")
        text = _first(review, TEXT)
        if isinstance(text, str) and text.strip():  # McAuley's files have reviews without a text
            row = {"text": text, "label": int(stars) - 1, "rating": float(stars)}
            others = {field: _first(review, names) for field, names in FIELDS.items()}
            yield row | {field: value for field, value in others.items() if value is not None}


def _csv_rows(file: File) -> Iterator[Record]:
    for label, (text,) in labelled_rows(file, 1, 5):
        if text.strip():
            yield {"text": text.replace("\\n", "\n"), "label": label, "rating": label + 1.0}


def _first(review: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((review[name] for name in names if review.get(name) is not None), None)
