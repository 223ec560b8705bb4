"""SemEval 2013–2016 messages (Nakov et al., Rosenthal et al.): twitter-2013train-A.tsv and the like.

A line is id, label, text; in the files of 2013 a second id stands after the first. The organisers give ids alone: texts
must be had from Twitter, and lines whose text is "Not Available" are left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, without_repeats

PATTERN = r"/(?:twitter-(\d{4}(?:train|devtest|dev|test|sarcasm))-A\.(?:tsv|txt)|(twitter|sms)-(train|dev|test)-[a-z]+-B\.tsv)$"
PARTS = {
    "train": ("2013train", "2015train"),
    "dev": ("2013dev",),
    "test": ("2013test", "2014test", "2014sarcasm", "2015test"),
    "extra2016": ("2016train", "2016dev", "2016devtest"),
    "test_sms2013": ("2013sms",),
}
LABELS = {"negative": 0, "neutral": 1, "positive": 2, "objective": 1, "objective-OR-neutral": 1}
HANDLE = re.compile(r"(?<!\w)@\w+")
ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
MISSING = "Not Available"


def convert(source: Source) -> Splits:
    found: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        year = file.group(1) or ("2013sms" if file.group(2) == "sms" else f"2013{file.group(3)}")
        rows = [{**row, "source": year} for row in messages(file)]
        ids = {row["id"] for row in found.get(year, [])}
        found.setdefault(year, []).extend(row for row in rows if row["id"] not in ids)
    order = ("train", "dev", "extra2016", "test", "test_sms2013")  # a repeated text stays where it tests, if anywhere
    splits = without_repeats({part: [row for year in PARTS[part] for row in found.get(year, [])] for part in order})
    return {part: splits[part] for part in PARTS if splits[part]}


def messages(file: File) -> Iterator[Record]:
    for number, line in file.filled_lines():
        first, *others = line.split("\t")
        label = next((place for place, word in enumerate(others[:2]) if word.strip('"') in LABELS), None)
        if label is None or len(others) < label + 2:
            raise file.fault(
                number, "id, label (negative, neutral or positive) and text, with tabs between, are expected"
            )
        text = cleaned("\t".join(others[label + 1 :]))
        if text != MISSING:
            own = others[0] if first == "NA" and label else first
            yield {"id": own, "text": text, "label": LABELS[others[label].strip('"')]}


def cleaned(text: str) -> str:
    """As it was written: quotation marks of a table, escapes and entities undone; names of people become @user."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"')
    text = html.unescape(ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), text))
    return HANDLE.sub("@user", text)
