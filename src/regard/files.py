"""Atomic writes: a reader never sees half a file, even if the writer is killed; and folders from strangers.

Temporary names are random and must be new, so that no link that lies in a folder is followed. `check_plain` refuses a folder
with links and the like in it.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NamedTuple

from regard.errors import InputError

LOCK = ".lock"  # in a run folder while a run writes to it; see `run_lock`
PARTIAL = ".partial"  # how the temporary names of files end that are being written
# O_NOFOLLOW does not exist on Windows, where O_EXCL does not follow links either
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
TEMPORARY = re.compile(
    r"\.(?P<name>.+?)(?:\.(?P<token>[0-9a-f]{16}))?\.partial", re.DOTALL
)  # earlier versions had no token
KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def write_all(
    folder: Path, contents: Mapping[str, bytes | Iterable[bytes | memoryview]], stale: Iterable[str] = ()
) -> None:
    """Write files of a folder together: all to temporary names first, then renamed in order.

    A content may be an iterable of pieces, which are produced while they are written. `stale` are files that do not belong
    to the new ones: they are removed once all new files are complete.

    A killed writer may leave the last file missing, but never new files next to an old last one. Once a file of the folder has
    changed, an error leaves the temporary files, which are complete, so that nothing is lost; Ctrl-C waits until all is written.
    """
    created = missing_folders(folder)
    token = secrets.token_hex(8)
    temporary: list[Path] = []
    path = folder
    changed = False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            path = folder / name
            temporary.append(folder / f".{name}.{token}{PARTIAL}")
            with create(temporary[-1]) as file:
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
        with interrupted_later():
            for old in [path] * (len(contents) > 1) + [folder / name for name in stale]:
                path = old
                existed = os.path.lexists(path)
                path.unlink(missing_ok=True)
                changed = changed or existed
            for source, name in zip(temporary, contents, strict=True):
                path = folder / name
                os.replace(source, path)
                changed = True
    except OSError as error:
        if not changed:
            remove_leftovers(temporary, created)
        left = (
            f"all new files are complete, some of them under names that end in {PARTIAL}; repeat the command once the disk "
            "can be written to"
            if changed
            else "no half-written file was left behind"
        )
        raise InputError(f"{path}: could not be written ({error.strerror or error}); {left}") from None
    except BaseException:  # Ctrl-C while the temporary files were written
        if not changed:
            remove_leftovers(temporary, created)
        raise


@contextmanager
def interrupted_later() -> Iterator[None]:
    """Ctrl-C takes effect at the end of the block; only the main thread can and needs to put it off."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    received: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if received and callable(before):
            before(*received[0])


def create(path: Path) -> BinaryIO:
    """A new file. An error if there is anything of that name, even a link to nowhere."""
    return os.fdopen(os.open(path, NEW, 0o666), "wb")


class Temporary(NamedTuple):
    """A file that was being written, perhaps by a process that was killed."""

    path: Path
    name: str  # that it was to get
    token: str | None  # shared by files that were written together


def temporary_files(folder: Path) -> list[Temporary]:
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    matches = ((name, TEMPORARY.fullmatch(name)) for name in names)
    return [Temporary(folder / name, match["name"], match["token"]) for name, match in matches if match]


def missing_folders(folder: Path) -> list[Path]:
    """The folder and its parents that do not exist yet, innermost first."""
    return [parent for parent in (folder, *folder.parents) if not parent.exists()]


def remove_leftovers(files: Iterable[Path], folders: Iterable[Path]) -> None:
    """Remove temporary files, and those of the folders (innermost first) that are empty."""
    for path in files:
        with suppress(OSError):  # it is of no harm
            path.unlink()
    for folder in folders:
        with suppress(OSError):  # it is not empty, or another process has just removed it
            folder.rmdir()


def is_same_file(one: str, other: str | None) -> bool:
    """The same name, or another path to the same file."""
    if one == other:
        return True
    return other is not None and os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def contents(folder: Path) -> list[str]:
    """The names in a folder, sorted, without those that a killed run leaves behind."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name != LOCK and not TEMPORARY.fullmatch(name)]


def check_plain(folder: Path, subfolders: Iterable[str] = ()) -> None:
    """Refuse a folder with links, pipes, devices or sockets in it: they lead out of it, or hang whoever opens them.

    Subfolders are looked into if they are named. Links within the cache of huggingface_hub, which has no other files, are
    allowed.
    """
    for inner in (folder, *(folder / name for name in subfolders)):
        try:
            entries = sorted(os.scandir(inner), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise InputError(f"{inner}: cannot be read ({error.strerror or error})") from None
        for entry in entries:
            try:
                kind = stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode)
            except FileNotFoundError:  # another process has removed it, such as its lock
                continue
            is_junction = getattr(entry, "is_junction", lambda: False)()  # of Windows, since Python 3.12
            if (kind in (stat.S_IFREG, stat.S_IFDIR) and not is_junction) or is_cached(Path(entry.path)):
                continue
            raise InputError(
                f"{entry.path}: expected a plain file, got {KINDS.get(kind, 'a device')}, which may lead out of the folder; "
                "remove it, or copy what it leads to"
            )


def is_cached(path: Path) -> bool:
    """Whether it is a link of huggingface_hub's cache, from snapshots/COMMIT/NAME to ../../blobs/HASH, a plain file."""
    folder = os.path.realpath(path.parent)
    snapshots = os.path.dirname(folder)
    blobs = os.path.join(os.path.dirname(snapshots), "blobs")
    try:
        blob = os.path.normpath(os.path.join(folder, os.readlink(path)))
        is_plain = stat.S_ISREG(os.lstat(blob).st_mode) and stat.S_ISDIR(os.lstat(blobs).st_mode)
    except OSError:
        return False
    return is_plain and os.path.basename(snapshots) == "snapshots" and os.path.dirname(blob) == blobs


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
