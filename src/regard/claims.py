"""A folder is one run's at a time. The operating system holds the claim, so that a killed run leaves none behind."""

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
from regard.files import check_place, clear, missing

LOCKS = fcntl is not None  # whether the system knows locks that a killed process gives back


class Taken(InputError):
    """Somebody else's at this moment."""


class Claim:
    """Held from its making to the end of `with`; where it is left empty, the folder is gone again."""

    def __init__(self, folder: Path):
        self.folder = folder
        check_place(folder)
        self.made = missing(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.handle = hold(folder)
        except OSError as error:
            clear((), self.made)
            raise InputError(f"{folder}: cannot be made or opened ({error.strerror or error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        clear((), self.made)
        if self.handle is not None:
            os.close(self.handle)  # and with it the claim


def first_claim(folders: Iterable[Path]) -> Claim:
    """Of the first that nobody else has at this moment."""
    taken: Taken | None = None
    for folder in folders:
        try:
            return Claim(folder)
        except Taken as error:
            taken = taken or error
    assert taken is not None  # there is at least one
    raise taken


def hold(folder: Path) -> int | None:
    """Where folders can be locked: not on Windows, nor on every network's disk."""
    if not LOCKS:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock(handle, f"{folder}: another run is writing to it; wait for its end, or give another --out")
    except OSError:
        return None
    return handle


def lock(handle: int, taken: str) -> None:
    """Of an open file or folder, to its closing; where it cannot be locked it is closed at once. `taken` says that somebody
    else has it."""
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise Taken(taken) from None
        raise
