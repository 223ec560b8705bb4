"""Rows that can be used, counted: what the README and the comparison with the original speak of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from regard.corpora.catalogue import Original
from regard.corpora.splits import Record
from regard.data.examples import make_example
from regard.data.rows import Row
from regard.errors import InputError

MOST_LABELS = 30  # more different ones than this are not counted each
LABELS = ("category", "label", "label5", "label4")
NEAR = 0.01  # how far the sum may be off where parts are drawn


@dataclass
class Tally:
    """One part: how many rows, how long, with which labels and fields, and how many were left out."""

    rows: int = 0
    words: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    fields: dict[str, None] = field(default_factory=dict)
    left_out: int = 0
    why: str = ""

    def usable(self, rows: Iterable[Record], name: str) -> Iterator[Record]:
        """The rows whose text training would take; others are counted and left out."""
        for number, row in enumerate(rows, 1):
            try:
                make_example(Row(number, None, row), name, "text", None, labelled=False)
            except InputError as problem:
                self.left_out += 1
                self.why = self.why or str(problem)
                continue
            self.rows += 1
            self.words += len(row["text"].split())
            self.fields.update(dict.fromkeys(row))
            label = next((key for key in LABELS if row.get(key) is not None), None)
            if label is not None and (len(self.labels) <= MOST_LABELS or f"{label} {row[label]}" in self.labels):
                self.labels[f"{label} {row[label]}"] += 1
            yield row


def differences(original: Original | None, counts: dict[str, int]) -> list[str]:
    """Sentences on parts that have another number of texts than the original."""
    if original is None or not original.counts:
        return []
    if original.by_chance:
        total = sum(counts.values())
        if abs(total - original.total) <= NEAR * original.total:
            return []
        return [f"{total} texts are found in all; {original.total} were expected"]
    parts = dict.fromkeys([*original.counts, *counts])
    pairs = [(part, counts.get(part, 0), original.counts.get(part, 0)) for part in parts]
    return [f"{part}: {found} texts are found; {known} were expected" for part, found, known in pairs if found != known]
