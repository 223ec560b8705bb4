"""Make text safe to show: control characters from a user's text must not affect a page, figure or terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import TextIO

# Controls, lone surrogates and noncharacters: XML cannot contain them, UTF-8 cannot encode surrogates, and a terminal
# executes controls. Tab, newline and carriage return are text.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def visible(text: str) -> str:
    """The text with every unsafe character replaced by a symbol. Its length stays the same, so that spans stay valid."""
    return _UNSAFE.sub(lambda match: _symbol(ord(match.group())), text)


def one_line(text: object) -> str:
    """A name (a class, a fact, a word) made safe and put on one line."""
    return " ".join(visible(str(text)).split())


def printable(sentence: str) -> str:
    """Replace control characters, because a sentence may quote a user's file."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in sentence)


def print_line(line: str, file: TextIO | None = None) -> None:
    """Print a line with names of a user's files in it, which may contain control characters."""
    print(printable(line), file=file, flush=True)


def cells(text: str) -> int:
    """The width of a text in monospace cells: 2 for wide East Asian characters, 0 for marks on a letter."""
    return sum(map(_cell, text))


def shortened(text: str, most: int) -> str:
    """On one line of at most so many cells; longer text is cut and ends with an ellipsis."""
    text = one_line(text)
    if len(text) <= most and cells(text) <= most:
        return text
    # only the beginning is measured, one character at a time, because a label may be as long as a book
    width, kept = 0, 0
    for char in text:
        width += _cell(char)
        if width > most:
            break
        kept += 1
    else:
        return text
    while kept and cells(text[:kept]) + 1 > most:
        kept -= 1
    return text[: min(kept, len(text) - 2)] + "…"


def is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def direction(text: str) -> str | None:
    """'ltr' or 'rtl' by the first letter that has a direction; None if none has."""
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind == "L":
            return "ltr"
        if kind in ("R", "AL"):
            return "rtl"
    return None


def _symbol(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ESC shows as ␛
    return "␡" if code == 0x7F else "\ufffd"


def _cell(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if is_wide(char) else 1
