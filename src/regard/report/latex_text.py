"""Text as LaTeX that prints exactly its characters, with the commands of `latex/heatmap.tex` for directions.

Every character becomes itself or an entry of `SIGNS`, so that no character of a text can start a command.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import takewhile

from regard.report.text.characters import direction, is_wide

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # unprotected at the start of a row, they would be arguments of the preceding \\
    **{character: f"{{{character}}}" for character in "[]*"},
    **{character: f"${character}$" for character in "<>"},
    "–": "--",
    "…": r"\dots{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "²": "$^2$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "τ": r"$\tau$",
}
SIGNS = {
    **SPECIAL,
    '"': r"{\char34}",  # a command in some languages of babel
    "`": r"\textasciigrave{}",  # alone it would become an opening quotation mark
    "\n": r"\newline{}",
    "\xad": r"\-",
    "\ufffd": "{?}",  # the replacement character, which LuaTeX refuses to read
}
# left out: pdflatex cannot set them, and directions are commands
INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\u2060\u2066\u2067\u2068\u2069\ufeff"))
REPEATED = frozenset("-',")  # two of them would become one sign
# the letters of T1 and TS1 in UTF-8 (LaTeX's t1enc.dfu and ts1enc.dfu), beside ASCII and Latin-1
MISSING = frozenset("ĦħĸĿŀŉŦŧſ")
EXTENDED = frozenset(map(chr, range(0x100, 0x180))) - MISSING | frozenset("ȘșȚț‐–—‘’‚“”„†‡•‰‹›€™")
BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">", "«": "»", "‹": "›"}
CLOSING = {closing: opening for opening, closing in BRACKETS.items()}
BRACKET = re.compile(r"([()\[\]{}<>«»‹›])")

# a piece of a line: the text, and the LaTeX that prints it
Printed = tuple[str, str]


def is_plain(body: str) -> bool:
    """Whether pdflatex can set these characters."""
    return all(map(in_t1, body))


def in_t1(char: str) -> bool:
    return char.isascii() or "\xa0" <= char <= "\xff" or char in EXTENDED


def escaped(text: str) -> str:
    """A text as LaTeX that prints exactly its characters."""
    result: list[str] = []
    before = ""
    for char in unicodedata.normalize("NFC", text).translate(INVISIBLE):
        result.append(between(before, char) + SIGNS.get(char, char))
        before = char
    return "".join(result)


def named(text: str) -> str:
    """A name or a sentence on a left-to-right line."""
    return "".join(directed([(part, escaped(part)) for part in re.split(r"(\s+)", text)], "ltr"))


def between(before: str, after: str) -> str:
    """What LaTeX needs between two characters, of which the first may be missing."""
    if before == after and after in REPEATED:
        return "{}"
    return r"\allowbreak " if before and is_wide(before) and is_wide(after) and after.isalnum() else ""


def directed(parts: Sequence[Printed], base: str) -> Iterator[str]:
    """The LaTeX of each part; stretches of the direction that is not the line's are put into a command. Numbers run from
    left to right everywhere, and other signs as the letters on both sides of them."""
    directions = [direction(text) or ("ltr" if any(map(str.isdigit, text)) else None) for text, _ in parts]
    start = 0
    while start < len(parts):
        end = start + 1
        if directions[start] in (None, base):
            yield _mirrored(parts[start], base)
        else:
            same = takewhile(lambda index: directions[index] != base, range(start, len(parts)))
            end = _closed(parts, start, 1 + max(index for index in same if directions[index]))
            inner = "".join(_mirrored(part, "ltr" if base == "rtl" else "rtl") for part in parts[start:end])
            yield rf"\regard{'l' if base == 'rtl' else 'r'}{{{inner}}}"
        start = end


def _mirrored(part: Printed, line: str) -> str:
    """A bracket that opens on a line from right to left looks like one that closes: LuaTeX does not turn it."""
    text, tex = part
    turned = BRACKETS.get(text) or CLOSING.get(text)
    return tex.replace(escaped(text), escaped(turned)) if turned and line == "rtl" else tex


def _closed(parts: Sequence[Printed], start: int, end: int) -> int:
    """The end of a stretch, after the bracket that closes one inside it."""
    if end < len(parts) and CLOSING.get(parts[end][0]) in {text for text, _ in parts[start:end]}:
        return end + 1
    return end
