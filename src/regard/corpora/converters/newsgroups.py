"""20 Newsgroups by date (Lang 1995; Rennie): 20news-bydate-train/GROUP/NUMBER, a post with its header a file."""

from __future__ import annotations

import re

from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits

PATTERN = r"/20news-bydate-(train|test)/([^/]+)/(\d+)$"
SUBJECT = re.compile(r"^Subject:[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)


def convert(source: Source) -> Splits:
    found: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        header, _, body = file.text(latin=True).partition("\n\n")
        subject = SUBJECT.search(header)
        title = subject.group(1).strip() if subject else ""
        row = {"id": file.group(3), "text": body, "title": title, "header": header, "category": file.group(2)}
        if not body.strip():
            row |= {"text": title, "empty_body": True}
        found.setdefault(file.group(1), []).append(row)
    groups = sorted({row["category"] for rows in found.values() for row in rows})
    for rows in found.values():
        rows.sort(key=lambda row: (row["category"], int(row["id"])))
        rows[:] = [_in_order(row, groups.index(row["category"])) for row in rows]
    return {split: found[split] for split in ("train", "test") if split in found}


def _in_order(row: Record, label: int) -> Record:
    last: Record = {key: row.pop(key) for key in ("category", "empty_body") if key in row}
    return {**row, "label": label, **last}
