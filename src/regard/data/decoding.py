"""From the bytes of a file to text and lines: unpacked and decoded piece by piece, never as a whole."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from regard.errors import InputError

Source = Path | bytes  # bytes if they can be read only once, as from a pipe
Text = Callable[[], Iterator[str]]  # the pieces of a text, from the start at every call

PIECE = 2**17  # bytes; much larger pieces leave the processor's cache and take longer


@contextmanager
def opened(source: Source) -> Iterator[io.BufferedIOBase]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    try:
        with gzip.open(source) if source.suffix.lower() == ".gz" else source.open("rb") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise InputError(
            f"{source}: the gzip data is damaged or truncated ({problem}); expected a complete .gz file"
        ) from None
    except OSError as problem:
        raise InputError(f"{source}: cannot be read ({problem.strerror})") from None


def unpacked(source: Source) -> Iterator[bytes]:
    with opened(source) as file:
        while data := file.read(PIECE):
            yield data


def decoded(source: Source, name: str, lenient: bool) -> Iterator[str]:
    """The text of the bytes. If lenient, bytes that are not UTF-8 become lone surrogates, which make their row a bad one."""
    pieces = unpacked(source)
    first = next(pieces, b"")
    marked = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not first.startswith(codecs.BOM_UTF32_LE)
    if not (marked or lenient) and b"\0" in first[:4]:
        raise InputError(
            f"{name}: expected UTF-8, or UTF-16 with a byte order mark, got NUL bytes at the start, "
            "as in UTF-32 or in UTF-16 without the mark"
        )
    if marked:
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
    else:
        first = first.removeprefix(codecs.BOM_UTF8)
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape" if lenient else "strict")
    offset = line_feeds = 0  # of the previous pieces
    for data in chain((first,), pieces, (b"",)):
        begun = len(decoder.getstate()[0])  # bytes of a character that continues in this piece
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as problem:
            yield problem.object[: problem.start].decode()
            line = line_feeds + problem.object.count(b"\n", 0, problem.start) + 1
            byte = f"byte 0x{problem.object[problem.start]:02x} at offset {offset - begun + problem.start}"
            raise InputError(
                f"{name}, line {line}: {byte} is not UTF-8; convert the file, e.g. from Windows with iconv -f cp1252 -t utf-8"
            ) from None
        yield text
        offset += len(data)
        line_feeds += data.count(b"\n")


def is_blank(text: Text) -> bool:
    return not any(piece.strip("\ufeff \t\r\n") for piece in text())


def lines(pieces: Iterable[str]) -> Iterator[str]:
    """Lines with their line ends, in any system's style, as the CSV parser needs them."""
    return chain.from_iterable(io.StringIO(text, newline="") for text in _whole_lines(pieces))


def _whole_lines(pieces: Iterable[str]) -> Iterator[str]:
    held: list[str] = []  # the beginning of a line that continues in the next piece
    for piece in pieces:
        # a final carriage return may be half of a line end
        end = max(piece.rfind("\n"), piece.rfind("\r", 0, -1)) + 1
        held.append(piece[:end])
        if end:
            yield "".join(held)
            held = []
        held.append(piece[end:])
    yield "".join(held)
