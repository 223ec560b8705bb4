"""The lock of a run folder: two runs never write to it at once. It is the operating system's, so a killed run leaves none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from regard.errors import InputError
from regard.files import check_writable, missing_folders, remove_leftovers

CAN_LOCK = fcntl is not None  # whether the system has locks that a killed process releases


class Locked(InputError):
    """Another process holds the lock."""


class RunLock:
    """Held from construction to the end of `with`. A folder that it created and that is still empty is removed again."""

    def __init__(self, folder: Path):
        self.folder = folder
        check_writable(folder)
        self.created = missing_folders(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.handle = open_locked(folder)
        except OSError as error:
            remove_leftovers((), self.created)
            raise InputError(f"{folder}: cannot be created or opened ({error.strerror or error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        remove_leftovers((), self.created)
        if self.handle is not None:
            os.close(self.handle)  # which releases the lock


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


def open_locked(folder: Path) -> int | None:
    """None where folders cannot be locked: on Windows, and on some network disks."""
    if not CAN_LOCK:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock(handle, f"{folder}: another run is writing to it; wait until it ends, or choose another --out")
    except OSError:
        return None
    return handle


def lock(handle: int, message: str) -> None:
    """Lock an open file or folder until it is closed. `message` is the error where another process holds it.

    Where it cannot be locked, it is closed and the error raised.
    """
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise Locked(message) from None
        raise
