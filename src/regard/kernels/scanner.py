"""Where the words of packed texts stand: the ASCII pattern of `data/words.py` as a compiled scanner over bytes.

It finds what the regular expression finds, word for word; `tests/kernels/test_scanner.py` holds the two together, and a
change there is a change here. Each function below is one alternative of the pattern and gives the end of its match, or
0 where it does not match. None looks back, and none looks further than a bounded way past what it takes: time is linear.

A text may hold words that were found before (those of other scripts): READY stands before each of them, and it lasts to
the next READY, the next blank or the text's end.

All of it stands in one file because numba keeps the compiled form until the file of the called function changes.
"""

from __future__ import annotations

import string
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

compiled = numba.njit(cache=True, nogil=True)
inner = numba.njit()  # kept with the function that calls it
inlined = numba.njit(forceinline=True)

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

READY = 0xFF  # a byte that is never part of UTF-8

# What a byte is, a bit each.
LETTER, DIGIT, MARK, BLANK, SEPARATOR, LAST, OPENING = (1 << bit for bit in range(7))
NAME, MAIL, PART, ADDRESS, NOSE, MOUTH, BRACKET = (1 << bit for bit in range(7, 14))
ALPHANUMERIC = LETTER | DIGIT


def _table() -> NDArray[np.uint16]:
    letters, digits, blanks = string.ascii_letters, string.digits, " \t\n\r\f\v"
    bits = np.zeros(256, dtype=np.uint16)
    for characters, bit in (
        (letters, LETTER),
        (digits, DIGIT),
        (string.punctuation, MARK),
        (blanks, BLANK),
        ("\x1c\x1d\x1e\x1f", SEPARATOR),
        (blanks + ',;!?)"', LAST),  # letters before one of these are a word, whatever comes then
        ("':;=<^-@#", OPENING),  # marks that may be more than a run of themselves
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
HASH, APOSTROPHE, COMMA, HYPHEN, DOT, SLASH, THREE = b"#',-./3"
COLON, SEMICOLON, LESS, EQUALS, MORE, AT, CARET, LOW = b":;<=>@^_"
B, D, E, F, H, L, M, N, P, R, S, T, V, W = b"bdefhlmnprstvw"  # `byte | 32` is the small letter of either case


class Words(NamedTuple):
    starts: Places  # (words,) in `data`
    ends: Places  # (words,)
    counts: Places  # (texts,) how many of the words each text has


def find_words(data: Bytes, offsets: Places, lowercase: bool = True) -> Words:
    """The words of the texts data[offsets[i]:offsets[i + 1]]; `data` itself is put into lower case if that is asked."""
    most = int(offsets[-1] - offsets[0])
    starts, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)  # memory is real only where written
    counts = np.empty(len(offsets) - 1, dtype=np.int64)
    found = scan(data, offsets, lowercase, starts, ends, counts)
    return Words(starts[:found], ends[:found], counts)


@compiled
def scan(data: Bytes, offsets: Places, lowercase: bool, starts: Places, ends: Places, counts: Places) -> int:
    """`find_words` into arrays of the caller, as long as there can be words: one a byte. How many there are."""
    if lowercase:
        for place in range(offsets[0], offsets[-1]):
            byte = data[np.uint64(place)]
            data[np.uint64(place)] = byte | 32 if 65 <= byte <= 90 else byte
    found = 0
    for text in range(len(counts)):
        place, stop, before = offsets[text], offsets[text + 1], found
        while place < stop:
            byte = data[np.uint64(place)]
            bits = BITS[byte]
            if bits & LETTER:
                end = place + 1
                while _is(data, end, stop, LETTER):
                    end += 1
                if end < stop and not _is(data, end, stop, LAST):
                    end = _word(data, place, end, stop)
            elif bits & MARK:
                if byte == LESS:
                    end = _line_break(data, place, stop)
                    if end:
                        place = end
                        continue
                end = _special(data, place, stop) if bits & OPENING else 0
                if not end:
                    end = _run(data, place, stop)
            elif bits & DIGIT:
                end = _word(data, place, place, stop)
            elif byte == READY:
                place += 1
                end = place
                while end < stop and not _has(data, end, stop, READY) and not _is(data, end, stop, BLANK):
                    end += 1
            else:
                place += 1
                continue
            starts[np.uint64(found)], ends[np.uint64(found)] = place, end
            found += 1
            place = end
        counts[text] = found - before
    return found


@inlined
def _is(data: Bytes, place: int, stop: int, kind: int) -> bool:
    """Unsigned places are quicker: numba then does not ask whether to count from the end."""
    return place < stop and (BITS[data[np.uint64(place)]] & kind) != 0


@inlined
def _has(data: Bytes, place: int, stop: int, byte: int) -> bool:
    return place < stop and data[np.uint64(place)] == byte


@inlined
def _reads(data: Bytes, place: int, stop: int, letter: int) -> bool:
    """This letter, small or capital."""
    return place < stop and data[np.uint64(place)] | 32 == letter


@inner
def _word(data: Bytes, start: int, letters: int, stop: int) -> int:
    """What starts with a letter or digit, where the letters from `start` on end at `letters`."""
    end = 0
    if _has(data, letters, stop, COLON) or _has(data, letters, stop, DOT):
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
    if _has(data, end, stop, APOSTROPHE) and _reads(data, end + 1, stop, T):
        last = end - 1
        if _reads(data, last, stop, N) and not _is(data, end + 2, stop, ALPHANUMERIC):
            return last if last > start else end + 2  # do, or n't
    return end


@inner
def _address(data: Bytes, start: int, letters: int, stop: int) -> int:
    """http://, https://, ftp:// or www. and everything up to the last letter or digit, with a slash after it."""
    length = letters - start
    if _has(data, letters, stop, DOT):
        place = letters + 1
        known = length == 3 and _reads(data, start, stop, W)
        known = known and _reads(data, start + 1, stop, W) and _reads(data, start + 2, stop, W)
    else:
        place = letters + 3
        known = _has(data, letters + 1, stop, SLASH) and _has(data, letters + 2, stop, SLASH)
        if length == 3:
            known = known and _reads(data, start, stop, F)
        elif length == 4 or (length == 5 and _reads(data, start + 4, stop, S)):
            known = known and _reads(data, start, stop, H) and _reads(data, start + 1, stop, T)
        else:
            return 0
        tp = min(letters, start + 4) - 2  # where "tp" of ftp, http and https stands
        known = known and _reads(data, tp, stop, T) and _reads(data, tp + 1, stop, P)
    if not known:
        return 0
    end = 0
    while _is(data, place, stop, ADDRESS):
        place += 1
        if _is(data, place - 1, stop, ALPHANUMERIC):
            end = place
    return end + 1 if end and _has(data, end, stop, SLASH) else end


@inner
def _mail(data: Bytes, start: int, letters: int, stop: int) -> int:
    """name@part.part, 64 characters of name, 63 a part, 2 to 9 parts."""
    if letters > start + 64:
        return 0
    end = max(letters, start + 1)
    last = min(start + 64, stop)
    while _is(data, end, last, MAIL):
        end += 1
    if not _has(data, end, stop, AT):
        return 0
    end = _mail_part(data, end + 1, stop)
    for parts in range(1, 9):
        further = _mail_part(data, end + 1, stop) if end and _has(data, end, stop, DOT) else 0
        if not further:
            return end if parts > 1 else 0
        end = further
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
    while _is(data, end, stop, LETTER) and _has(data, end + 1, stop, DOT):
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
        separated = _has(data, end, stop, DOT) or _has(data, end, stop, COMMA)
        if not separated or not _is(data, end + 1, stop, DIGIT):
            return end if joined else 0
        joined = True
        end += 1


@inner
def _special(data: Bytes, start: int, stop: int) -> int:
    """'s, an emoticon, @name or #tag."""
    if _has(data, start, stop, APOSTROPHE):
        return _suffix(data, start + 1, stop)
    end = start + 1
    if _has(data, start, stop, AT):
        named = _is(data, end, stop, NAME)
    elif _has(data, start, stop, HASH):
        named = _is(data, end, stop, LETTER)
    else:
        return _face(data, start, stop)
    while named and _is(data, end, stop, NAME):
        end += 1
    return end if named else 0


@inner
def _suffix(data: Bytes, start: int, stop: int) -> int:
    """s, d, m, re, ve or ll behind an apostrophe; n't starts with a letter."""
    if _reads(data, start, stop, S) or _reads(data, start, stop, D) or _reads(data, start, stop, M):
        end = start + 1
    else:
        end = start + 2
        known = (_reads(data, start, stop, R) or _reads(data, start, stop, V)) and _reads(data, start + 1, stop, E)
        if not known and not (_reads(data, start, stop, L) and _reads(data, start + 1, stop, L)):
            return 0
    return 0 if _is(data, end, stop, ALPHANUMERIC) else end


@inner
def _face(data: Bytes, start: int, stop: int) -> int:
    """An emoticon, behind which no letter, digit or slash may stand."""
    eyes, second, third = data[start], start + 1, start + 2
    end = 0
    if eyes == COLON:
        place = third if _has(data, second, stop, APOSTROPHE) else second
        if _is(data, place, stop, NOSE):
            end = _mouth(data, place + 1, stop, MOUTH)
        return end if end else _mouth(data, place, stop, MOUTH)  # the o of :o is no nose
    if eyes in (SEMICOLON, EQUALS):
        nose = _has(data, second, stop, HYPHEN) or _has(data, second, stop, CARET)
        end = _mouth(data, third if nose else second, stop, BRACKET)
        if end or eyes == EQUALS or not _has(data, second, stop, HYPHEN):
            return end
        winks = _reads(data, third, stop, D) or _reads(data, third, stop, P)
    elif eyes == LESS:
        if _has(data, second, stop, THREE):
            return second + 1 if _is_free(data, second + 1, stop) else 0
        winks = _has(data, second, stop, SLASH) and _has(data, third, stop, THREE)
    elif eyes == CARET:
        winks = (_has(data, second, stop, LOW) or _has(data, second, stop, DOT)) and _has(data, third, stop, CARET)
    else:
        winks = _has(data, second, stop, LOW) and _has(data, third, stop, HYPHEN)
    return third + 1 if winks and _is_free(data, third + 1, stop) else 0


@inner
def _mouth(data: Bytes, start: int, stop: int, shapes: int) -> int:
    """A run of one bracket, or one character of another shape."""
    if not _is(data, start, stop, shapes):
        return 0
    end = _run(data, start, stop) if _is(data, start, stop, BRACKET) else start + 1
    return end if _is_free(data, end, stop) else 0


@inlined
def _is_free(data: Bytes, place: int, stop: int) -> bool:
    return not _is(data, place, stop, ALPHANUMERIC) and not _has(data, place, stop, SLASH)


@inner
def _run(data: Bytes, start: int, stop: int) -> int:
    """One mark as often as it stands there; the < of a line break is not one of them."""
    mark = data[start]
    end = start + 1
    while _has(data, end, stop, mark) and not (mark == LESS and _line_break(data, end, stop)):
        end += 1
    return end


@inner
def _line_break(data: Bytes, start: int, stop: int) -> int:
    """<br>, <br /> and the like, in which the four separators of ASCII are white space as well."""
    if not _reads(data, start + 1, stop, B) or not _reads(data, start + 2, stop, R):
        return 0
    end = start + 3
    while _is(data, end, stop, BLANK | SEPARATOR):
        end += 1
    if _has(data, end, stop, SLASH):
        end += 1
    return end + 1 if _has(data, end, stop, MORE) else 0
