"""Tables of one's own: any file or folder that regard reads, with the parts it has or divided into 80/10/10."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from regard.corpora.splits import Record, Splits, dealt
from regard.data.readers import stream
from regard.data.streams import Stream
from regard.errors import InputError

PARTS = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "val": "dev", "test": "test"}


class Own:
    """The rows of one file, read anew at every iteration."""

    def __init__(self, found: Stream) -> None:
        self.found = found

    def __iter__(self) -> Iterator[Record]:
        for example in self.found:
            row: Record = {"text": example.text, "label": example.label}
            yield {**row, "evidence": [list(span) for span in example.evidence]} if example.evidence else row


def own_splits(
    path: Path, text: str | None, label: str | None, skip_bad_rows: bool, note: Callable[[str], None]
) -> tuple[Splits, dict[str, str]]:
    """The rows of every part, and the SHA-256 of every file that they come from."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; a table of texts and labels is expected, or hub:ORG/NAME")
    read = partial(stream, text=text, label=label, skip_bad_rows=skip_bad_rows, at_least=1)
    parts = _parts(path)
    streams = {part: read(place) for part, place in (parts or {"": path}).items()}
    for found in streams.values():
        for sentence in found.guessed:
            note(sentence)
    if parts:
        return {part: Own(found) for part, found in streams.items()}, _digests(path)
    note(
        f"{path} has no parts; of every ten texts in a row eight go to train, one to dev and one to test, by a fixed seed"
    )
    rows = Own(streams[""])
    return dealt(lambda: rows), _digests(path)


def _parts(path: Path) -> dict[str, Path]:
    """Files or folders of classes named after the parts of a corpus; none where there is no train."""
    if not path.is_dir():
        return {}
    found: dict[str, Path] = {}
    for entry in sorted(path.iterdir()):
        part = PARTS.get(entry.name.lower().split(".")[0])
        if part is not None and found.setdefault(part, entry) != entry:
            raise InputError(
                f"{path}: {found[part].name} and {entry.name} could both be the {part} part; one is expected"
            )
    return {part: found[part] for part in ("train", "dev", "test") if part in found} if "train" in found else {}


def _digests(path: Path) -> dict[str, str]:
    digests: dict[str, str] = {}
    for file in [path] if path.is_file() else sorted(entry for entry in path.rglob("*") if entry.is_file()):
        with open(file, "rb") as opened:
            name = file.name if file == path else file.relative_to(path).as_posix()
            digests[name] = hashlib.file_digest(opened, "sha256").hexdigest()
    return digests
