"""The scanner finds the words that `forms` and `spans` find, for every ASCII text."""

from __future__ import annotations

import gzip
import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import words
from regard.kernels.scanner import PRESPLIT, find_words

# Pieces that start, end or break each alternative of the pattern when combined.
VISIBLE = """
    n't N'T 't 'T 's 'S 're 'VE 'll 'd 'm ' '' don't isn't1 n ca can cant
    http:// HTTPS:// https:// ftp:// www. WWW. wwww. http: http:/ a.org/ x?c=1 / // !
    me@ a@b a@b.co @b-c .de x.y_z+w @ @_ @some_one # #fun #1 #a_1
    U.S. U. a.b. e.g. .. ... 1 1,000 .5 1.5 1. ,5 2nd 10:30 00 _ __
    :) :-) :'( :^D :oD :o) :O :o : ; ;-) ;-D ;-p =( =^) = <3 </3 ^_^ ^.^ ^ ^^ -_- - -- :/ :// :[ :| :* x D P 3
    <br> <br/> <BR> <br <br/ <b <<br> << < </ br> > />
"""
PIECES = [
    *(chr(code) for code in range(128)),
    *VISIBLE.split(),
    *("a" * 63, "b" * 64, "c" * 65, "." * 64, "-a" * 32, ".a" * 9),
    *("<br />", "<BR >", "<bR\t\n/>", "<br\x1c>", "<br ", " ", "  ", "\r\n"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
TRICKY = "a nNtT's.:/-@_<>b1,)(^;#oD3\"\x00\x1c"


def scanned(texts: list[str], lowercase: bool) -> tuple[list[list[str]], list[list[tuple[int, int]]]]:
    """The words and their spans, per text."""
    data = np.frombuffer(bytearray("".join(texts).encode("ascii")), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, texts)])
    starts, ends, counts = find_words(data, offsets, lowercase)
    assert counts.sum() == len(starts) == len(ends)
    everything = data.tobytes().decode("ascii")
    word_spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    found_words: list[list[str]] = []
    spans: list[list[tuple[int, int]]] = []
    first = 0
    for offset, count in zip(offsets.tolist(), counts.tolist(), strict=False):
        text_spans = word_spans[first : first + count]
        found_words.append([everything[start:end] for start, end in text_spans])
        spans.append([(start - offset, end - offset) for start, end in text_spans])
        first += count
    return found_words, spans


def check(texts: list[str], lowercase: bool = True) -> None:
    found_words, spans = scanned(texts, lowercase)
    for index, text in enumerate(texts):
        assert found_words[index] == words.forms(text, lowercase), repr(text)
        assert spans[index] == words.spans(text), repr(text)


@settings(max_examples=400)
@given(st.lists(TEXTS, max_size=12), st.booleans())  # thousands of texts, each next to others
def test_combined_pieces_match_the_pattern(texts: list[str], lowercase: bool) -> None:
    check(texts, lowercase)


@given(st.lists(st.text(st.characters(max_codepoint=127), max_size=40), max_size=8), st.booleans())
def test_random_ascii_matches_the_pattern(texts: list[str], lowercase: bool) -> None:
    check(texts, lowercase)


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_every_short_text_matches_the_pattern(length: int) -> None:
    check(["".join(letters) for letters in itertools.product(TRICKY, repeat=length)], lowercase=False)


def test_every_pair_of_pieces_matches_the_pattern() -> None:
    check(["".join(pair) for pair in itertools.product(PIECES, repeat=2)])


@pytest.mark.parametrize("name", [63, 64, 65])
@pytest.mark.parametrize("part", [62, 63, 64])
@pytest.mark.parametrize("parts", [1, 2, 8, 9, 10])
def test_mail_addresses_at_the_length_limits(name: int, part: int, parts: int) -> None:
    mail = "1" * name + "@" + ".".join(["x" * part] * parts)
    check([mail, mail[1:] + ".", "a." * (name // 2) + mail, mail.replace("1", "a") + "-x"])


@pytest.mark.parametrize(
    "text", ["<br", "<br ", "a'", "a't", "n'", ":", ":o", "http://", "www.", "a@b.", "1.", "U.S", "#"]
)
def test_scanning_stops_at_the_end_of_a_text(text: str) -> None:
    check([text, "t", text, ">", text, "/", text, "5", text, ")", text])


def test_presplit_words_are_kept() -> None:
    mark = bytes([PRESPLIT])
    raw = b"It's " + mark + "Né".encode() + mark + b":-x<br> don't" + mark + b"a\nb c"
    data = np.frombuffer(bytearray(raw), dtype=np.uint8)
    starts, ends, counts = find_words(data, np.array([0, len(raw)]), lowercase=False)
    found_words = [raw[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    assert found_words == ["It", "'s", "Né", ":-x<br>", "do", "n't", "a", "b", "c"]
    assert counts.tolist() == [9]


def test_no_texts_or_empty_texts() -> None:
    assert [len(part) for part in find_words(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))] == [0, 0, 0]
    assert find_words(np.empty(0, dtype=np.uint8), np.zeros(4, dtype=np.int64)).counts.tolist() == [0, 0, 0]


def test_only_bytes_within_the_offsets_are_read_and_written() -> None:
    data = np.frombuffer(bytearray(b"AB CD EF"), dtype=np.uint8)
    assert find_words(data, np.array([3, 5])).starts.tolist() == [3]
    assert data.tobytes() == b"AB cd EF"


LONG = "a ' - !? a- a. a' http://! <br :- 1, a.-@ www.! n't @ a@a a@a. <"


@pytest.mark.parametrize("piece", [*LONG.split(), "<br "])
def test_a_long_text_matches_the_pattern(piece: str) -> None:
    check([piece * (100_000 // len(piece))])


@pytest.mark.data
@pytest.mark.parametrize("corpus", ["sst2", "trec", "ag_news", "20newsgroups", "imdb"])
def test_texts_of_corpora_match_the_pattern(corpus: str) -> None:
    if not os.environ.get("REGARD_DATA"):
        pytest.skip("REGARD_DATA is not set")
    with gzip.open(Path(os.environ["REGARD_DATA"]) / corpus / "test.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(1500), strict=False)]
    ascii_texts = [text for text in texts if text.isascii()]
    found_words, spans = scanned(ascii_texts, lowercase=True)
    # by index, because a failure must not quote a text
    different = [
        index
        for index, text in enumerate(ascii_texts)
        if found_words[index] != words.forms(text) or spans[index] != words.spans(text)
    ]
    assert not different
