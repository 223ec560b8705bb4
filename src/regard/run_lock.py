"""The lock of a run folder: two runs never write to it at once. It is the operating system's, so a killed run leaves none.

What is locked is a file, `.lock` in the folder, because Windows cannot lock folders. It is removed when the run ends; one that a
killed run leaves behind is unlocked, and `files.contents` ignores it.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from regard.errors import InputError
from regard.files import LOCK, check_plain, check_writable, missing_folders, remove_leftovers

# what a disk answers that has no locks, such as some network disks
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}

ATTEMPTS = 100  # to create a folder and lock it before somebody removes it


class Locked(InputError):
    """Another process holds the lock."""


class LockFile:
    """A lock file, held from construction to `release`. OSError where it cannot be created or locked."""

    def __init__(self, path: Path, message: str):
        """`message` is the error where another process holds it."""
        self.path = path
        # no fallback to a lock that is a mere file: a killed run would leave that behind
        self._lock = FileLock(path, blocking=False, fallback_to_soft=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise Locked(message) from None
        except OSError as error:
            if error.errno in NO_LOCKS:  # the file was created before it could not be locked
                path.unlink(missing_ok=True)
            raise

    def release(self) -> None:
        """Remove the file while it is still locked: a process that has opened it in the meantime sees, after locking it, that it
        has no name any more, and starts over. Windows does not remove open files; there filelock does so afterwards."""
        with suppress(OSError):
            self.path.unlink()
        self._lock.release()


class RunLock:
    """Held from construction to the end of `with`. A folder that it created and that is still empty is removed again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.created: list[Path] = []
        check_writable(folder)
        check_plain(folder)  # the lock file may be a link, which filelock would follow
        try:
            self.file = self._lock()
        except OSError as error:
            remove_leftovers((), self.created)
            raise InputError(f"{folder}: cannot be created or opened ({error.strerror or error})") from None

    def _lock(self) -> LockFile | None:
        """None where files cannot be locked."""
        message = f"{self.folder}: another run is writing to it; wait until it ends, or choose another --out"
        for attempt in range(ATTEMPTS):
            try:
                self.created = missing_folders(self.folder)
                self.folder.mkdir(parents=True, exist_ok=True)
                return LockFile(self.folder / LOCK, message)
            except FileNotFoundError:  # another run ended at this moment and removed its empty folder
                if attempt == ATTEMPTS - 1:
                    raise
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                break
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.release()
        remove_leftovers((), self.created)


def lock_first(folders: Iterable[Path]) -> RunLock:
    """Lock the first folder that no other process holds."""
    first_error: Locked | None = None
    for folder in folders:
        try:
            return RunLock(folder)
        except Locked as error:
            first_error = first_error or error
    assert first_error is not None  # there is at least one folder
    raise first_error
