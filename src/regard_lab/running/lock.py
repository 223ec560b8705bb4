"""One writer a results file: a lock that the operating system holds, so that a killed run leaves none behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from regard.errors import InputError
from regard.run_lock import CAN_LOCK, Locked, lock


class Lock:
    """Held from `with` on; somebody else's is an error at once."""

    def __init__(self, results: Path):
        self.results = results
        self.handle = -1

    def __enter__(self) -> Self:
        if not CAN_LOCK:  # Windows, where locked bytes cannot be read: a file beside it
            return self._enter_windows()
        self.handle = os.open(self.results, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            lock(self.handle, self._busy())
        except OSError as error:
            raise self._unlockable(error) from None
        return self

    def _enter_windows(self) -> Self:
        import msvcrt

        place = self.results.with_name(f".{self.results.name}.lock")
        self.handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            msvcrt.locking(self.handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            os.close(self.handle)
            raise Locked(self._busy()) from None
        return self

    def _busy(self) -> str:
        return f"{self.results}: another run is writing to it; wait until it ends, or choose another folder with --out"

    def _unlockable(self, error: OSError) -> InputError:
        return InputError(
            f"{self.results}: cannot be locked there ({error.strerror or error}); give a folder of another disk by --out"
        )

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)  # and with it the lock
