"""An array that is in memory while it is short, and in a temporary file when it is long."""

from __future__ import annotations

import tempfile
import weakref
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError

IN_MEMORY = 1 << 26  # bytes of an array that stay in memory


class SpillingArray:
    """Grows at its end and is read by ranges.

    The file has no name and disappears with the process, however that ends.
    """

    def __init__(self, dtype: Any, most: int | None = None) -> None:
        self.dtype, self.most = np.dtype(dtype), IN_MEMORY if most is None else most
        self._parts: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._size = 0
        self._reading = Lock()  # several threads read, but a file has one position

    def __len__(self) -> int:
        return self._size

    @property
    def is_on_disk(self) -> bool:
        return self._file is not None

    def append(self, values: NDArray[Any]) -> None:
        values = np.ascontiguousarray(values, dtype=self.dtype)
        self._size += len(values)
        try:
            if self._file is None and self._size * self.dtype.itemsize > self.most:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as this object)
                weakref.finalize(self, self._file.close)
                for part in self._parts:
                    self._file.write(part.tobytes())
                self._parts = []
            if self._file is None:
                self._parts.append(values)
            else:
                self._file.seek(0, 2)
                self._file.write(values.tobytes())
        except OSError as error:
            raise InputError(
                f"{tempfile.gettempdir()}: expected room for the texts of a large file, got {error.strerror}; "
                "the environment variable TMPDIR names another temporary folder"
            ) from None

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
        """Replace every value except −1 by `numbers[value]`."""
        for start in range(0, self._size, chunk):
            values = self.read(start, min(start + chunk, self._size))
            changed = np.where(values < 0, -1, numbers[values]).astype(self.dtype)
            if self._file is None:
                values[:] = changed
            else:
                self._file.seek(start * self.dtype.itemsize)
                self._file.write(changed.tobytes())
