"""Atomic writes: a reader never sees half a file, even if the writer is killed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from regard.errors import InputError

LOCK = ".lock"  # in a run folder while a run writes to it; see `run_lock`
PARTIAL = ".partial"  # how the temporary names of files end that are being written


def write_all(folder: Path, contents: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write files of a folder together: all to temporary names first, then renamed in order.

    A content may be an iterable of pieces, which are produced while they are written.

    A killed writer may leave the last file missing, but never new files next to an old last one.
    """
    created = missing_folders(folder)
    temporary: list[Path] = []
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            path = folder / name
            temporary.append(folder / f".{name}{PARTIAL}")
            with open(temporary[-1], "wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
        if len(contents) > 1:
            path.unlink(missing_ok=True)
        for source, name in zip(temporary, contents, strict=True):
            path = folder / name
            os.replace(source, path)
    except OSError as error:
        remove_leftovers(temporary, created)
        raise InputError(
            f"{path}: could not be written ({error.strerror or error}); no half-written file was left behind"
        ) from None
    except BaseException:  # Ctrl-C
        remove_leftovers(temporary, created)
        raise


def missing_folders(folder: Path) -> list[Path]:
    """The folder and its parents that do not exist yet, innermost first."""
    return [parent for parent in (folder, *folder.parents) if not parent.exists()]


def remove_leftovers(files: Iterable[Path], folders: Iterable[Path]) -> None:
    """Remove temporary files, and those of the folders (innermost first) that are empty."""
    for path in files:
        path.unlink(missing_ok=True)
    for folder in folders:
        with suppress(OSError):  # it is not empty, or another process has just removed it
            folder.rmdir()


def contents(folder: Path) -> list[str]:
    """The names in a folder, sorted, without those that a killed run leaves behind."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name != LOCK and not (name.startswith(".") and name.endswith(PARTIAL))]


def check_writable(folder: Path) -> None:
    """Reject a folder that cannot be created or written to now, rather than after hours of work."""
    existing = next(parent for parent in (folder, *folder.absolute().parents) if os.path.lexists(parent))
    if not existing.is_dir():
        raise InputError(f"{folder}: cannot be a folder, because {existing} is a file")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written to, because {existing} is read-only or belongs to another user")


def write(path: Path, content: str | bytes | Iterable[str] | Iterable[bytes]) -> None:
    """Write a file atomically. A pipe, device or link is written into, as a shell does, and never replaced: root would
    otherwise lose /dev/null."""
    pieces: Iterable[bytes]
    if isinstance(content, bytes):
        pieces = [content]
    else:
        parts: Iterable[str | bytes] = [content] if isinstance(content, str) else content
        pieces = (part if isinstance(part, bytes) else part.encode("utf-8", "replace") for part in parts)
    if not os.path.lexists(path) or stat.S_IFMT(path.lstat().st_mode) in (stat.S_IFREG, stat.S_IFDIR):
        write_all(path.parent, {path.name: pieces})
        return
    try:
        with open(path, "wb") as file:
            file.writelines(pieces)
    except BrokenPipeError:  # the reader has closed the pipe; the caller handles it
        raise
    except OSError as error:
        raise InputError(f"{path}: could not be written ({error.strerror or error})") from None
