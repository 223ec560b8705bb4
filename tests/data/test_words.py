"""Words: spans that cover a text, Penn-like splitting, every script, and linear time for all texts."""

from __future__ import annotations

import gzip
import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import words
from regard.data.vectors import vector_words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # surrogates and control characters too
TRICKY = st.text(
    st.sampled_from("aNn't’TsDo:;=)(-_^<3br/> .!?#@1,Éİßก้ำ日あーカ\u0301\u200d\ufe0f❤👩🇩🇪\x00\u00ad\u200b"), max_size=40
)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in words.spans(text)]


def is_skipped(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")


@given(st.one_of(ANY_TEXT, TRICKY))
def test_spans_are_in_order_disjoint_and_cover_all_that_is_visible(text: str) -> None:
    last = 0
    visible = words.LINE_BREAK.sub(lambda tag: " " * len(tag.group()), text)
    for start, end in words.spans(text):
        assert last <= start < end
        assert all(map(is_skipped, visible[last:start]))
        last = end
    assert all(map(is_skipped, visible[last:]))


@given(st.one_of(ANY_TEXT, TRICKY), st.booleans())
def test_forms_are_the_normalised_words_one_by_one(text: str, lowercase: bool) -> None:
    assert words.forms(text, lowercase) == [words.normalise(word, lowercase) for word in split(text)]
    assert words.has_words(text) == bool(words.spans(text))


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_is_split_the_same_alone_and_among_other_scripts(text: str) -> None:
    assert split(text) == split(text + " é")[:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't, you CAN'T.", ["I", "do", "n't", ",", "you", "CA", "N'T", "."]),
        ("I do n't , you ca n't .", ["I", "do", "n't", ",", "you", "ca", "n't", "."]),
        ("It’s what they’d’ve", ["It", "’s", "what", "they", "’d", "’ve"]),
        ("we're I'm he'll", ["we", "'re", "I", "'m", "he", "'ll"]),
        ("'so' the '90s", ["'", "so", "'", "the", "'", "90s"]),
        ("$3.50 or 1,000.", ["$", "3.50", "or", "1,000", "."]),
        ("the U.S. is well-made", ["the", "U.S.", "is", "well", "-", "made"]),
        ("no... yes!!! -- ?!", ["no", "...", "yes", "!!!", "--", "?", "!"]),
        ("one<br />two<BR>three", ["one", "two", "three"]),
        ("see http://a.org/b?c=1). ok", ["see", "http://a.org/b?c=1", ")", ".", "ok"]),
        ("@some_one #fun #1 me@a.co.uk.", ["@some_one", "#fun", "#", "1", "me@a.co.uk", "."]),
        ("good :) bad :-( sad :'( love <3", ["good", ":)", "bad", ":-(", "sad", ":'(", "love", "<3"]),
        ("at 10:30 (see:this)", ["at", "10", ":", "30", "(", "see", ":", "this", ")"]),
        ("_so_ 2nd mp3", ["_", "so", "_", "2nd", "mp3"]),
    ],
)
def test_english_is_split_the_penn_way(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("好电影。", ["好", "电", "影", "。"]),
        ("カメラはらーめん", ["カメラ", "は", "らー", "め", "ん"]),
        ("น้ำดี", ["น้ำ", "ดี"]),
        ("ខ្មែរ", ["ខ្មែ", "រ"]),
        ("좋은 영화", ["좋은", "영화"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("كتابٌ می‌خواهم", ["كتابٌ", "می‌خواهم"]),
        ("cafe\u0301 don´t", ["cafe\u0301", "do", "n´t"]),
        ("👩‍👩‍👧👍🏽❤️🇩🇪🇫🇷1️⃣", ["👩‍👩‍👧", "👍🏽", "❤️", "🇩🇪", "🇫🇷", "1️⃣"]),
        ("๑๒๓ บาท", ["๑๒๓", "บ", "า", "ท"]),
        ("wait…… ！！", ["wait", "……", "！！"]),
    ],
)
def test_other_scripts_and_emoji_have_words(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_letter_that_grows_in_lower_case_does_not_move_spans() -> None:
    assert words.spans("İİ ok") == [(0, 2), (3, 5)]
    assert words.forms("İİ ok")[1] == "ok"


def test_forms_are_lower_case_composed_and_with_plain_apostrophes() -> None:
    assert words.forms("Cafe\u0301 DON’T") == ["café", "do", "n't"]
    assert words.forms("Cafe\u0301 DON’T", lowercase=False) == ["Café", "DO", "N'T"]


@pytest.mark.parametrize("text", ["", " \n\t", "<br /><br>", "\x00\x07", "\u200b\ufeff"])
def test_blank_text_has_no_words(text: str) -> None:
    assert words.spans(text) == words.forms(text) == []


MILLION = 1_000_000


@pytest.mark.parametrize("other", ["", " é"])
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a" * MILLION, 1),
        ("'" * MILLION, 1),
        ("-" * MILLION, 1),
        ("!?" * (MILLION // 2), MILLION),
        ("a-" * (MILLION // 2), MILLION),
        ("a" * MILLION + "'t", 3),
        ("don't " * (MILLION // 6), MILLION // 6 * 2),
        ("http://" + "!" * MILLION, 4),
        (":-" * (MILLION // 2), MILLION),
        ("a.-" * (MILLION // 3) + "@", MILLION // 3 * 3 + 1),
        ("<br" * (MILLION // 3), MILLION // 3 * 2),
    ],
)
def test_long_runs_are_split_without_backtracking(text: str, count: int, other: str) -> None:
    assert len(words.spans(text + other)) == count + len(other.strip())


@pytest.mark.data
@pytest.mark.parametrize(("corpus", "least"), [("sst2", 0.99), ("trec", 0.99), ("imdb", 0.985)])
def test_most_words_of_english_corpora_have_a_vector(corpus: str, least: float) -> None:
    if not os.environ.get("REGARD_DATA"):
        pytest.skip("REGARD_DATA is not set")
    home = Path(os.environ["REGARD_DATA"])
    known = {*vector_words(next((home / "glove100").glob("*.npz")))}
    with gzip.open(home / corpus / "test.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(2000), strict=False)]
    seen = [form for text in texts for form in words.forms(text)]
    assert sum(form in known for form in seen) / len(seen) >= least
