"""IMDB (aclImdb, Maas et al. 2011): one review per file, train/pos/0_9.txt, where 0 is its number and 9 its stars."""

from __future__ import annotations

import re

from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits

PATTERN = r"/(train|test)/(?:(neg|pos)/(\d+)_(\d+)|urls_(neg|pos))\.txt$"
MOVIE = re.compile(r"tt\d+")


def convert(source: Source) -> Splits:
    reviews: dict[str, list[tuple[str, int, Record]]] = {}
    movies: dict[tuple[str, str], list[str]] = {}  # line n of urls_pos.txt names the movie of review n of pos
    for file in source.files(PATTERN):
        split, side = file.group(1), file.group(2)
        if not side:
            movies[split, file.group(5)] = [_movie(line) for _, line in file.lines()]
            continue
        number, stars = int(file.group(3)), int(file.group(4))
        row = {"id": f"{side}/{number}_{stars}", "text": file.text(), "label": int(side == "pos"), "rating": stars}
        reviews.setdefault(split, []).append((side, number, row))
    splits: dict[str, list[Record]] = {}
    for split in sorted(reviews, reverse=True):
        splits[split] = []
        for side, number, row in sorted(reviews[split], key=lambda entry: entry[:2]):
            names = movies.get((split, side), [])
            splits[split].append(row | {"item": names[number]} if number < len(names) else row)
    return splits


def _movie(line: str) -> str:
    match = MOVIE.search(line)
    return match.group() if match else line.strip()
