"""TREC questions (Li and Roth 2002): train_5500.label and TREC_10.label, with lines such as `NUM:dist How far is it ?`."""

from __future__ import annotations

from regard.corpora.catalogue import catalogue
from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits, with_dev

PATTERN = r"/(train_5500|TREC_10)\.(?:label|txt)$"


def convert(source: Source) -> Splits:
    classes = catalogue()["trec"].classes
    rows: dict[str, list[Record]] = {"train_5500": [], "TREC_10": []}
    for file in source.files(PATTERN):
        for number, line in file.filled_lines(latin=True):
            fine, _, text = line.partition(" ")
            coarse, colon, _ = fine.partition(":")
            if coarse not in classes or not colon:
                raise file.error(number, f"expected a class such as NUM:dist ({', '.join(classes)}), got {fine[:20]!r}")
            row = {"text": text.strip(), "label": classes.index(coarse), "coarse": coarse, "fine": fine}
            rows[file.group(1)].append(row)
    splits = {**with_dev(rows["train_5500"], 545, 5452), "test": rows["TREC_10"]}
    return {split: members for split, members in splits.items() if members}
