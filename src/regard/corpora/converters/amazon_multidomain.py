"""Multi-domain sentiment (Blitzer, Dredze and Pereira 2007): DOMAIN/positive.review and negative.review.

They look like XML and are not: a tag stands alone on its line, and nothing between the tags is escaped reliably. Names
of reviewers are replaced by numbers, and where they live is left out.
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
    """The fields of every review, and the line on which it ends."""
    found: list[tuple[int, dict[str, str]]] = []
    fields: dict[str, str] = {}
    inside, held = "", []  # the field that is being read
    for number, line in file.lines(latin=True):
        tag = TAG.fullmatch(line.strip())
        if inside and (tag is None or tag.group(1) != inside):
            held.append(line)
        elif inside:
            fields.setdefault(inside, "\n".join(held).strip())  # unique_id stands there twice
            inside, held = "", []
        elif tag and tag.group(1) == "review":
            if fields:
                found.append((number, fields))
            fields = {}
        elif tag and not line.strip().startswith("</") and tag.group(1) != "reviews":
            inside = tag.group(1)
    return found


def _row(file: File, number: int, fields: dict[str, str], users: dict[str, int]) -> Record:
    said = {name: html.unescape(value) for name, value in fields.items()}
    if said.get("rating") not in ("1.0", "2.0", "3.0", "4.0", "5.0"):
        raise file.fault(number, f"the rating of the review is {said.get('rating')!r}; 1.0 to 5.0 is expected")
    rating, reviewer = float(said["rating"]), said.get("reviewer", "")
    return {
        "text": said.get("review_text", ""),
        "title": said.get("title", ""),
        "rating": rating,
        "label": int(rating > 3),
        "domain": file.group(1).split("_")[0],
        "item": said.get("asin", ""),
        "user": users.setdefault(reviewer, len(users)) if reviewer else None,
        "date": said.get("date", ""),
        "helpful": said.get("helpful", ""),
    }
