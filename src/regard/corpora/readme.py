"""The README of a converted corpus: where it comes from, how it was split, how many rows and labels it has."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from regard.corpora.catalogue import PublicCorpus
from regard.corpora.splits import Record
from regard.data.examples import make_example
from regard.data.formats import Row
from regard.errors import InputError
from regard.markdown_text import escape

LABEL_FIELDS = ("category", "label", "label5", "label4")
MOST_LABELS = 30  # with more distinct labels than this, they are not counted separately
MOST_FILES = 20  # with more files than this, only a digest of their digests is printed
TOLERANCE = 0.01  # by which the total may differ where splits are random


@dataclass
class Tally:
    """One split: number and length of its rows, their labels and fields, and how many rows were left out."""

    rows: int = 0
    words: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    fields: dict[str, None] = field(default_factory=dict)
    left_out: int = 0
    reason: str = ""  # why the first of them was left out

    def usable(self, rows: Iterable[Record], name: str) -> Iterator[Record]:
        """The rows whose text can be trained on; the others are counted and left out."""
        for number, row in enumerate(rows, 1):
            try:
                make_example(Row(number, None, row), name, "text", None, labelled=False)
            except InputError as problem:
                self.left_out += 1
                self.reason = self.reason or str(problem)
                continue
            self.rows += 1
            self.words += len(row["text"].split())
            self.fields.update(dict.fromkeys(row))
            label = next((key for key in LABEL_FIELDS if row.get(key) is not None), None)
            if label is not None and (len(self.labels) <= MOST_LABELS or f"{label} {row[label]}" in self.labels):
                self.labels[f"{label} {row[label]}"] += 1
            yield row


def differences(known: PublicCorpus | None, counts: Mapping[str, int]) -> list[str]:
    """One sentence per split whose number of texts is not that of the catalogue."""
    if known is None or not known.counts:
        return []
    if known.random:
        total = sum(counts.values())
        if abs(total - known.total) <= TOLERANCE * known.total:
            return []
        return [f"expected {known.total} texts in total, got {total}"]
    pairs = {
        split: (counts.get(split, 0), known.counts.get(split, 0)) for split in dict.fromkeys([*known.counts, *counts])
    }
    return [
        f"{split}: expected {expected} texts, got {actual}"
        for split, (actual, expected) in pairs.items()
        if actual != expected
    ]


def readme(
    name: str,
    source: str,
    known: PublicCorpus | None,
    tallies: Mapping[str, Tally],
    digests: Mapping[str, str],
    remarks: Sequence[str],
) -> str:
    if known is not None:
        lines = [
            f"# {name}\n\n{known.title}\n",
            f"- Origin: {escape(source)}, by `regard datasets {name} --from`; the public original: {known.origin}",
            f"- Licence: {known.licence}.",
            f"- Citation: {known.citation}.",
            f"- Form and split: {known.split}.",
            f"- Labels: {known.labels}",
        ]
    else:
        # `regard datasets` prints the line below the heading as the title of the corpus, so it is not escaped
        lines = [
            f"# {name}\n\n{name}, from {source}\n",
            f"- Origin: {escape(source)}, by `regard datasets {name} --from`",
            "- Licence: that of the source.",
        ]
    lines += [f"- Note: {escape(remark)}." for remark in remarks]
    lines += ["\nOne JSON object per line, UTF-8, gzip.\n", "| file | records | mean words | counts |"]
    lines += ["| --- | --- | --- | --- |", *(_table_row(split, tally) for split, tally in tallies.items())]
    fields = dict.fromkeys(key for tally in tallies.values() for key in tally.fields)
    lines += [f"\nFields: {escape(', '.join(fields))}"]
    if digests:
        lines += ["\nSHA-256 of the files read:\n", *_digest_lines(digests)]
    return "\n".join(lines) + "\n"


def _table_row(split: str, tally: Tally) -> str:
    mean = round(tally.words / tally.rows) if tally.rows else 0
    return f"| {split}.jsonl.gz | {tally.rows} | {mean} | {_label_counts(tally)} |"


def _label_counts(tally: Tally) -> str:
    if not tally.labels or len(tally.labels) > MOST_LABELS:
        return ""
    counts = sorted(tally.labels.items())
    heading = counts[0][0].split(" ", 1)[0]
    return escape(f"{heading}: " + ", ".join(f"{label.split(' ', 1)[1]}: {count}" for label, count in counts))


def _digest_lines(digests: Mapping[str, str]) -> list[str]:
    """In the format of `sha256sum`; for many files the digest of that list."""
    listing = [f"{digest}  {name}" for name, digest in sorted(digests.items())]
    if len(listing) > MOST_FILES:
        whole = hashlib.sha256("".join(line + "\n" for line in listing).encode()).hexdigest()
        return [f"    {whole}  of the list of {len(listing)} files and their digests, in order of name"]
    return [f"    {line}" for line in listing]
