"""Writing so that a reader, or a killed writer, never meets half a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from regard.errors import InputError


def write_all(folder: Path, contents: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write files of a folder together: all are written beside their places first, then moved there one after the other.

    A content may come in pieces, which are made while they are written.

    A killed writer may leave the last one missing, but never new ones beside an old last one.
    """
    made = missing(folder)
    waiting: list[Path] = []
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            place = folder / name
            waiting.append(folder / f".{name}.partial")
            with open(waiting[-1], "wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
        if len(contents) > 1:
            place.unlink(missing_ok=True)
        for path, name in zip(waiting, contents, strict=True):
            place = folder / name
            os.replace(path, place)
    except OSError as error:
        clear(waiting, made)
        raise InputError(
            f"{place}: could not be written ({error.strerror or error}); nothing was left there half-written"
        ) from None
    except BaseException:  # Ctrl-C
        clear(waiting, made)
        raise


def missing(folder: Path) -> list[Path]:
    """The folders that have to be made for it, itself among them, innermost first."""
    return [parent for parent in (folder, *folder.parents) if not parent.exists()]


def clear(waiting: Iterable[Path], made: Iterable[Path]) -> None:
    """Take back what was written beside its place, and the folders that were made for it, innermost first."""
    for path in waiting:
        path.unlink(missing_ok=True)
    for folder in made:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def check_place(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to now, rather than after hours of work."""
    there = next(parent for parent in (folder, *folder.absolute().parents) if os.path.lexists(parent))
    if not there.is_dir():
        raise InputError(f"{folder}: cannot be a folder, for {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written to, for {there} is read-only or belongs to somebody else")


def write(path: Path, content: str | Iterable[str]) -> None:
    """Into a file, which is there as a whole or not at all; what else is there (a pipe, a device, a link) is written into,
    as a shell does, and never replaced: as a superuser one would lose /dev/null."""
    pieces = (piece.encode("utf-8", "replace") for piece in ([content] if isinstance(content, str) else content))
    if not os.path.lexists(path) or stat.S_IFMT(path.lstat().st_mode) in (stat.S_IFREG, stat.S_IFDIR):
        write_all(path.parent, {path.name: pieces})
        return
    try:
        with open(path, "wb") as file:
            file.writelines(pieces)
    except BrokenPipeError:  # whoever read has seen enough
        raise
    except OSError as error:
        raise InputError(f"{path}: could not be written ({error.strerror or error})") from None
