from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import words
from regard.data.erasing import delete, describe_erasing, keep, only, replace, without
from regard.data.sentences import parts, sentences

FILM = "A good film, isn't it?"  # A · good · film · , · is · n't · it · ?


def test_a_deleted_word_leaves_one_space() -> None:
    spans = words.spans(FILM)
    assert delete(FILM, spans, [1]) == "A film, isn't it?"
    assert delete(FILM, spans, [0]) == "good film, isn't it?"
    assert delete(FILM, spans, [7]) == "A good film, isn't it"
    assert delete(FILM, spans, [5]) == "A good film, is it?"
    assert delete(FILM, spans, [1, 2]) == "A , isn't it?"


def test_kept_neighbours_stay_as_they_were_written() -> None:
    spans = words.spans(FILM)
    assert keep(FILM, spans, [1, 6]) == "good it"
    assert keep(FILM, spans, [4, 5]) == "isn't"
    assert keep(FILM, spans, [0, 2, 3]) == "A film,"


def test_erasing_nothing_or_everything() -> None:
    text = "  two   words \n"
    spans = words.spans(text)
    assert delete(text, spans, []) == keep(text, spans, [0, 1]) == text
    assert delete(text, spans, [0, 1]) == keep(text, spans, []) == ""
    assert delete("", [], []) == keep("", [], []) == ""


def test_neighbours_do_not_merge() -> None:
    text = "well-made"
    spans = words.spans(text)
    assert delete(text, spans, [1]) == "well made"
    assert words.forms(delete(text, spans, [1])) == ["well", "made"]


@pytest.mark.parametrize(
    ("text", "erased"), [("see :(613) there", "613"), ("a :p/ b", "/"), ("one\n:(613) two", "613"), (":(613)", "613")]
)
def test_the_rest_is_not_read_anew(text: str, erased: str) -> None:
    """Without the number, ":(613)" would otherwise be read as an emoticon."""
    spans = words.spans(text)
    index = [text[a:b] for a, b in spans].index(erased)
    rest = [text[a:b] for k, (a, b) in enumerate(spans) if k != index]
    others = [k for k in range(len(spans)) if k != index]
    assert words.forms(delete(text, spans, [index])) == words.forms(keep(text, spans, others)) == rest
    replaced = [text[a:b] if k != index else "unk" for k, (a, b) in enumerate(spans)]
    assert words.forms(replace(text, spans, [index], "unk")) == replaced
    assert words.forms(keep(text, spans, others[: index + 1])) == rest[: index + 1]


@given(st.text(alphabet=":(613)p/-D;=a '\"\n.", max_size=20), st.data())
def test_words_that_are_kept_are_read_as_before(text: str, data: st.DataObject) -> None:
    spans = words.spans(text)
    chosen = [index for index in range(len(spans)) if data.draw(st.booleans())]
    rest = [index for index in range(len(spans)) if index not in chosen]
    expected = words.forms_at(text, [spans[index] for index in rest])
    assert words.forms(delete(text, spans, chosen)) == words.forms(keep(text, spans, rest)) == expected


def test_characters_outside_words_stay_around_deleted_words_but_not_around_kept_ones() -> None:
    text, spans = "It is (really) good!", [(0, 2), (3, 5), (7, 13), (15, 19)]
    assert delete(text, spans, [2]) == "It is ( ) good!"
    assert keep(text, spans, [1, 3]) == "is good"


def test_a_replacement_is_separated_from_its_neighbours() -> None:
    spans = words.spans(FILM)
    assert replace(FILM, spans, [1], "UNK") == "A UNK film, isn't it?"
    assert replace(FILM, spans, [4, 7], "UNK") == "A good film, UNK n't it UNK"
    assert without(FILM, spans, [1], "UNK") == replace(FILM, spans, [1], "UNK")
    assert only("a b c", [(0, 1), (2, 3), (4, 5)], [1], "UNK") == "UNK b UNK"


def test_lines_and_parts_stay_separate() -> None:
    text = "One film.\nA good one.\n\nAnother part."
    spans = words.spans(text)
    second = [index for index, (start, end) in enumerate(spans) if start >= 10 and end <= 21]
    rest = delete(text, spans, second)
    assert rest == "One film.\n\nAnother part."
    assert len(parts(rest)) == len(parts(text)) == 2
    first = [index for index in range(len(spans)) if index not in (0, len(spans) - 2)]
    assert delete(text, spans, first) == "One\n\npart"
    assert keep(text, spans, [0, 3]) == "One\nA"
    assert keep(text, spans, [0, len(spans) - 2]) == "One\n\npart"
    assert len(sentences(delete(text, spans, [2]))) == 3


@pytest.mark.parametrize(
    ("text", "index", "left"),
    [
        ("هذا فيلم رائع", 2, "هذا فيلم"),  # right to left
        ("great 👍🏽 film 👨‍👩‍👧", 1, "great film 👨‍👩‍👧"),
        ("great 👍🏽 film 👨‍👩‍👧", 3, "great 👍🏽 film"),
        ("好电影", 1, "好 影"),
    ],
)
def test_words_of_every_script_are_deleted_whole(text: str, index: int, left: str) -> None:
    spans = words.spans(text)
    assert delete(text, spans, [index]) == left
    assert keep(text, spans, [index]) == text[spans[index][0] : spans[index][1]]


def test_the_way_of_erasing_is_described() -> None:
    assert describe_erasing(None) == "deletion"
    assert describe_erasing("UNK") == "replacement by 'UNK'"


@given(st.lists(st.sampled_from(["a", "bc", "été", "😀", "جيد"]), max_size=9), st.data())
def test_erasing_equals_never_having_written(written: list[str], data: st.DataObject) -> None:
    chosen = sorted(data.draw(st.sets(st.integers(0, 8).filter(lambda index: index < len(written)))) if written else [])
    text, spans, start = " ".join(written), [], 0
    for word in written:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    rest = [word for index, word in enumerate(written) if index not in chosen]
    assert delete(text, spans, chosen) == " ".join(rest)
    assert keep(text, spans, chosen) == " ".join(written[index] for index in chosen)
    replaced = ["UNK" if index in chosen else word for index, word in enumerate(written)]
    assert replace(text, spans, chosen, "UNK") == " ".join(replaced)


@given(st.text(max_size=40), st.data())
def test_words_that_are_not_erased_keep_their_order(text: str, data: st.DataObject) -> None:
    spans = words.spans(text)
    chosen = [index for index in range(len(spans)) if data.draw(st.booleans())]
    rest = [index for index in range(len(spans)) if index not in chosen]
    for left in (keep(text, spans, rest), delete(text, spans, chosen)):
        position = 0
        for start, end in (spans[index] for index in rest):
            position = left.find(text[start:end], position) + end - start
            assert position >= end - start, f"{text[start:end]!r} is missing or out of order"
    assert len(keep(text, spans, rest)) <= len(text)
