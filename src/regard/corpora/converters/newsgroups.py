"""20 Newsgroups by date (Lang 1995; Rennie): 20news-bydate-train/GROUP/NUMBER, one post with its header per file."""

from __future__ import annotations

import re

from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits

PATTERN = r"/20news-bydate-(train|test)/([^/]+)/(\d+)$"
SUBJECT = re.compile(r"^Subject:[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)


def convert(source: Source) -> Splits:
    posts: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        header, _, body = file.text(latin=True).partition("\n\n")
        subject = SUBJECT.search(header)
        title = subject.group(1).strip() if subject else ""
        row = {"id": file.group(3), "text": body, "title": title, "header": header, "category": file.group(2)}
        if not body.strip():
            row |= {"text": title, "empty_body": True}
        posts.setdefault(file.group(1), []).append(row)
    groups = sorted({row["category"] for rows in posts.values() for row in rows})
    for rows in posts.values():
        rows.sort(key=lambda row: (row["category"], int(row["id"])))
        rows[:] = [_with_label(row, groups.index(row["category"])) for row in rows]
    return {split: posts[split] for split in ("train", "test") if split in posts}


def _with_label(row: Record, label: int) -> Record:
    last: Record = {key: row.pop(key) for key in ("category", "empty_body") if key in row}
    return {**row, "label": label, **last}
