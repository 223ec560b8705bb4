"""The spans of a text's words, and their form in the vocabulary: one Penn-like regular expression for every script.

English follows the Penn Treebank, because GloVe does: "don't" is do + n't, "it's" is it + 's, "U.S." and "1,000" are
one word, and text that is already tokenised this way is unchanged. A run of one mark ("...", "!!!") is one word; so is a
web address, an @name, a #tag, an emoticon or an emoji. Hyphenated words are split: in some 5,000 training texts each of
sst2, trec and imdb a GloVe vector exists for about half of them when whole (54, 52, 50 % of occurrences), and for all of
their pieces in 97, 89 and 96 %.

In scripts without spaces, a Han or Hiragana character, a run of Katakana, and a cluster (a letter with its marks) of
Thai, Lao, Khmer or Myanmar are one word each. That is a substitute for a dictionary: word pairs, CNN and LSTM combine
the pieces.

White space, <br> tags, control and format characters are not in words; every other character is in exactly one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

from regard.records import Span

LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
LINE_END = re.compile(r"[\n\r\v\f\x85\u2028\u2029]")

# Letters of the scripts without spaces; their digits are left out, because they form ordinary numbers.
_HAN = r"\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF"
_HIRAGANA = r"\u3041-\u3096\u309D-\u309F"
_KATAKANA = r"\u30A1-\u30FA\u30FC-\u30FF\u31F0-\u31FF\uFF66-\uFF9F"
_CLUSTERED = (
    r"\u0E01-\u0E4F\u0E5A\u0E5B\u0E81-\u0ECF\u0EDC-\u0EDF\u1000-\u103F\u104A-\u108F\u109A-\u109F"
    r"\u1780-\u17DF\u17EA-\u17FF\uA9E0-\uA9EF\uA9FA-\uA9FE\uAA60-\uAA7F"
)
_EMOJI = (
    r"\u203C\u2049\u2122\u2139\u2194-\u21AA\u231A-\u23FF\u25AA-\u25FE\u2600-\u27BF\u2934\u2935\u2B05-\u2B55"
    r"\U0001F000-\U0001F0FF\U0001F170-\U0001F1E5\U0001F200-\U0001FAFF"
)
_APOSTROPHES = str.maketrans("’´", "''")


def spans(text: str) -> list[Span]:
    """The characters [start, end) of every word, in order."""
    return [match.span() for match in _pattern_for(text).finditer(without_breaks(text))]


def edges(ranges: Iterable[tuple[int, int]], words: Sequence[Span]) -> list[Span]:
    """Non-empty ranges [first, last) of words, given the words' spans, as spans of characters."""
    return [(words[first][0], words[last - 1][1]) for first, last in ranges]


def forms(text: str, lowercase: bool = True) -> list[str]:
    """The words in the vocabulary's form; the i-th is `normalise` of the text at the i-th of `spans`."""
    text = without_breaks(text)
    if text.isascii():
        # Lower-casing never moves an ASCII character, and the pattern ignores case: one call does the whole text.
        return ascii_pattern().findall(text.lower() if lowercase else text)
    words = [match.group() for match in unicode_pattern().finditer(text)]
    # No word contains a line feed and nothing composes with one, so one call normalises all words separately.
    return normalise("\n".join(words), lowercase).split("\n") if words else []


def forms_at(text: str, words: Iterable[Span], lowercase: bool = True) -> list[str]:
    """The words at these spans in the vocabulary's form."""
    if text.isascii():
        text = text.lower() if lowercase else text
        return [text[start:end] for start, end in words]
    return [normalise(text[start:end], lowercase) for start, end in words]


def has_words(text: str) -> bool:
    return _pattern_for(text).search(without_breaks(text)) is not None


def normalise(word: str, lowercase: bool = True) -> str:
    if lowercase:
        word = word.lower()
    return word if word.isascii() else unicodedata.normalize("NFC", word.translate(_APOSTROPHES))


def without_breaks(text: str) -> str:
    """Replace line-break tags by spaces of the same length, so that positions stay."""
    return LINE_BREAK.sub(lambda tag: " " * len(tag.group()), text) if "<" in text else text


def _pattern_for(text: str) -> re.Pattern[str]:
    return ascii_pattern() if text.isascii() else unicode_pattern()


@cache
def ascii_pattern() -> re.Pattern[str]:
    """For the many texts that are plain ASCII; it has no group, so that `findall` returns the words themselves."""
    marks = map(re.escape, ".,\"'()-!?:;*/&$%#@+=<>[]{}\\|~^`_")
    # not mark++: an alternative that starts with a literal is skipped faster
    runs = [f"{mark}{mark}*+" for mark in marks]
    return _any_of([*_spaced("[A-Za-z]", "[A-Za-z0-9]", "[A-Za-z0-9]++", "'"), *runs], re.ASCII)


@cache
def unicode_pattern() -> re.Pattern[str]:
    """For all other texts; the same on ASCII. Built on demand, as it looks up the categories of many characters."""
    marks, invisible = _marks_and_invisible()
    tail = rf"[{marks}\u00AD\u200C\u200D]"  # what continues a word: combining marks, joiners, the soft hyphen
    letter = rf"[^\W_{_HAN}{_HIRAGANA}{_KATAKANA}{_CLUSTERED}]"
    word = rf"{letter}++(?:{tail}++{letter}*+)*+"
    simple = r"[A-Za-zÀ-ÖØ-öø-\u024F\u0400-\u0481\u048A-\u052F]"
    changes = r"[\uFE0E\uFE0F\u20E3\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]*+"
    emoji = rf"[{_EMOJI}]{changes}"
    unspaced = [
        rf"[{_HAN}]{tail}*+",
        rf"[{_HIRAGANA}][\u30FC{marks}]*+",  # with the long vowel mark
        rf"[{_KATAKANA}][{_KATAKANA}{marks}]*+",
        # With vowel signs that count as letters, and with subscript consonants.
        rf"[{_CLUSTERED}](?:[\u1039\u17D2][\u1000-\u1021\u1780-\u17B3]|[\u0E33\u0EB3]|{tail})*+",
    ]
    symbols = [
        r"[\U0001F1E6-\U0001F1FF]{2}",  # a flag
        rf"{emoji}(?:\u200D{emoji})*+",
        rf"[{marks}]++",  # marks without a letter
        rf"([^\w\s{invisible}]|_)\1*+{tail}*+",
        r"\w",  # should never match; it guarantees that every character is in a word
    ]
    return _any_of([*_spaced(simple, letter, word, "['’´]"), *unspaced, *symbols])


def _any_of(alternatives: list[str], flags: int = 0) -> re.Pattern[str]:
    # Excluding white space first halves the time: no alternative is tried there.
    return re.compile(rf"(?!\s)(?:{'|'.join(alternatives)})", flags)


def _spaced(simple: str, letter: str, word: str, apostrophe: str) -> list[str]:
    """Alternatives for scripts with spaces, likely ones first; possessive or bounded, so that time is linear."""
    mouth = r"(?:\)++|\(++)"
    faces = rf":{apostrophe}?[-^oO]?(?:{mouth}|[DdPpOoSsXx/\\|*\[\]])|[;=][-^]?{mouth}|;-[DdPp]|</?3|\^[_.]\^|-_-"
    return [
        rf"{simple}++(?![^\s,;!?)\"])",  # a shortcut: most words end here
        r"(?i:(?:https?|ftp)://|www\.)[^\s<>\"。，、！？]*[^\W_]/?",
        r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}+@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+){1,8}+",
        r"(?:[A-Za-z]\.){2,}+",  # U.S.
        r"\d++(?:[.,٫٬]\d++)++",
        rf"{word}(?!{apostrophe}[tT](?!{letter}))",
        rf"{letter}+(?=[nN]{apostrophe}[tT](?!{letter}))",
        rf"[nN]{apostrophe}[tT](?!{letter})",
        word,
        rf"{apostrophe}(?i:s|re|ve|ll|d|m)(?!{letter})",
        rf"(?:{faces})(?!{letter}|/)",
        r"@\w++",
        r"#[^\W\d_]\w*+",
    ]


def _marks_and_invisible() -> tuple[str, str]:
    """The contents of two character classes: combining marks, which \\w leaves out, and control and format characters."""
    marks: list[int] = []
    invisible: list[int] = []
    for code in (*range(0x20000), *range(0xE0000, 0xE0200)):
        category = unicodedata.category(chr(code))
        if category[0] == "M":
            marks.append(code)
        elif category in ("Cc", "Cf"):
            invisible.append(code)
    return _ranges(marks), _ranges(invisible)


def _ranges(codes: list[int]) -> str:
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\U{first:08X}-\U{last:08X}" for first, last in ranges)
