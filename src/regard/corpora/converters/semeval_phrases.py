"""SemEval-2013 task 2A (Nakov et al. 2013): phrases of messages, twitter-dev-gold-A.tsv and the like.

A line is id, second id, first word, last word, label and, in some files, the text; words are what stands between single
spaces. Texts, and the label of the whole message, come from any message file beside (see `tweets`).
"""

from __future__ import annotations

from regard.corpora.converters.semeval import LABELS, MISSING, cleaned, messages
from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits

PATTERN = r"/(?:(twitter|tweeter|sms)-(train|dev|test)-[a-z]+-([AB])\.tsv|twitter-2013(train|dev|test)-A\.(?:tsv|txt))$"
SPAN_LABELS = ("negative", "neutral", "positive")


def convert(source: Source) -> Splits:
    spans: dict[str, dict[str, list[list[int]]]] = {}
    texts: dict[str, str] = {}
    labels: dict[str, int] = {}
    for file in source.files(PATTERN):
        if file.group(3) == "A":
            part = "sms_test" if file.group(1) == "sms" else file.group(2)
            _read(file, spans.setdefault(part, {}), texts)
        else:
            for row in messages(file):
                texts.setdefault(row["id"], row["text"])
                labels.setdefault(row["id"], row["label"])
    splits: dict[str, list[Record]] = {}
    for part in ("train", "dev", "test", "sms_test"):
        marked = {own: sorted(phrases) for own, phrases in spans.get(part, {}).items() if phrases and own in texts}
        year = "2013sms-A" if part == "sms_test" else f"2013{part}-A"
        rows = [_row(own, texts[own], phrases, year, labels.get(own)) for own, phrases in marked.items()]
        if rows:
            splits[part] = rows
    return splits


def _read(file: File, spans: dict[str, list[list[int]]], texts: dict[str, str]) -> None:
    for number, line in file.filled_lines():
        first, second, start, end, label, *text = [*line.split("\t"), "", "", "", ""][: max(line.count("\t") + 1, 5)]
        if not (start.isdigit() and end.isdigit()) or int(end) < int(start):
            raise file.fault(number, "two ids, first word, last word and label, with tabs between, are expected")
        own = second if first == "NA" else first
        if text and text[0].strip() and text[0].strip() != MISSING:
            texts.setdefault(own, cleaned(text[0]))
        if label.strip('"') in SPAN_LABELS:  # "objective" is left out, as the organisers advise; "unknwn" is no label
            phrase = [int(start), int(end) + 1, LABELS[label.strip('"')]]
            if phrase not in spans.setdefault(own, []):
                spans[own].append(phrase)


def _row(own: str, text: str, phrases: list[list[int]], source: str, label: int | None) -> Record:
    row: Record = {"id": own, "tokens": text.split(" "), "text": text, "spans": phrases, "source": source}
    return row if label is None else {**row, "label": label}
