"""The files of a folder or an archive, or a file alone, one after the other; nothing is unpacked to disk."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from regard.errors import InputError

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz")
HIDDEN = (".", "__MACOSX")

Progress = Callable[[int, int], None]  # done, of how many


class Member(NamedTuple):
    name: str  # below the folder or in the archive
    where: str  # for an error
    open: Callable[[], Any]  # a readable stream of bytes


def members(path: Path, progress: Progress) -> Iterator[Member]:
    """In order of name in a folder, in its own order in an archive; there each must be read before the next."""
    if path.is_dir():
        yield from _of_folder(path, progress)
        return
    name = path.name.lower()
    with open(path, "rb") as file:
        watched: Any = Watched(file, progress, path.stat().st_size)
        if name.endswith(".zip"):
            yield from _of_archive(path, _zipped(watched))
        elif name.endswith(TARS):
            yield from _of_archive(path, _tarred(watched))
        else:
            yield Member(path.name, str(path), lambda: watched)


class Watched(io.BufferedIOBase):
    """A file that tells how far it was read, and may be gone about in."""

    def __init__(self, inner: io.BufferedReader, progress: Progress, total: int) -> None:
        self.inner, self.progress, self.total = inner, progress, total

    def read(self, size: int | None = -1) -> bytes:
        data = self.inner.read(size)
        self.progress(self.inner.tell(), self.total)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.inner.seek(offset, whence)

    def tell(self) -> int:
        return self.inner.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _of_folder(path: Path, progress: Progress) -> Iterator[Member]:
    found: list[Path] = []
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith(HIDDEN))
        found += [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
    for number, file in enumerate(found, 1):
        progress(number, len(found))
        if file.is_file():
            yield Member(file.relative_to(path).as_posix(), str(file), partial(file.open, "rb"))


def _of_archive(path: Path, found: Iterator[tuple[str, Callable[[], Any]]]) -> Iterator[Member]:
    for name, opened in found:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts:
            continue  # "." or no name at all: no original has such a file
        if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
            raise InputError(f"{path}: the name {name!r} leads out of the archive; nothing of it was read")
        if not any(part.startswith(HIDDEN) for part in parts):
            yield Member("/".join(parts), f"{path} ({name})", opened)


def _zipped(file: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield member.filename, partial(archive.open, member)


def _tarred(file: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    with tarfile.open(fileobj=file) as archive:
        for member in archive:
            if member.isfile():  # no links, no devices
                yield member.name, partial(archive.extractfile, member)
