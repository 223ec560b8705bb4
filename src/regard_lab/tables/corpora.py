"""The texts of a column: read once, with a dev split held out if there is none, and transformed if the table asks for it.

All seeds and methods have the same hold-out: the seeds of a table differ in initial weights and order only.
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

KEPT = 2  # corpora that a process keeps in memory: cells are ordered by corpus


class Prepared(NamedTuple):
    parts: Parts
    data: dict[str, str]  # file -> the beginning of its SHA-256


class Corpora:
    """A cache of the corpora that a process read last."""

    def __init__(self) -> None:
        self.cached: OrderedDict[str, Prepared] = OrderedDict()

    def prepare(self, corpus: Corpus, options: Options) -> Prepared:
        """The splits of a corpus for a cell with these options; the last few are cached, by the paths of their files."""
        reading = {name: options.get(name) for name in ("text", "label", "task", "skip_bad_rows", "vectors")}
        files = [str(file.absolute()) for file in used(sources(corpus).values(), reading["vectors"])]
        key = json.dumps([corpus.definition(), reading, files], sort_keys=True)
        if key not in self.cached:
            self.cached[key] = read_parts(corpus, reading)
            while len(self.cached) > KEPT:
                self.cached.popitem(last=False)
        self.cached.move_to_end(key)
        return self.cached[key]


def read_parts(corpus: Corpus, options: Options) -> Prepared:
    files = sources(corpus)
    reading = ReadOptions(options["text"], options["label"], skip_bad_rows=bool(options["skip_bad_rows"]))
    column, texts = options["label"], {}
    for split, path in files.items():
        part = read(path, replace(reading, at_least=2 if split == "train" else 1))
        texts[split], column = of_labels(part.examples, corpus.labels, path), part.label_column
    by_label = options["task"] in ("binary", "multiclass")
    if corpus.pooled:
        texts["train"], texts["test"] = hold_out([*texts["train"], *texts["test"]], corpus.pooled, 0, by_label)
    if corpus.hold_out and corpus.hold_out_by:
        groups = read(files["train"], replace(reading, label=corpus.hold_out_by))
        of_row = {example.row: str(example.label) for example in groups.examples}
        texts["train"], texts["dev"] = by_groups(texts["train"], of_row, corpus.hold_out)
    elif corpus.hold_out:
        texts["train"], texts["dev"] = hold_out(texts["train"], corpus.hold_out, 0, by_label)
    if corpus.make is not None:
        splits = SPLITS if corpus.make == "synthetic" else [split for split in SPLITS if split in texts]
        maker = CORPUS_MAKERS[corpus.make]
        texts = {split: maker(texts.get(split, []), split, **corpus.keys) for split in splits}
    names = tuple(str(files[split]) if split in files else f"{corpus.name} ({split})" for split in SPLITS)
    parts = Parts(
        texts["train"],
        texts.get("dev"),
        texts.get("test"),
        (names[0], names[1], names[2]),
        column,
    )
    return Prepared(parts, digests(files.values(), options["vectors"]))


def of_labels(examples: list[Example], labels: tuple[str, ...], path: Path) -> list[Example]:
    """The examples with one of these labels. A label that no example has is an error."""
    if not labels:
        return examples
    kept = [example for example in examples if str(example.label) in labels]
    lost = set(labels) - {str(example.label) for example in kept}
    if lost:
        raise InputError(f"{path}: expected texts with the label {sorted(lost)[0]!r}, which `labels` names, got none")
    return kept


def sources(corpus: Corpus) -> dict[str, Path]:
    named = {split: getattr(corpus, split) for split in SPLITS}
    return {split: resolve(name, split) for split, name in named.items() if name is not None}


def by_groups(
    examples: list[Example], of_row: Mapping[int, str], fraction: float
) -> tuple[list[Example], list[Example]]:
    """(kept, held out): random whole groups until this fraction of the texts is held out; at least one group, never all."""
    counts: dict[str, int] = {}
    for example in examples:
        group = of_row.get(example.row, "")
        counts[group] = counts.get(group, 0) + 1
    names = list(counts)
    if len(names) < 2:
        raise InputError(f"hold_out_by: expected two or more groups among the training texts, got {len(names)}")
    out: set[str] = set()
    held = 0
    for index in np.random.default_rng((0, 7919)).permutation(len(names))[:-1]:
        if out and held >= fraction * len(examples):
            break
        out.add(names[index])
        held += counts[names[index]]
    kept = [example for example in examples if of_row.get(example.row, "") not in out]
    return kept, [example for example in examples if of_row.get(example.row, "") in out]


def used(files: Iterable[Path], vectors: str | None) -> list[Path]:
    """All files that a cell reads, including word vectors."""
    return [*files, *([resolve(vectors, "vectors")] if vectors else [])]


def digests(files: Iterable[Path], vectors: str | None) -> dict[str, str]:
    """For all files that a cell reads: file -> the beginning of its SHA-256."""
    return {f"{file.parent.name}/{file.name}": checksum(file) for file in used(files, vectors)}


def checksum(file: Path) -> str:
    if file.is_dir():  # a folder of classes: the names and contents of its files
        digest = hashlib.sha256()
        for path in sorted(path for path in file.rglob("*") if path.is_file()):
            digest.update(f"\0{path.relative_to(file)}\0".encode() + path.read_bytes())
        return digest.hexdigest()[:16]
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def needed(cells: Iterable[Cell]) -> dict[str, str]:
    """Name of a corpus or of word vectors -> the split that is read first (or "vectors"), in order."""
    names: dict[str, str] = {}
    for cell in cells:
        for split in SPLITS:
            name = getattr(cell.corpus, split)
            if name is not None:
                names.setdefault(name, split)
        if cell.options.get("vectors"):
            names.setdefault(cell.options["vectors"], "vectors")
    return names


def missing(cells: Iterable[Cell]) -> list[str]:
    """The names of corpora that were not found."""
    missing_names: dict[str, None] = {}
    for name, split in needed(cells).items():
        try:
            resolve(name, split)
        except InputError:
            missing_names[corpus_name(name)] = None
    return list(missing_names)


def corpus_name(name: str) -> str:
    """NAME of NAME or NAME/dev; anything else is a file and is returned unchanged."""
    corpus, _, part = name.partition("/")
    return corpus if part in ("", *SPLITS) else name


def check_corpora(cells: Iterable[Cell], table: str) -> None:
    missing_names = missing(cells)
    if not missing_names:
        return
    folder = os.environ.get(VARIABLE)
    state = f"in the folder that {VARIABLE} names ({folder})" if folder else f"because {VARIABLE} is not set"
    raise InputError(
        f"{table} needs {', '.join(missing_names)}, not found {state}; set {VARIABLE} to a folder of NAME/train.jsonl.gz and so "
        f"on; `regard datasets NAME` explains where to get each"
    )
