"""What a file holds: its bytes, unpacked, and the text that they stand for."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from regard.errors import InputError


def unpacked(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix.lower() == ".gz":
            data = gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise InputError(
            f"{path}: the gzip data is damaged or cut off ({problem}); a whole .gz file is expected"
        ) from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror})") from None
    return data


def decoded(data: bytes, name: str, lenient: bool) -> str:
    """The text of the bytes. Lenient: what is no UTF-8 becomes lone surrogates, which make their row a bad one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8", errors="surrogateescape" if lenient else "strict")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        found = f"byte 0x{data[problem.start]:02x} at offset {problem.start}"
        raise InputError(
            f"{name}, line {line}: {found} is not UTF-8; convert the file to UTF-8 (iconv -f latin1 -t utf-8)"
        ) from None
