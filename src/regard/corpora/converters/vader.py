"""VADER's ground truth (Hutto and Gilbert 2014): KIND_GroundTruth.txt with id, mean rating (−4 to 4) and text."""

from __future__ import annotations

import math

from regard.corpora.converters.semeval import HANDLE
from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, divided, without_repeats

KINDS = {
    "vader_tweets": "tweets",
    "vader_amazon": "amazonReviewSnippets",
    "vader_movies": "movieReviewSnippets",
    "vader_nyt": "nytEditorialSnippets",
}


def convert(source: Source, name: str) -> Splits:
    rows: list[Record] = []
    deviations: dict[str, float] = {}
    for file in source.files(rf"/{KINDS[name]}_(GroundTruth|anonDataRatings)\.txt$"):
        for number, line in file.filled_lines(latin=True):
            id, *fields = line.split("\t")
            if file.group(1) == "anonDataRatings":
                if len(fields) > 1 and _number(fields[1]) is not None:
                    deviations[id] = float(fields[1])
            else:
                rows.append(_row(file, number, id, fields, anonymous=name == "vader_tweets"))
    if not rows:
        return {}
    rows = [{**row, "rating_sd": deviations[row["id"]]} if row["id"] in deviations else row for row in rows]
    documents = divided(
        [{"doc": doc} for doc in dict.fromkeys(row["doc"] for row in rows)], lambda row: None, (0.8, 0.1, 0.1)
    )
    split_of = {document["doc"]: split for split, members in documents.items() for document in members}
    return without_repeats({split: [row for row in rows if split_of[row["doc"]] == split] for split in documents})


def _row(file: File, number: int, id: str, fields: list[str], anonymous: bool) -> Record:
    rating = _number(fields[0]) if len(fields) == 2 else None
    if rating is None:
        raise file.error(number, "expected id, mean rating and text, separated by tabs")
    text = HANDLE.sub("@user", fields[1]) if anonymous else fields[1]
    return {"id": id, "text": text.strip(), "rating": rating, "doc": id.split("_")[0]}


def _number(field: str) -> float | None:
    try:
        value = float(field)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
