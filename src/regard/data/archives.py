"""Zip files with one table inside, read in place and never unpacked to disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from regard.errors import InputError, quoted

LARGEST = 2**33  # bytes that a table may have when it is unpacked: a small file can be made to unpack without end

# what zipfile raises about damaged data: an offset before the start of the file is an OSError, a bad name a ValueError
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, ValueError, OverflowError, struct.error)


class Zipped(NamedTuple):
    """A file inside a zip file."""

    path: Path
    member: str

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.member).suffix.lower()

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Never gives more bytes than the archive states for it, which `zipped_table` has checked."""
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                yield file
        except InputError:
            raise
        except DAMAGED as problem:
            raise _damaged(self.path, problem) from None
        except (RuntimeError, NotImplementedError) as problem:
            raise InputError(
                f"{self.path}: {self.member} cannot be unpacked ({problem}); expected a plain zip"
            ) from None


def zipped_table(path: Path, forms: Collection[str]) -> Zipped:
    """The only table in the zip file; `forms` are the extensions of tables, without the dot."""
    if not path.is_file():  # its directory is at the end, so it cannot be read from a pipe
        raise InputError(f"{path}: expected a file, got a pipe; unpack it first")
    try:
        with zipfile.ZipFile(path) as archive:
            named = [one for one in archive.infolist() if one.filename]  # `is_dir` expects a name
            files = [one for one in named if not one.is_dir() and not _is_system_file(one.filename)]
    except (*DAMAGED, NotImplementedError) as problem:
        if isinstance(problem, OSError) and problem.filename is not None:  # opening it failed
            raise InputError(f"{path}: cannot be read ({problem.strerror or problem})") from None
        raise _damaged(path, problem) from None
    tables = [one for one in files if Zipped(path, one.filename).suffix[1:] in forms]
    names = [one.filename for one in tables]
    if len(tables) != 1:
        found = (
            quoted(names, most=6) if names else f"none ({quoted([one.filename for one in files], most=6) or 'empty'})"
        )
        raise InputError(f"{path}: expected a zip file with one table inside, got {found}; unpack it and name one file")
    if tables[0].file_size > LARGEST:
        raise InputError(
            f"{path}: {names[0]} has {tables[0].file_size:,} bytes when it is unpacked; expected at most {LARGEST:,}, "
            "so unpack it first if you trust it"
        )
    return Zipped(path, names[0])


def _is_system_file(name: str) -> bool:
    """What macOS adds to zip files, and hidden files."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith(".")


def _damaged(path: Path, problem: Exception) -> InputError:
    return InputError(f"{path}: the zip data is damaged or truncated ({problem}); expected a complete .zip file")
