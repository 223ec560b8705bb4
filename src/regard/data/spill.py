"""A long array of whole numbers that lies in memory while it is short, and in a temporary file when it is not."""

from __future__ import annotations

import tempfile
import weakref
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MOST = 1 << 26  # bytes that stay in memory


class Spill:
    """Grows at its end; read by ranges. The file has no name and is gone with the program, however that ends."""

    def __init__(self, dtype: Any, most: int = MOST) -> None:
        self.dtype, self.most = np.dtype(dtype), most
        self._parts: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._size = 0
        self._reading = Lock()  # several threads read, and a file has one place

    def __len__(self) -> int:
        return self._size

    def append(self, values: NDArray[Any]) -> None:
        values = np.ascontiguousarray(values, dtype=self.dtype)
        self._size += len(values)
        if self._file is None and self._size * self.dtype.itemsize > self.most:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (as long as this object)
            weakref.finalize(self, self._file.close)
            for part in self._parts:
                self._file.write(part.tobytes())
            self._parts = []
        if self._file is None:
            self._parts.append(values)
        else:
            self._file.seek(0, 2)
            self._file.write(values.tobytes())

    def read(self, start: int, stop: int) -> NDArray[Any]:
        if self._file is not None:
            with self._reading:
                self._file.seek(start * self.dtype.itemsize)
                raw = self._file.read((stop - start) * self.dtype.itemsize)
            return np.frombuffer(raw, dtype=self.dtype)
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, self.dtype), *self._parts])]
        part: NDArray[Any] = self._parts[0][start:stop]
        return part

    def renumber(self, numbers: NDArray[Any], chunk: int = 1 << 22) -> None:
        """Replace every value that is no −1 by the one that `numbers` has in its place."""
        for start in range(0, self._size, chunk):
            values = self.read(start, min(start + chunk, self._size))
            changed = np.where(values < 0, -1, numbers[values]).astype(self.dtype)
            if self._file is None:
                values[:] = changed
            else:
                self._file.seek(start * self.dtype.itemsize)
                self._file.write(changed.tobytes())
