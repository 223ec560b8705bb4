"""The texts of a column: read once, a part held out where there is no dev, changed where the table says so.

What is held out is the same for all seeds and methods: the seeds of a table differ in weights and order only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regard.corpora.lookup import VARIABLE, resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.data.splitting import hold_out
from regard.errors import InputError
from regard.records import Example
from regard.training.fit import Parts
from regard_lab.rows import Options
from regard_lab.tables.corpus_makers import CORPUS_MAKERS, SPLITS
from regard_lab.tables.table import Cell, Corpus

KEPT = 2  # corpora that a process holds in memory: cells come corpus by corpus


class Prepared(NamedTuple):
    parts: Parts
    data: dict[str, str]  # file -> the beginning of its SHA-256


class Corpora:
    """The corpora that a process read last."""

    def __init__(self) -> None:
        self.kept: OrderedDict[str, Prepared] = OrderedDict()

    def prepare(self, corpus: Corpus, options: Options) -> Prepared:
        """The parts of a corpus for a cell with these options; the last few are kept, by where their files lie."""
        given = {name: options.get(name) for name in ("text", "label", "task", "skip_bad_rows", "vectors")}
        files = [str(file.absolute()) for file in used(sources(corpus).values(), given["vectors"])]
        key = json.dumps([corpus.definition(), given, files], sort_keys=True)
        if key not in self.kept:
            self.kept[key] = read_parts(corpus, given)
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        return self.kept[key]


def read_parts(corpus: Corpus, options: Options) -> Prepared:
    files = sources(corpus)
    wanted = ReadOptions(options["text"], options["label"], skip_bad_rows=bool(options["skip_bad_rows"]))
    column, found = options["label"], {}
    for split, path in files.items():
        part = read(path, replace(wanted, at_least=2 if split == "train" else 1))
        found[split], column = of_labels(part.examples, corpus.labels, path), part.label_column
    by_label = options["task"] in ("binary", "multiclass")
    if corpus.pooled:
        found["train"], found["test"] = hold_out([*found["train"], *found["test"]], corpus.pooled, 0, by_label)
    if corpus.hold_out and corpus.hold_out_by:
        groups = read(files["train"], replace(wanted, label=corpus.hold_out_by))
        of_row = {example.row: str(example.label) for example in groups.examples}
        found["train"], found["dev"] = by_groups(found["train"], of_row, corpus.hold_out)
    elif corpus.hold_out:
        found["train"], found["dev"] = hold_out(found["train"], corpus.hold_out, 0, by_label)
    if corpus.make is not None:
        splits = SPLITS if corpus.make == "synthetic" else [split for split in SPLITS if split in found]
        maker = CORPUS_MAKERS[corpus.make]
        found = {split: maker(found.get(split, []), split, **corpus.keys) for split in splits}
    names = tuple(str(files[split]) if split in files else f"{corpus.name} ({split})" for split in SPLITS)
    parts = Parts(found["train"], found.get("dev"), found.get("test"), (names[0], names[1], names[2]), column)
    return Prepared(parts, digests(files.values(), options["vectors"]))


def of_labels(examples: list[Example], labels: tuple[str, ...], path: Path) -> list[Example]:
    """Those of some labels; a label that none has is a slip of the finger."""
    if not labels:
        return examples
    kept = [example for example in examples if str(example.label) in labels]
    lost = set(labels) - {str(example.label) for example in kept}
    if lost:
        raise InputError(f"{path}: no text has the label {sorted(lost)[0]!r}, which `labels` asks for")
    return kept


def sources(corpus: Corpus) -> dict[str, Path]:
    named = {split: getattr(corpus, split) for split in SPLITS}
    return {split: resolve(name, split) for split, name in named.items() if name is not None}


def by_groups(
    examples: list[Example], of_row: Mapping[int, str], fraction: float
) -> tuple[list[Example], list[Example]]:
    """(kept, held out): whole groups by chance until so large a part of the texts is held out, at least one, never all."""
    counts: dict[str, int] = {}
    for example in examples:
        group = of_row.get(example.row, "")
        counts[group] = counts.get(group, 0) + 1
    names = list(counts)
    if len(names) < 2:
        raise InputError(f"hold_out_by: {len(names)} groups found among the training texts; two or more are needed")
    out: set[str] = set()
    held = 0
    for place in np.random.default_rng((0, 7919)).permutation(len(names))[:-1]:
        if out and held >= fraction * len(examples):
            break
        out.add(names[place])
        held += counts[names[place]]
    kept = [example for example in examples if of_row.get(example.row, "") not in out]
    return kept, [example for example in examples if of_row.get(example.row, "") in out]


def used(files: Iterable[Path], vectors: str | None) -> list[Path]:
    """All that a cell reads, word vectors too."""
    return [*files, *([resolve(vectors, "vectors")] if vectors else [])]


def digests(files: Iterable[Path], vectors: str | None) -> dict[str, str]:
    """Of all that a cell reads: file -> the beginning of its SHA-256."""
    return {f"{file.parent.name}/{file.name}": checksum(file) for file in used(files, vectors)}


def checksum(file: Path) -> str:
    if file.is_dir():  # a folder of classes: the names and contents of its files
        told = hashlib.sha256()
        for path in sorted(path for path in file.rglob("*") if path.is_file()):
            told.update(f"\0{path.relative_to(file)}\0".encode() + path.read_bytes())
        return told.hexdigest()[:16]
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:16]


def needed(cells: Iterable[Cell]) -> dict[str, str]:
    """What cells read, by its name (a corpus or word vectors) and how it is asked for, in order."""
    found: dict[str, str] = {}
    for cell in cells:
        for split in SPLITS:
            name = getattr(cell.corpus, split)
            if name is not None:
                found.setdefault(name, split)
        if cell.options.get("vectors"):
            found.setdefault(cell.options["vectors"], "vectors")
    return found


def missing(cells: Iterable[Cell]) -> list[str]:
    """The names of corpora that are not here."""
    lost: dict[str, None] = {}
    for name, split in needed(cells).items():
        try:
            resolve(name, split)
        except InputError:
            lost[corpus_name(name)] = None
    return list(lost)


def corpus_name(name: str) -> str:
    """NAME of NAME and NAME/dev; anything else is a file and stays whole."""
    corpus, _, part = name.partition("/")
    return corpus if part in ("", *SPLITS) else name


def check_corpora(cells: Iterable[Cell], table: str) -> None:
    lost = missing(cells)
    if not lost:
        return
    folder = os.environ.get(VARIABLE)
    state = f"in the folder that {VARIABLE} names ({folder})" if folder else f"here, for {VARIABLE} is not set"
    raise InputError(
        f"{table} needs {', '.join(lost)}, not found {state}; set {VARIABLE} to a folder of NAME/train.jsonl.gz and the "
        f"like, and `regard datasets NAME` tells where each is to be had"
    )
