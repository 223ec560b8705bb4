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
from typing import IO

from regard.data.archives import Zipped
from regard.data.likely_encoding import likely_encoding, marked_encoding
from regard.errors import InputError

Source = Path | Zipped | bytes  # bytes if they can be read only once, as from a pipe
Text = Callable[[], Iterator[str]]  # the pieces of a text, from the start at every call

PIECE = 2**17  # bytes; much larger pieces leave the processor's cache and take longer
LONGEST_LINE = 2**26  # characters; of a small compressed file, one line could fill the memory
WIDE = ("utf-16", "utf-32")  # encodings whose characters have two or four bytes
LARGEST_WHOLE = 2**30  # bytes or characters of what is held in memory as a whole


@contextmanager
def opened(source: Source) -> Iterator[IO[bytes] | io.BufferedIOBase]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    if isinstance(source, Zipped):
        with source.opened() as member:
            yield member
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


def read_whole(file: IO[bytes] | io.BufferedIOBase, name: str) -> bytes:
    """All bytes of a file that cannot be read piece by piece."""
    content = file.read(LARGEST_WHOLE + 1)
    if len(content) > LARGEST_WHOLE:
        raise InputError(
            f"{name}: {too_long('a file of this format', LARGEST_WHOLE, 'bytes')}; split it, or use .csv or .jsonl"
        )
    return content


def whole_text(text: Text, name: str) -> str:
    """The same for a text."""
    pieces, size = [], 0
    for piece in text():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_WHOLE:
            raise InputError(f"{name}: {too_long('a JSON list', LARGEST_WHOLE)}; use .jsonl, one object per line")
    return "".join(pieces)


def too_long(what: str, most: int = LONGEST_LINE, unit: str = "characters") -> str:
    return f"expected {what} of up to {most:,} {unit}, got more"


def decoded(source: Source, name: str, lenient: bool, encoding: str | None = None) -> Iterator[str]:
    """The text of the bytes, which are UTF-8 unless `encoding` or a byte order mark says otherwise.

    If lenient, bytes that cannot be decoded become lone surrogates, which make their row a bad one.
    """
    pieces = unpacked(source)
    first = next(pieces, b"")
    marked = marked_encoding(first)
    encoding = marked or (None if encoding is None else check_encoding(encoding)) or "utf-8"
    if not (marked or lenient) and encoding == "utf-8" and b"\0" in first[:4]:
        raise InputError(
            f"{name}: expected UTF-8, or UTF-16 with a byte order mark, got NUL bytes at the start, "
            f"as in UTF-32 or in UTF-16 without the mark; --encoding {likely_encoding(first)} probably reads it"
        )
    decoder = codecs.getincrementaldecoder(encoding)(_MARK_BAD_BYTES if lenient else "strict")
    begins = True
    offset = line_feeds = 0  # of the previous pieces
    for data in chain((first,), pieces, (b"",)):
        begun = len(decoder.getstate()[0])  # bytes of a character that continues in this piece
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as problem:
            if encoding == "utf-8":
                yield problem.object[: problem.start].decode()
            place = _undecodable(problem, offset - begun, line_feeds, encoding)
            raise InputError(f"{name}, {place}") from None
        except UnicodeError as problem:  # encodings that are not made for files, such as idna
            raise InputError(f"{name}: is not {encoding} ({problem}); expected another --encoding") from None
        yield text.removeprefix("\ufeff") if begins else text
        begins = begins and not text
        offset += len(data)
        line_feeds += text.count("\n")


def _undecodable(problem: UnicodeDecodeError, offset: int, line_feeds: int, encoding: str) -> str:
    """Where the bytes cannot be decoded, and what may help; `offset` and `line_feeds` are those of its first byte."""
    before = problem.object[: problem.start]
    # in UTF-16, the byte of a line feed also occurs in other characters
    line = (
        line_feeds + (before.count(b"\n") if encoding not in WIDE else before.decode(problem.encoding).count("\n")) + 1
    )
    where = f"line {line}: byte 0x{problem.object[problem.start]:02x} at offset {offset + problem.start}"
    if encoding in WIDE:
        return f"{where}: expected {encoding.upper()}, got half a character ({problem.reason})"
    advice = likely_encoding(problem.object[_line_start(problem) :])
    return f"{where} is not {_title(encoding)}; --encoding {advice} probably reads it"


def check_encoding(name: str) -> str:
    """The encoding's name, if Python knows it and it encodes text (and not, as rot13, something else)."""
    try:
        if "a".encode(name).decode(name) == "a":
            return name
    except (LookupError, ValueError):
        pass
    raise InputError(
        f"--encoding {name}: expected the name of an encoding, such as cp1252, latin-1, utf-16, shift_jis or gb18030"
    )


def _mark_bad_bytes(problem: UnicodeError) -> tuple[str, int]:
    """One lone surrogate; Python's own handler for this does not know UTF-16."""
    assert isinstance(problem, UnicodeDecodeError)
    return "\udc80", problem.end


_MARK_BAD_BYTES = "regard_mark_bad_bytes"
codecs.register_error(_MARK_BAD_BYTES, _mark_bad_bytes)


def _line_start(problem: UnicodeDecodeError) -> int:
    """Where the sample for a guess begins: the line of the error, because all lines before it were ASCII or happened to fit."""
    return problem.object.rfind(b"\n", 0, problem.start) + 1


def _title(encoding: str) -> str:
    return "UTF-8" if encoding == "utf-8" else encoding


def is_blank(text: Text) -> bool:
    return not any(piece.strip("\ufeff \t\r\n") for piece in text())


def lines(pieces: Iterable[str], name: str) -> Iterator[str]:
    """Lines with their line ends, in any system's style, as the CSV parser needs them."""
    return chain.from_iterable(map(split_lines, whole_lines(pieces, name)))


def split_lines(text: str) -> Iterable[str]:
    return io.StringIO(text, newline="")


def whole_lines(pieces: Iterable[str], name: str) -> Iterator[str]:
    """Blocks of complete lines; the last line of the text may have no line end."""
    held: list[str] = []  # the beginning of a line that continues in the next piece
    size = line_feeds = 0
    for piece in pieces:
        # a final carriage return may be half of a line end
        end = max(piece.rfind("\n"), piece.rfind("\r", 0, -1)) + 1
        held.append(piece[:end])
        if end:
            yield "".join(held)
            held, size = [], 0
        held.append(piece[end:])
        size += len(held[-1])
        line_feeds += piece.count("\n")
        if size > LONGEST_LINE:
            raise InputError(f"{name}, line {line_feeds + 1}: {too_long('a line')}")
    yield "".join(held)
