"""The Stanford Sentiment Treebank (Socher et al. 2013) as Penn trees: train.txt, dev.txt and test.txt, one tree per line.

`(3 (2 It) (4 shines))` is a phrase with label 3 and two parts. The sentences of sst1 and sst2 are the leaves in lower
case; sst2 leaves out neutral ones (2) and takes 0 and 1 as negative, 3 and 4 as positive.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits

PATTERN = r"/(train|dev|test)\.txt$"
PIECE = re.compile(r"[()]|[^ ()]+")  # a word may contain a non-breaking space
BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
BINARY = (0, 0, None, 1, 1)


def convert(source: Source, make: Callable[[Record], Record | None]) -> Splits:
    splits: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        source.refuse_second(file, splits)
        trees = [_flattened(file, number, line) for number, line in file.filled_lines()]
        rows = (make({"id": number, **tree}) for number, tree in enumerate(trees))
        splits[file.group(1)] = [row for row in rows if row is not None]
    return {split: splits[split] for split in ("train", "dev", "test") if split in splits}


def whole_tree(tree: Record) -> Record:
    return tree


def five_classes(tree: Record) -> Record:
    return {"text": tree["text"].lower(), "label": tree["label5"], "tree_id": tree["id"]}


def two_classes(tree: Record) -> Record | None:
    label = tree["label2"]
    return None if label is None else {"text": tree["text"].lower(), "label": label, "tree_id": tree["id"]}


def _flattened(file: File, number: int, line: str) -> Record:
    """The leaves with their labels, and every phrase of two or more as [start, end, label], the whole sentence last."""
    tokens: list[str] = []
    labels: list[int] = []
    spans: list[list[int]] = []
    root = 2
    open_phrases: list[list[int]] = []  # [first leaf, label], label −1 until it is read
    pieces = PIECE.findall(line)
    for position, piece in enumerate(pieces):
        if piece == "(":
            open_phrases.append([len(tokens), -1])
        elif not open_phrases:
            raise file.error(
                number, f"expected a tree such as (3 (2 It) (4 shines)), got {piece!r} outside of a phrase"
            )
        elif piece == ")":
            start, label = open_phrases.pop()
            root = label  # the phrase that ends last is the whole sentence
            if label < 0 or len(tokens) == start or (not open_phrases and position + 1 < len(pieces)):
                raise file.error(number, "a phrase has no label or no word, or something follows the tree")
            if len(tokens) - start > 1:
                spans.append([start, len(tokens), label])
            elif len(labels) < len(tokens):
                labels.append(label)
        elif open_phrases[-1][1] < 0:
            if piece not in ("0", "1", "2", "3", "4"):
                raise file.error(number, f"expected a label from 0 to 4, got {piece[:20]!r}")
            open_phrases[-1][1] = int(piece)
        else:
            tokens.append(BRACKETS.get(piece, piece))
    if open_phrases or not tokens or len(labels) != len(tokens):
        raise file.error(number, "unbalanced brackets; expected a tree such as (3 (2 It) (4 shines))")
    return {
        "text": " ".join(tokens),
        "tokens": tokens,
        "label5": root,
        "label2": BINARY[root],
        "token_labels": labels,
        "rationale": [int(label != 2) for label in labels],
        "spans": spans,
    }
