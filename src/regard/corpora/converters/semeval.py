"""SemEval 2013–2016 (Nakov et al., Rosenthal et al.): sentiment of whole messages, and of phrases in those of 2013.

Messages: twitter-2013train-A.tsv and the like, with id, label and text per line; files of 2013 have a second id after the
first. The organisers distribute only ids: texts must be fetched from Twitter, and lines whose text is "Not Available"
are left out.

Phrases (task 2A of 2013): twitter-dev-gold-A.tsv and the like, with id, second id, first word, last word, label and, in
some files, the text per line; words are separated by single spaces. Texts, and the label of the whole message, are taken
from any message file next to it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, without_repeats

MESSAGES = r"/(?:twitter-(\d{4}(?:train|devtest|dev|test|sarcasm))-A\.(?:tsv|txt)|(twitter|sms)-(train|dev|test)-[a-z]+-B\.tsv)$"
PHRASES = r"/(?:(twitter|tweeter|sms)-(train|dev|test)-[a-z]+-([AB])\.tsv|twitter-2013(train|dev|test)-A\.(?:tsv|txt))$"
SPLITS = {
    "train": ("2013train", "2015train"),
    "dev": ("2013dev",),
    "test": ("2013test", "2014test", "2014sarcasm", "2015test"),
    "extra2016": ("2016train", "2016dev", "2016devtest"),
    "test_sms2013": ("2013sms",),
}
LABELS = {"negative": 0, "neutral": 1, "positive": 2, "objective": 1, "objective-OR-neutral": 1}
PHRASE_LABELS = ("negative", "neutral", "positive")
HANDLE = re.compile(r"(?<!\w)@\w+")
ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
MISSING = "Not Available"


def convert_messages(source: Source) -> Splits:
    rows: dict[str, list[Record]] = {}
    for file in source.files(MESSAGES):
        year = file.group(1) or ("2013sms" if file.group(2) == "sms" else f"2013{file.group(3)}")
        new = [{**row, "source": year} for row in _messages(file)]
        ids = {row["id"] for row in rows.get(year, [])}
        rows.setdefault(year, []).extend(row for row in new if row["id"] not in ids)
    order = ("train", "dev", "extra2016", "test", "test_sms2013")  # a repeated text stays in the later, a test split
    splits = without_repeats({split: [row for year in SPLITS[split] for row in rows.get(year, [])] for split in order})
    return {split: splits[split] for split in SPLITS if splits[split]}


def convert_phrases(source: Source) -> Splits:
    spans: dict[str, dict[str, list[list[int]]]] = {}  # split -> message -> [first word, end, label]
    texts: dict[str, str] = {}
    labels: dict[str, int] = {}
    for file in source.files(PHRASES):
        if file.group(3) == "A":
            split = "sms_test" if file.group(1) == "sms" else file.group(2)
            _read_phrases(file, spans.setdefault(split, {}), texts)
        else:
            for row in _messages(file):
                texts.setdefault(row["id"], row["text"])
                labels.setdefault(row["id"], row["label"])
    splits: dict[str, list[Record]] = {}
    for split in ("train", "dev", "test", "sms_test"):
        marked = {id: sorted(phrases) for id, phrases in spans.get(split, {}).items() if phrases and id in texts}
        year = "2013sms-A" if split == "sms_test" else f"2013{split}-A"
        rows = [_phrase_row(id, texts[id], phrases, year, labels.get(id)) for id, phrases in marked.items()]
        if rows:
            splits[split] = rows
    return splits


def _messages(file: File) -> Iterator[Record]:
    for number, line in file.filled_lines():
        first, *others = line.split("\t")
        label = next((column for column, word in enumerate(others[:2]) if word.strip('"') in LABELS), None)
        if label is None or len(others) < label + 2:
            raise file.error(number, "expected id, label (negative, neutral or positive) and text, separated by tabs")
        text = _cleaned("\t".join(others[label + 1 :]))
        if text != MISSING:
            id = others[0] if first == "NA" and label else first
            yield {"id": id, "text": text, "label": LABELS[others[label].strip('"')]}


def _cleaned(text: str) -> str:
    """As it was written: quotation marks of a table, escapes and entities undone; user names become @user."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"')
    text = html.unescape(ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), text))
    return HANDLE.sub("@user", text)


def _read_phrases(file: File, spans: dict[str, list[list[int]]], texts: dict[str, str]) -> None:
    for number, line in file.filled_lines():
        first, second, start, end, label, *text = [*line.split("\t"), "", "", "", ""][: max(line.count("\t") + 1, 5)]
        if not (start.isdigit() and end.isdigit()) or int(end) < int(start):
            raise file.error(number, "expected two ids, first word, last word and label, separated by tabs")
        id = second if first == "NA" else first
        if text and text[0].strip() and text[0].strip() != MISSING:
            texts.setdefault(id, _cleaned(text[0]))
        if label.strip('"') in PHRASE_LABELS:  # "objective" is left out, as the organisers advise; so is "unknwn"
            phrase = [int(start), int(end) + 1, LABELS[label.strip('"')]]
            if phrase not in spans.setdefault(id, []):
                spans[id].append(phrase)


def _phrase_row(id: str, text: str, phrases: list[list[int]], source: str, label: int | None) -> Record:
    row: Record = {"id": id, "tokens": text.split(" "), "text": text, "spans": phrases, "source": source}
    return row if label is None else {**row, "label": label}
