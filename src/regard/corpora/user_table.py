"""A user's table as a corpus: any file or folder that regard reads, already split or split 80/10/10."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from regard.corpora.splits import SPLIT_NAMES, Record, Splits, dealt
from regard.data.read_options import ReadOptions
from regard.data.readers import Stream, stream
from regard.errors import InputError


class TableRows:
    """The rows of one file, read again at every iteration."""

    def __init__(self, examples: Stream) -> None:
        self.examples = examples

    def __iter__(self) -> Iterator[Record]:
        for example in self.examples:
            row: Record = {"text": example.text, "label": example.label}
            yield {**row, "evidence": [list(span) for span in example.evidence]} if example.evidence else row


def table_splits(path: Path, options: ReadOptions, note: Callable[[str], None]) -> tuple[Splits, dict[str, str]]:
    """The rows of every split, and the SHA-256 of every file that they come from."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; expected a table of texts and labels, or hub:ORG/NAME")
    files = _split_files(path)
    streams = {split: stream(file, options) for split, file in (files or {"": path}).items()}
    for examples in streams.values():
        for sentence in examples.guessed:
            note(sentence)
    if files:
        return {split: TableRows(examples) for split, examples in streams.items()}, _digests(path)
    note(
        f"{path} has no splits; of every ten consecutive texts eight go to train, one to dev and one to test, with a fixed seed"
    )
    rows = TableRows(streams[""])
    return dealt(lambda: rows), _digests(path)


def _split_files(path: Path) -> dict[str, Path]:
    """Files or folders of classes named after the splits of a corpus; empty without a train split."""
    if not path.is_dir():
        return {}
    files: dict[str, Path] = {}
    for entry in sorted(path.iterdir()):
        split = SPLIT_NAMES.get(entry.name.lower().split(".")[0])
        if split is not None and files.setdefault(split, entry) != entry:
            raise InputError(f"{path}: expected one {split} split, got {files[split].name} and {entry.name}")
    return {split: files[split] for split in ("train", "dev", "test") if split in files} if "train" in files else {}


def _digests(path: Path) -> dict[str, str]:
    digests: dict[str, str] = {}
    for file in [path] if path.is_file() else sorted(entry for entry in path.rglob("*") if entry.is_file()):
        with open(file, "rb") as opened:
            name = file.name if file == path else file.relative_to(path).as_posix()
            digests[name] = hashlib.file_digest(opened, "sha256").hexdigest()
    return digests
