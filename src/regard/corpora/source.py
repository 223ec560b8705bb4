"""The files of a downloaded corpus: a folder, a single file or an archive, read member by member.

Nothing is unpacked to disk. A file or an archive member may also be packed with gzip. Every file that is read is hashed
on the way, for the README of the converted corpus.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager
from functools import partial
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from regard.errors import InputError, quoted

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz")
HIDDEN = (".", "__MACOSX")
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, BadGzipFile, EOFError, zlib.error, lzma.LZMAError)
BYTE_ORDER_MARK = "\ufeff"  # some editors and exports write it at the start of a file
UNMATCHED_NAMES = 8  # names of other files that an error message lists
BUFFER = 1 << 17

Progress = Callable[[int, int], None]  # done, total


class File:
    """One file of a corpus while it is being read; `match` is what the pattern matched in its path."""

    def __init__(self, name: str, match: re.Match[str], where: str, stream: IO[bytes], packed: bool) -> None:
        self.name, self.match, self.where = name, match, where
        self._stream, self._packed = stream, packed

    def group(self, number: int) -> str:
        """A group of the pattern; "" if it took no part in the match."""
        return self.match.group(number) or ""

    def text(self, latin: bool = False) -> str:
        """The whole file; `latin` for files that may be older than UTF-8."""
        with _damage_reported(self.where):
            return self._decoded(self._stream.read(), latin, 1).removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")

    def lines(self, latin: bool = False) -> Iterator[tuple[int, str]]:
        """Line numbers and lines, without line ends."""
        with _damage_reported(self.where):
            for number, line in enumerate(self._stream, 1):
                text = self._decoded(line, latin, number).rstrip("\r\n")
                yield number, text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text

    def filled_lines(self, latin: bool = False) -> Iterator[tuple[int, str]]:
        return ((number, line) for number, line in self.lines(latin) if line.strip())

    def error(self, line: int, message: str) -> InputError:
        """The error for a bad line, unless the archive is damaged: damage can yield garbage before it is detected."""
        if self._packed:
            with _damage_reported(self.where):
                while self._stream.read(BUFFER):
                    pass
        return InputError(f"{self.where}, line {line}: {message}")

    def _decoded(self, data: bytes, latin: bool, line: int) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as problem:
            if latin:  # copies of old files have sometimes been converted to UTF-8, sometimes not
                return data.decode("latin-1")
            line += data.count(b"\n", 0, problem.start)
            byte = data[problem.start]
        raise self.error(line, f"byte 0x{byte:02x} is not UTF-8; the original is UTF-8")


class Source:
    """What `--from PATH` names."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; expected the original as downloaded")
        self.path = path
        self.digests: dict[str, str] = {}  # SHA-256 of every file that was read
        self.unmatched: list[str] = []  # names of some files that were not
        self._progress = progress or (lambda done, total: None)

    def files(self, pattern: str) -> Iterator[File]:
        """The files whose path, without a final .gz, matches; each must be read before the next is requested."""
        wanted = re.compile(pattern)
        with _damage_reported(str(self.path)):
            for member in _members(self.path, self._progress):
                match = wanted.search("/" + member.name.removesuffix(".gz"))
                if match is None:
                    self.unmatched += [member.name] if len(self.unmatched) < UNMATCHED_NAMES else []
                    continue
                gzipped = member.name.endswith(".gz")
                with closing(_HashingReader(member.open())) as raw:
                    stream: Any = io.BufferedReader(raw, BUFFER)
                    stream = GzipFile(fileobj=stream) if gzipped else stream
                    yield File(member.name, match, member.where, stream, gzipped or _is_archive(self.path))
                    self.digests[member.name] = raw.digest.hexdigest()

    def error(self, message: str) -> InputError:
        return InputError(f"{self.path}: {message}")

    def refuse_second(self, file: File, seen: Container[str]) -> None:
        """Refuse two files for the same split, as in a folder of several corpora."""
        if file.group(1) in seen:
            raise self.error(f"expected one file per split, got {file.name} as a second one of {file.group(1)}")

    def mismatch(self, expected: str) -> InputError:
        return self.error(f"expected {expected}, got {quoted(self.unmatched) or 'nothing'}")


class Member(NamedTuple):
    name: str  # relative to the folder or the archive
    where: str  # for error messages
    open: Callable[[], Any]  # a readable stream of bytes


def _members(path: Path, progress: Progress) -> Iterator[Member]:
    """By name in a folder, in the stored order in an archive, where each must be read before the next."""
    if path.is_dir():
        yield from _folder_members(path, progress)
        return
    with open(path, "rb") as file:
        watched: Any = _ProgressReader(file, progress, path.stat().st_size)
        if not _is_archive(path):
            yield Member(path.name, str(path), lambda: watched)
        elif path.name.lower().endswith(".zip"):
            yield from _archive_members(path, _zip_entries(watched))
        else:
            yield from _archive_members(path, _tar_entries(watched))


def _is_archive(path: Path) -> bool:
    return path.is_file() and path.name.lower().endswith((".zip", *TAR_SUFFIXES))


def _folder_members(path: Path, progress: Progress) -> Iterator[Member]:
    files: list[Path] = []
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith(HIDDEN))
        files += [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
    for number, file in enumerate(files, 1):
        progress(number, len(files))
        if file.is_file():
            yield Member(file.relative_to(path).as_posix(), str(file), partial(file.open, "rb"))


def _archive_members(path: Path, entries: Iterator[tuple[str, Callable[[], Any]]]) -> Iterator[Member]:
    for name, opened in entries:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts:
            continue  # "." or an empty name: no corpus has such a file
        if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
            raise InputError(f"{path}: the name {name!r} points outside the archive; nothing was read from it")
        if not any(part.startswith(HIDDEN) for part in parts):
            yield Member("/".join(parts), f"{path} ({name})", opened)


def _zip_entries(file: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                yield entry.filename, partial(archive.open, entry)


def _tar_entries(file: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    with tarfile.open(fileobj=file) as archive:
        for entry in archive:
            if entry.isfile():  # no links, no devices
                yield entry.name, partial(archive.extractfile, entry)


class _ProgressReader(io.BufferedIOBase):
    """A seekable file that reports how far it has been read."""

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


class _HashingReader(io.RawIOBase):
    """Hashes what is read through it."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.inner.read(len(buffer))
        buffer[: len(data)] = data
        self.digest.update(data)
        return len(data)

    def close(self) -> None:
        self.inner.close()
        super().close()


@contextmanager
def _damage_reported(where: str) -> Iterator[None]:
    """Turn what the archive libraries raise for damaged data into an InputError."""
    try:
        yield
    except DAMAGE as problem:
        raise InputError(
            f"{where}: damaged, truncated or not an archive ({' '.join(str(problem).split())}); expected the complete file"
        ) from None
    except OSError as problem:
        if problem.errno is not None:  # from the operating system; bz2 reports damaged data without a number
            raise
        raise InputError(f"{where}: damaged or truncated ({problem}); expected the complete file") from None
    except (RuntimeError, NotImplementedError) as problem:  # zipfile: password needed, unknown compression
        raise InputError(f"{where}: cannot be unpacked ({problem}); expected an archive without a password") from None
