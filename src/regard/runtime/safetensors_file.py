"""Reads a safetensors file with NumPy alone: 8 bytes with the length of a JSON header, the header, then plain arrays.

The format is described at https://huggingface.co/docs/safetensors. Every size is checked before it is used.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError

MOST_HEADER = 100_000_000  # bytes, the limit of the safetensors package
MOST_NUMBERS = 1 << 60  # beside a zero, a shape may have any size


def read_floats(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a file, all of which must be float32."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > min(MOST_HEADER, len(content) - 8):
        raise InputError(f"{path}: not a safetensors file: its header is longer than the file")
    try:
        header = json.loads(content[8 : 8 + size])
    except (ValueError, RecursionError):  # it may be nested too deeply
        raise InputError(f"{path}: not a safetensors file: its header is not JSON") from None
    if not isinstance(header, dict):
        raise InputError(f"{path}: not a safetensors file: its header is not a JSON object")
    data = memoryview(content)[8 + size :]
    return {
        name: read_array(entry, data, f"{path}, {name}") for name, entry in header.items() if name != "__metadata__"
    }


def read_array(entry: Any, data: memoryview, where: str) -> NDArray[np.float32]:
    try:
        kind, shape, (first, last) = entry["dtype"], entry["shape"], entry["data_offsets"]
    except (LookupError, TypeError, ValueError):
        raise InputError(f"{where}: expected dtype, shape and data_offsets, got {str(entry)[:80]}") from None
    if kind != "F32":
        raise InputError(f"{where}: expected float32, got {kind!r}")
    numbers = (first, last, *shape) if isinstance(shape, list) else (None,)
    if not all(type(number) is int and 0 <= number < MOST_NUMBERS for number in numbers):
        raise InputError(f"{where}: expected a shape and offsets of whole numbers, got {str(entry)[:80]}")
    if last > len(data) or last - first != 4 * math.prod(shape):
        raise InputError(f"{where}: the shape {shape} does not match its {last - first} bytes")
    return np.frombuffer(data[first:last], dtype="<f4").astype(np.float32, copy=False).reshape(shape)
