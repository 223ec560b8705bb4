"""Corpora by name: NAME/{train,dev,test}.jsonl.gz in the folder that the variable REGARD_DATA names."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from regard.errors import InputError, quoted

VARIABLE = "REGARD_DATA"
VECTORS = "vectors"  # the name under which a file of word vectors is listed
_TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".xlsx", ".ods")
_SUFFIXES = tuple(suffix + packed for suffix in _TABLES for packed in ("", ".gz"))
_VECTOR_SUFFIXES = (".npz", ".txt", ".txt.gz", ".vec", ".vec.gz")


@dataclass(frozen=True)
class Dataset:
    """A named corpus (or word vectors) and the files of its splits."""

    name: str
    path: Path
    splits: dict[str, Path]
    title: str


def available() -> list[Dataset]:
    """Every corpus in REGARD_DATA, sorted by name; empty if the variable is not set or names no folder."""
    home = _home()
    if home is None:
        return []
    folders = [path for path in sorted(home.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    return [dataset for dataset in map(_dataset, folders) if dataset.splits]


def resolve(name_or_path: str, split: str = "train") -> Path:
    """The file that a path, NAME/SPLIT or NAME (then its `split`) refers to."""
    if os.path.exists(name_or_path):
        return Path(name_or_path)
    name, _, named_split = name_or_path.partition("/")
    split = named_split or split
    datasets = {dataset.name: dataset for dataset in available()}
    if name not in datasets:
        raise InputError(f"{name_or_path}: no such file or folder, and {_why_unknown(name, list(datasets))}")
    splits = datasets[name].splits
    if split not in splits:
        raise InputError(f"{name_or_path}: {name} has no {split!r}; its splits are {quoted(list(splits))}")
    return splits[split]


def companion(name: str, split: str) -> Path | None:
    """Another split of a named corpus, such as its dev file; None for a path, or if there is none."""
    if os.path.exists(name):
        return None
    splits = [dataset.splits for dataset in available() if dataset.name == name.partition("/")[0]]
    return splits[0].get(split) if splits else None


def _home() -> Path | None:
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder and os.path.isdir(folder) else None


def _why_unknown(name: str, names: list[str]) -> str:
    folder = os.environ.get(VARIABLE)
    if not folder:
        return f"{VARIABLE}, the folder of named corpora, is not set"
    if not os.path.isdir(folder):
        return f"{VARIABLE}, the folder of named corpora, is {folder!r}, which is not a folder"
    if not names:
        return f"{VARIABLE} ({folder}) contains no corpora, such as NAME/train.jsonl.gz"
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"no corpus of that name; {meant}expected one of {quoted(names, most=40)}"


def _dataset(path: Path) -> Dataset:
    files = sorted(file for file in path.iterdir() if file.is_file())
    splits: dict[str, Path] = {}
    for suffix in _SUFFIXES:
        for file in files:
            if file.name.endswith(suffix):
                splits.setdefault(file.name.removesuffix(suffix), file)
    vectors = [file for file in files if file.name.endswith(_VECTOR_SUFFIXES)]
    if not splits and len(vectors) == 1:
        splits[VECTORS] = vectors[0]
    ordered = {split: splits[split] for split in sorted(splits, key=_order)}
    return Dataset(path.name, path, ordered, _title(path / "README.md"))


def _order(split: str) -> tuple[int, str]:
    usual = ("train", "dev", "test")
    return (usual.index(split) if split in usual else len(usual), split)


def _title(readme: Path) -> str:
    """The first line below the heading."""
    if not readme.is_file():
        return ""
    lines = readme.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")
