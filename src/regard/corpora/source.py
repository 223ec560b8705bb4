"""An original as it was had: a folder, a file, or an archive, of which the files that match are read."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Container, Iterator
from contextlib import closing, contextmanager
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from typing import IO, Any

from regard.corpora.archives import Progress, members
from regard.data.guess import listed
from regard.errors import InputError

DAMAGE = (zipfile.BadZipFile, tarfile.TarError, BadGzipFile, EOFError, zlib.error, lzma.LZMAError)
MARK = "\ufeff"  # some editors and exports put it before the first letter of a file
SOME = 8  # names of other files that are told where none matches


class File:
    """One file of an original while it is read; `match` is what its path matched."""

    def __init__(self, name: str, match: re.Match[str], where: str, stream: IO[bytes]) -> None:
        self.name, self.match, self.where = name, match, where
        self._stream = stream

    def group(self, number: int) -> str:
        """A part of the path; "" where it matched without it."""
        return self.match.group(number) or ""

    def text(self, latin: bool = False) -> str:
        with _sound(self.where):
            return _decoded(self._stream.read(), latin, self.where, 1).removeprefix(MARK).replace("\r\n", "\n")

    def lines(self, latin: bool = False) -> Iterator[tuple[int, str]]:
        """Lines with their numbers, without their ends; `latin` for files of the time before UTF-8."""
        with _sound(self.where):
            for number, line in enumerate(self._stream, 1):
                text = _decoded(line, latin, self.where, number).rstrip("\r\n")
                yield number, text.removeprefix(MARK) if number == 1 else text

    def filled_lines(self, latin: bool = False) -> Iterator[tuple[int, str]]:
        return ((number, line) for number, line in self.lines(latin) if line.strip())

    def fault(self, line: int, found: str) -> InputError:
        return InputError(f"{self.where}, line {line}: {found}")


class Source:
    """What `--from PATH` names."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; the original as it was downloaded is expected")
        self.path = path
        self.read: dict[str, str] = {}  # the files that were read, with the SHA-256 of each
        self.others: list[str] = []  # some names of what was there and not read
        self._progress = progress or (lambda done, total: None)

    def files(self, pattern: str) -> Iterator[File]:
        """The files whose path, without a last .gz, matches; each must be read before the next is asked for."""
        wanted = re.compile(pattern)
        with _sound(str(self.path)):
            for member in members(self.path, self._progress):
                match = wanted.search("/" + member.name.removesuffix(".gz"))
                if match is None:
                    self.others += [member.name] if len(self.others) < SOME else []
                    continue
                with closing(_Reading(member.open())) as raw:
                    stream: Any = io.BufferedReader(raw, 1 << 17)
                    stream = GzipFile(fileobj=stream) if member.name.endswith(".gz") else stream
                    yield File(member.name, match, member.where, stream)
                    self.read[member.name] = raw.digest.hexdigest()

    def fault(self, found: str) -> InputError:
        return InputError(f"{self.path}: {found}")

    def refuse_second(self, file: File, found: Container[str]) -> None:
        """Two files could be the same part, as in a folder of several corpora."""
        if file.group(1) in found:
            raise self.fault(f"{file.name} is a second file of the part {file.group(1)}; one of each is expected")

    def mismatch(self, form: str) -> InputError:
        """Nothing of the form looked for was there."""
        return self.fault(f"{form} is looked for; {listed(self.others) or 'nothing'} is found")


@contextmanager
def _sound(where: str) -> Iterator[None]:
    try:
        yield
    except DAMAGE as problem:
        raise InputError(
            f"{where}: it is damaged or cut off, or not packed ({' '.join(str(problem).split())}); all of it is expected"
        ) from None
    except OSError as problem:
        if problem.errno is not None:  # the system's; bz2 says with one of no number that its data are damaged
            raise
        raise InputError(f"{where}: it is damaged or cut off ({problem}); all of it is expected") from None
    except (RuntimeError, NotImplementedError) as problem:  # zipfile's words for a password and an odd packing
        raise InputError(f"{where}: cannot be unpacked ({problem}); an open archive is expected") from None


class _Reading(io.RawIOBase):
    """Bytes as they are read, hashed on the way."""

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


def _decoded(data: bytes, latin: bool, where: str, line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if latin:  # copies of old files are sometimes UTF-8 by now, sometimes not
            return data.decode("latin-1")
        line += data.count(b"\n", 0, problem.start)
        raise InputError(
            f"{where}, line {line}: byte 0x{data[problem.start]:02x} is not UTF-8; the original is UTF-8"
        ) from None
