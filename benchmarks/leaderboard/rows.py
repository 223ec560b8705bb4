"""Texts and labels of a corpus in the folder REGARD_DATA."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from functools import cache
from pathlib import Path


@cache
def read_rows(corpus: str, splits: tuple[str, ...]) -> tuple[list[str], list[str], str]:
    """Texts and labels as strings, and a checksum of both."""
    texts, labels, digest = [], [], hashlib.sha256()
    for split in splits:
        path = Path(os.environ["REGARD_DATA"]) / corpus / f"{split}.jsonl.gz"
        if not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                texts.append(row["text"])
                labels.append(str(row["label"]))
                digest.update(line.encode())
    return texts, labels, digest.hexdigest()[:16]
