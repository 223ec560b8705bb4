"""Multi-domain sentiment (Blitzer, Dredze and Pereira 2007): DOMAIN/positive.review and negative.review.

The files look like XML but are not: every tag is on a separate line, and nothing between the tags is escaped reliably.
Names of reviewers are replaced by numbers, and their location is left out.
"""

from __future__ import annotations

import html
import re

from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, divided

PATTERN = r"/([^/]+)/(positive|negative)\.review$"
TAG = re.compile(r"</?([a-z_]+)>")


def convert(source: Source) -> Splits:
    rows: list[Record] = []
    users: dict[str, int] = {}
    seen: set[str] = set()
    for file in source.files(PATTERN):
        for number, fields in _reviews(file):
            row = _row(file, number, fields, users)
            if row["text"] not in seen:
                seen.add(row["text"])
                rows.append(row)
    return divided(rows, lambda row: (row["domain"], row["rating"]), (0.7, 0.1, 0.2))


def _reviews(file: File) -> list[tuple[int, dict[str, str]]]:
    """The fields of every review, with the line on which it ends."""
    reviews: list[tuple[int, dict[str, str]]] = []
    fields: dict[str, str] = {}
    inside, held = "", []  # the field that is being read
    for number, line in file.lines(latin=True):
        tag = TAG.fullmatch(line.strip())
        if inside and (tag is None or tag.group(1) != inside):
            held.append(line)
        elif inside:
            fields.setdefault(inside, "\n".join(held).strip())  # unique_id occurs twice
            inside, held = "", []
        elif tag and tag.group(1) == "review":
            if fields:
                reviews.append((number, fields))
            fields = {}
        elif tag and not line.strip().startswith("</") and tag.group(1) != "reviews":
            inside = tag.group(1)
    return reviews


def _row(file: File, number: int, fields: dict[str, str], users: dict[str, int]) -> Record:
    values = {name: html.unescape(value) for name, value in fields.items()}
    if values.get("rating") not in ("1.0", "2.0", "3.0", "4.0", "5.0"):
        raise file.error(number, f"expected a rating from 1.0 to 5.0, got {values.get('rating')!r}")
    rating, reviewer = float(values["rating"]), values.get("reviewer", "")
    return {
        "text": values.get("review_text", ""),
        "title": values.get("title", ""),
        "rating": rating,
        "label": int(rating > 3),
        "domain": file.group(1).split("_")[0],
        "item": values.get("asin", ""),
        "user": users.setdefault(reviewer, len(users)) if reviewer else None,
        "date": values.get("date", ""),
        "helpful": values.get("helpful", ""),
    }
