"""Find the words of packed texts: the ASCII pattern of `data/words.py` as a compiled scanner over bytes.

It finds exactly the words that the regular expression finds; `tests/kernels/test_scanner.py` compares the two, and a change
to one needs the same change to the other. Each function below is one alternative of the pattern and returns the end of its
match, or 0 if it does not match. None looks back, and none looks more than a bounded distance past its match, so the time
is linear.

A text may contain words that were split before (those in other scripts): each follows a PRESPLIT byte and extends to the
next PRESPLIT, the next white space or the end of the text.

Everything is in one file because numba reuses the compiled code until the file of the called function changes.
"""

from __future__ import annotations

import string
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

compiled = compiling.compiled()
inner = compiling.inner()
inlined = compiling.inner(forceinline=True)

Bytes = NDArray[np.uint8]
Int64s = NDArray[np.int64]

# The constants have the types of the arrays that they are compared with: numba compiles a function once for every plain
# number that it is called with, and here that took as long as everything else.
PRESPLIT = np.uint8(0xFF)  # a byte that never occurs in UTF-8

# Classes of bytes, one bit each.
LETTER, DIGIT, MARK, SPACE, SEPARATOR, WORD_END, SPECIAL_START = (np.uint16(1 << bit) for bit in range(7))
NAME, MAIL, PART, ADDRESS, NOSE, MOUTH, BRACKET = (np.uint16(1 << bit) for bit in range(7, 14))
ALPHANUMERIC, BLANK = LETTER | DIGIT, SPACE | SEPARATOR


def _table() -> NDArray[np.uint16]:
    letters, digits, blanks = string.ascii_letters, string.digits, " \t\n\r\f\v"
    bits = np.zeros(256, dtype=np.uint16)
    for characters, bit in (
        (letters, LETTER),
        (digits, DIGIT),
        (string.punctuation, MARK),
        (blanks, SPACE),
        ("\x1c\x1d\x1e\x1f", SEPARATOR),
        (blanks + ',;!?)"', WORD_END),  # letters before one of these are a word, whatever follows
        ("':;=<^-@#", SPECIAL_START),  # marks that may start more than a run of the same mark
        (letters + digits + "_", NAME),
        (letters + digits + "._+-", MAIL),
        (letters + digits + "-", PART),
        ("".join({chr(code) for code in range(128)} - {*blanks, *'<>"'}), ADDRESS),
        ("-^oO", NOSE),
        ("()DdPpOoSsXx/\\|*[]", MOUTH),
        ("()", BRACKET),
    ):
        bits[list(characters.encode())] |= bit
    return bits


BITS = _table()
HASH, APOSTROPHE, COMMA, HYPHEN, DOT, SLASH, THREE = map(np.uint8, b"#',-./3")
COLON, SEMICOLON, LESS, EQUALS, GREATER, AT, CARET, UNDERSCORE = map(np.uint8, b":;<=>@^_")
B, D, E, F, H, L, M, N, P, R, S, T, V, W = map(np.uint8, b"bdefhlmnprstvw")  # `byte | 32` is the lower-case letter


class Words(NamedTuple):
    starts: Int64s  # (words,) in `data`
    ends: Int64s  # (words,)
    counts: Int64s  # (texts,) number of words per text


class Scratch:
    """Memory for the words of one block of texts after the other: new memory for every block takes longer than the scan."""

    def __init__(self) -> None:
        self.positions = np.empty((2, 0), dtype=np.int64)

    def arrays(self, most: int) -> NDArray[np.int64]:
        """(2, most or more) starts and ends; pages are allocated only when written."""
        if most > self.positions.shape[1]:
            self.positions = np.empty((2, most * 5 // 4), dtype=np.int64)
        return self.positions


def find_words(data: Bytes, offsets: Int64s, lowercase: bool = True, scratch: Scratch | None = None) -> Words:
    """The words of the texts data[offsets[i]:offsets[i + 1]]. With `lowercase`, `data` is lower-cased in place.

    They are overwritten when the same `scratch` is used again.
    """
    starts, ends = (scratch or Scratch()).arrays(int(offsets[-1] - offsets[0]))
    counts = np.empty(len(offsets) - 1, dtype=np.int64)
    size = scan(data, offsets, lowercase, starts, ends, counts)
    return Words(starts[:size], ends[:size], counts)


@compiled
def scan(data: Bytes, offsets: Int64s, lowercase: bool, starts: Int64s, ends: Int64s, counts: Int64s) -> int:
    """`find_words` into arrays of the caller, with space for one word per byte. Returns the number of words."""
    if lowercase:
        for position in range(offsets[0], offsets[-1]):
            byte = data[np.uint64(position)]
            data[np.uint64(position)] = byte | 32 if 65 <= byte <= 90 else byte
    size = 0
    for text in range(len(counts)):
        position, stop, first = offsets[text], offsets[text + 1], size
        while position < stop:
            byte = data[np.uint64(position)]
            bits = BITS[byte]
            if bits & LETTER:
                end = position + 1
                while _is(data, end, stop, LETTER):
                    end += 1
                if end < stop and not _is(data, end, stop, WORD_END):
                    end = _word(data, position, end, stop)
            elif bits & MARK:
                if byte == LESS:
                    end = _line_break(data, position, stop)
                    if end:
                        position = end
                        continue
                end = _special(data, position, stop) if bits & SPECIAL_START else 0
                if not end:
                    end = _run(data, position, stop)
            elif bits & DIGIT:
                end = _word(data, position, position, stop)
            elif byte == PRESPLIT:
                position += 1
                end = position
                while end < stop and not _is_byte(data, end, stop, PRESPLIT) and not _is(data, end, stop, SPACE):
                    end += 1
            else:
                position += 1
                continue
            starts[np.uint64(size)], ends[np.uint64(size)] = position, end
            size += 1
            position = end
        counts[text] = size - first
    return size


@inlined
def _is(data: Bytes, position: int, stop: int, kind: np.uint16) -> bool:
    """Unsigned indices are faster: numba then skips the check for negative ones."""
    return position < stop and (BITS[data[np.uint64(position)]] & kind) != 0


@inlined
def _is_byte(data: Bytes, position: int, stop: int, byte: np.uint8) -> bool:
    return position < stop and data[np.uint64(position)] == byte


@inlined
def _is_letter(data: Bytes, position: int, stop: int, letter: np.uint8) -> bool:
    """Whether this letter is here, in either case."""
    return position < stop and data[np.uint64(position)] | 32 == letter


@inner
def _word(data: Bytes, start: int, letters: int, stop: int) -> int:
    """A word that starts with a letter or digit; the letters from `start` on end at `letters`."""
    end = 0
    if _is_byte(data, letters, stop, COLON) or _is_byte(data, letters, stop, DOT):
        end = _address(data, start, letters, stop)
    if not end:
        end = _mail(data, start, letters, stop)
    if not end:
        end = _initials(data, start, stop) if letters > start else _number(data, start, stop)
    if end:
        return end
    end = letters
    while _is(data, end, stop, ALPHANUMERIC):
        end += 1
    if _is_byte(data, end, stop, APOSTROPHE) and _is_letter(data, end + 1, stop, T):
        last = end - 1
        if _is_letter(data, last, stop, N) and not _is(data, end + 2, stop, ALPHANUMERIC):
            return last if last > start else end + 2  # do, or n't
    return end


@inner
def _address(data: Bytes, start: int, letters: int, stop: int) -> int:
    """http://, https://, ftp:// or www., up to the last letter or digit and a slash after it."""
    length = letters - start
    if _is_byte(data, letters, stop, DOT):
        position = letters + 1
        matches = length == 3 and _is_letter(data, start, stop, W)
        matches = matches and _is_letter(data, start + 1, stop, W) and _is_letter(data, start + 2, stop, W)
    else:
        position = letters + 3
        matches = _is_byte(data, letters + 1, stop, SLASH) and _is_byte(data, letters + 2, stop, SLASH)
        if length == 3:
            matches = matches and _is_letter(data, start, stop, F)
        elif length == 4 or (length == 5 and _is_letter(data, start + 4, stop, S)):
            matches = matches and _is_letter(data, start, stop, H) and _is_letter(data, start + 1, stop, T)
        else:
            return 0
        tp = min(letters, start + 4) - 2  # position of "tp" in ftp, http and https
        matches = matches and _is_letter(data, tp, stop, T) and _is_letter(data, tp + 1, stop, P)
    if not matches:
        return 0
    end = 0
    while _is(data, position, stop, ADDRESS):
        position += 1
        if _is(data, position - 1, stop, ALPHANUMERIC):
            end = position
    return end + 1 if end and _is_byte(data, end, stop, SLASH) else end


@inner
def _mail(data: Bytes, start: int, letters: int, stop: int) -> int:
    """name@part.part: up to 64 characters of name, 63 per part, 2 to 9 parts."""
    if letters > start + 64:
        return 0
    end = max(letters, start + 1)
    last = min(start + 64, stop)
    while _is(data, end, last, MAIL):
        end += 1
    if not _is_byte(data, end, stop, AT):
        return 0
    end = _mail_part(data, end + 1, stop)
    for parts in range(1, 9):
        next_end = _mail_part(data, end + 1, stop) if end and _is_byte(data, end, stop, DOT) else 0
        if not next_end:
            return end if parts > 1 else 0
        end = next_end
    return end


@inner
def _mail_part(data: Bytes, start: int, stop: int) -> int:
    end = start
    last = min(start + 63, stop)
    while _is(data, end, last, PART):
        end += 1
    return end if end > start else 0


@inner
def _initials(data: Bytes, start: int, stop: int) -> int:
    """U.S."""
    end = start
    while _is(data, end, stop, LETTER) and _is_byte(data, end + 1, stop, DOT):
        end += 2
    return end if end >= start + 4 else 0


@inner
def _number(data: Bytes, start: int, stop: int) -> int:
    """1,000.5: digits with single dots or commas between them."""
    end = start
    joined = False
    while True:
        while _is(data, end, stop, DIGIT):
            end += 1
        separated = _is_byte(data, end, stop, DOT) or _is_byte(data, end, stop, COMMA)
        if not separated or not _is(data, end + 1, stop, DIGIT):
            return end if joined else 0
        joined = True
        end += 1


@inner
def _special(data: Bytes, start: int, stop: int) -> int:
    """'s, an emoticon, @name or #tag."""
    if _is_byte(data, start, stop, APOSTROPHE):
        return _suffix(data, start + 1, stop)
    end = start + 1
    if _is_byte(data, start, stop, AT):
        named = _is(data, end, stop, NAME)
    elif _is_byte(data, start, stop, HASH):
        named = _is(data, end, stop, LETTER)
    else:
        return _face(data, start, stop)
    while named and _is(data, end, stop, NAME):
        end += 1
    return end if named else 0


@inner
def _suffix(data: Bytes, start: int, stop: int) -> int:
    """s, d, m, re, ve or ll after an apostrophe; n't starts with a letter."""
    if _is_letter(data, start, stop, S) or _is_letter(data, start, stop, D) or _is_letter(data, start, stop, M):
        end = start + 1
    else:
        end = start + 2
        matches = (_is_letter(data, start, stop, R) or _is_letter(data, start, stop, V)) and _is_letter(
            data, start + 1, stop, E
        )
        if not matches and not (_is_letter(data, start, stop, L) and _is_letter(data, start + 1, stop, L)):
            return 0
    return 0 if _is(data, end, stop, ALPHANUMERIC) else end


@inner
def _face(data: Bytes, start: int, stop: int) -> int:
    """An emoticon that no letter, digit or slash follows."""
    eyes, second, third = data[start], start + 1, start + 2
    end = 0
    if eyes == COLON:
        position = third if _is_byte(data, second, stop, APOSTROPHE) else second
        if _is(data, position, stop, NOSE):
            end = _mouth(data, position + 1, stop, MOUTH)
        return end if end else _mouth(data, position, stop, MOUTH)  # the o of :o is a mouth, not a nose
    if eyes == SEMICOLON or eyes == EQUALS:  # noqa: SIM109 (`in` compiles slowly)
        nose = _is_byte(data, second, stop, HYPHEN) or _is_byte(data, second, stop, CARET)
        end = _mouth(data, third if nose else second, stop, BRACKET)
        if end or eyes == EQUALS or not _is_byte(data, second, stop, HYPHEN):
            return end
        is_face = _is_letter(data, third, stop, D) or _is_letter(data, third, stop, P)
    elif eyes == LESS:
        if _is_byte(data, second, stop, THREE):
            return second + 1 if _is_free(data, second + 1, stop) else 0
        is_face = _is_byte(data, second, stop, SLASH) and _is_byte(data, third, stop, THREE)
    elif eyes == CARET:
        is_face = (_is_byte(data, second, stop, UNDERSCORE) or _is_byte(data, second, stop, DOT)) and _is_byte(
            data, third, stop, CARET
        )
    else:
        is_face = _is_byte(data, second, stop, UNDERSCORE) and _is_byte(data, third, stop, HYPHEN)
    return third + 1 if is_face and _is_free(data, third + 1, stop) else 0


@inner
def _mouth(data: Bytes, start: int, stop: int, shapes: np.uint16) -> int:
    """A run of one bracket, or a single other mouth character."""
    if not _is(data, start, stop, shapes):
        return 0
    end = _run(data, start, stop) if _is(data, start, stop, BRACKET) else start + 1
    return end if _is_free(data, end, stop) else 0


@inlined
def _is_free(data: Bytes, position: int, stop: int) -> bool:
    return not _is(data, position, stop, ALPHANUMERIC) and not _is_byte(data, position, stop, SLASH)


@inner
def _run(data: Bytes, start: int, stop: int) -> int:
    """A run of one mark; the < of a line break does not belong to it."""
    mark = data[start]
    end = start + 1
    while _is_byte(data, end, stop, mark) and not (mark == LESS and _line_break(data, end, stop)):
        end += 1
    return end


@inner
def _line_break(data: Bytes, start: int, stop: int) -> int:
    """<br>, <br /> and the like, in which the four ASCII separators also count as white space."""
    if not _is_letter(data, start + 1, stop, B) or not _is_letter(data, start + 2, stop, R):
        return 0
    end = start + 3
    while _is(data, end, stop, BLANK):
        end += 1
    if _is_byte(data, end, stop, SLASH):
        end += 1
    return end + 1 if _is_byte(data, end, stop, GREATER) else 0
