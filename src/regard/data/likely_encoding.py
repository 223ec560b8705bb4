"""Which encoding bytes that are not UTF-8 probably have: the one in which they contain most of a language's common characters."""

from __future__ import annotations

import codecs
import re

SAMPLE = 2**15  # bytes; more would not change the answer
LEAST = 0.2  # share of common characters among the non-ASCII ones
MARKS = (  # of two marks that begin alike, the longer one first
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
KANA = "のにはをたがでてとしれさいるなもっこまくだすかんりきーンスト、。"
CYRILLIC = "оеаинтсрвлкмдпуязыьбгчй"
LATIN = {  # of equally likely ones, the first is proposed
    "cp1252": "éèàâêçùôîäöüÄÖÜßñáíóúãõåæø’‘“”–…€£°«»",
    "cp1250": "ąćęłńóśźżčďěňřšťůžýáíéőűúöüăşţ„”–",
    "cp1254": "ığşüöçİŞâ’“”",
}
OTHER_SCRIPTS = {  # whose letters do not stand next to Latin ones
    "shift_jis": KANA,
    "euc_jp": KANA,
    "gb18030": "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年，。！",
    "big5": "的一是不了人我在有他這中大來上國個到說們為子和你地出道也時年，。！",
    "euc_kr": "이다는에의가을를로고하지은기한도서사니어요습나아그있정인",
    "cp1251": CYRILLIC,
    "koi8-r": CYRILLIC,
    "cp1253": "αοιετσνηυρπκμλςωάέίό",
    "cp1256": "ايلمنوتربعدسفهةكق",
}
COMMON = {**LATIN, **OTHER_SCRIPTS}
_LONG_RUN = re.compile(r"[^\x00-\x7f]{3,}")  # accented letters stand between others
_BESIDE_LATIN = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f]|[^\x00-\x7f](?=[A-Za-z])")


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark at the start announces."""
    return next((encoding for mark, encoding in MARKS if start.startswith(mark)), None)


def likely_encoding(data: bytes) -> str:
    """A guess for bytes that are not UTF-8; Western European if nothing else fits."""
    sample = data[:SAMPLE]
    if marked := marked_encoding(sample):
        return marked
    if b"\0" in sample:
        even, odd = sample[::2].count(0), sample[1::2].count(0)
        if b"\0\0" in sample:
            return "utf-32-le" if sample[:1] != b"\0" else "utf-32-be"
        return "utf-16-le" if odd > even else "utf-16-be"
    shares = {encoding: _share(sample, encoding) for encoding in COMMON}
    best = max(shares, key=lambda encoding: shares[encoding])
    if shares[best] >= LEAST:
        return best
    return "latin-1" if _decoded(sample, "cp1252") is None else "cp1252"


def _share(data: bytes, encoding: str) -> float:
    text = _decoded(data, encoding)
    if text is None:
        return 0.0
    total = sum(not character.isascii() for character in text)
    text = (_BESIDE_LATIN if encoding in OTHER_SCRIPTS else _LONG_RUN).sub("", text)
    return sum(character in COMMON[encoding] for character in text) / max(1, total)


def _decoded(data: bytes, encoding: str) -> str | None:
    """None if it is not valid; a character that the end of the sample cuts off does not count."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return None
