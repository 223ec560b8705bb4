"""ERASER's Movie Reviews (Zaidan et al. 2007; DeYoung et al. 2020): train, val and test.jsonl, and docs/ID.

A document has one sentence per line, its words separated by spaces; evidence is given as words [start, end) of the
document.
"""

from __future__ import annotations

import json

from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits

PATTERN = r"/(?:(train|val|test)\.jsonl|docs/([^/]+))$"
SPLITS = {"train": "train", "val": "dev", "test": "test"}
CLASSES = ("NEG", "POS")


def convert(source: Source) -> Splits:
    documents: dict[str, list[list[str]]] = {}
    notes: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        if not file.group(1):
            documents[file.group(2)] = [line.split() for line in file.text().splitlines() if line.strip()]
            continue
        rows = notes.setdefault(SPLITS[file.group(1)], [])
        for number, line in file.filled_lines():
            try:
                note = json.loads(line)
                spans = sorted(
                    {(each["start_token"], each["end_token"]) for group in note["evidences"] for each in group}
                )
                row = {"id": note["annotation_id"], "label": CLASSES.index(note["classification"]), "spans": spans}
            except (ValueError, KeyError, TypeError, RecursionError) as problem:
                raise file.error(
                    number, f"expected annotation_id, classification and evidences ({problem!r})"
                ) from None
            rows.append(row)
    return {part: [_row(source, note, documents) for note in notes[part]] for part in SPLITS.values() if part in notes}


def _row(source: Source, note: Record, documents: dict[str, list[list[str]]]) -> Record:
    sentences = documents.get(note["id"])
    if sentences is None:
        raise source.error(f"expected a document for every annotation, docs/{note['id']} is missing")
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence))
    return {
        "id": note["id"].removesuffix(".txt"),
        "text": " ".join(word for sentence in sentences for word in sentence),
        "label": note["label"],
        "sent_starts": starts[:-1],
        "rationales": [list(span) for span in note["spans"]],
    }
