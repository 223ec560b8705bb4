"""The standard PDF font that contains a letter, and the letter's width: no fonts are embedded, to keep figures small.

Helvetica and Symbol are among the fourteen fonts that every viewer has (ISO 32000-1, 9.6.2.2; widths are Adobe's). Chinese,
Japanese, Cyrillic and Korean letters are referred to by their Unicode numbers (9.7.5.2), and viewers choose a font for
them. That is not possible for other scripts such as Arabic: their letters are drawn as hollow boxes, and the SVG has them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from regard.report.text.characters import cells

PLAIN = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556
1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556
333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
BOLD = """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611
975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556
333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584
"""
LATIN = {  # from the space on; letters with accents are as wide as without, others get a default width
    name: dict(zip(map(chr, range(32, 127)), map(int, table.split()), strict=True))
    | dict.fromkeys("…—‰™ŒÆ", 1000)
    | dict.fromkeys("×÷±¬", 584)
    | dict.fromkeys("·’‘‚", 278)
    for name, table in (("Helvetica", PLAIN), ("Helvetica-Bold", BOLD))
}
GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ"
SIGNS = {"−": 0x2D, "≤": 0xA3, "≥": 0xB3, "≠": 0xB9, "≈": 0xBB, "←": 0xAC, "→": 0xAE}
CODES = {**dict(zip(GREEK, (*range(0x41, 0x5B), *range(0x61, 0x7B)), strict=True)), **SIGNS}  # in Symbol
WIDTHS = """
722 667 722 612 611 763 603 722 333 631 722 686 889 722 722 768 741 556 592 611 690 439 768 645 795 611
631 549 549 494 439 521 411 603 329 603 549 549 576 521 549 549 521 549 603 439 576 713 686 493 686 494
549 549 549 549 549 987 987
"""
SYMBOLS = {char: (code, int(width)) for (char, code), width in zip(CODES.items(), WIDTHS.split(), strict=True)}
BY_NUMBER = {"GB1": "gbk", "Korea1": "cp949"}  # a collection of characters, and the Python codec that covers it
NARROW = 0.6  # horizontal scale of letters in such a font that are not ideographs
BOX = 600


class Letter(NamedTuple):
    """One letter in a font; the font is "" if none has it."""

    font: str
    code: bytes
    width: float  # in thousandths of the size
    narrow: bool = False  # scaled to NARROW


class Stretch(NamedTuple):
    """Letters of one font, side by side."""

    font: str
    code: bytes
    widths: tuple[float, ...]
    narrow: bool


def stretches(words: str, bold: bool) -> Iterator[Stretch]:
    letters = [letter(char, bold) for char in unicodedata.normalize("NFC", words) if cells(char)]
    for (font, narrow), group in groupby(letters, lambda one: (one.font, one.narrow)):
        run = list(group)
        yield Stretch(font, b"".join(one.code for one in run), tuple(one.width for one in run), narrow)


def letter(char: str, bold: bool) -> Letter:
    name = "Helvetica-Bold" if bold else "Helvetica"
    if has(char, "cp1252"):
        return Letter(name, char.encode("cp1252"), latin_width(char, LATIN[name]))
    if char in SYMBOLS:
        code, width = SYMBOLS[char]
        return Letter("Symbol", bytes([code]), width)
    for collection, encoding in BY_NUMBER.items():
        if has(char, encoding):
            narrow = cells(char) == 1
            return Letter(collection, char.encode("utf-16-be"), 1000 * NARROW if narrow else 1000, narrow)
    return Letter("", b"", BOX * cells(char))


def has(char: str, encoding: str) -> bool:
    try:
        return bool(char.encode(encoding))
    except UnicodeEncodeError:
        return False


def latin_width(char: str, widths: dict[str, int]) -> int:
    return widths.get(char) or widths.get(unicodedata.normalize("NFD", char)[0]) or 556


def unshown(words: str) -> set[str]:
    """The letters that no standard PDF font contains."""
    return {char for char in unicodedata.normalize("NFC", words) if cells(char) and not letter(char, False).font}


def fonts(names: list[str]) -> dict[str, list[str]]:
    """The objects of each font; the first is the font, %s the number of the object that follows."""
    return {name: by_number(name) if name in BY_NUMBER else [standard(name)] for name in names}


def standard(name: str) -> str:
    encoding = "" if name == "Symbol" else " /Encoding /WinAnsiEncoding"
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name}{encoding} >>"


def by_number(collection: str) -> list[str]:
    font, encoding = {
        "GB1": ("STSong-Light", "UniGB-UTF16-H"),
        "Korea1": ("HYSMyeongJo-Medium", "UniKS-UTF16-H"),
    }[collection]
    shown = f"/BaseFont /{font}"
    system = f"<< /Registry (Adobe) /Ordering ({collection}) /Supplement 2 >>"
    return [
        f"<< /Type /Font /Subtype /Type0 {shown} /Encoding /{encoding} /DescendantFonts [%s 0 R] >>",
        f"<< /Type /Font /Subtype /CIDFontType0 {shown} /CIDSystemInfo {system} /DW 1000 /FontDescriptor %s 0 R >>",
        f"<< /Type /FontDescriptor /FontName /{font} /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 "
        "/Descent -120 /CapHeight 880 /StemV 93 >>",
    ]
