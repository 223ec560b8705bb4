"""Word pieces cut by a pretrained tokenizer, and the words that they cover."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import wordpieces
from regard.data.wordpieces import Row, WordPieces, tokenizer_from_dict
from regard.errors import InputError
from tiny_bert import word_pieces

pytest.importorskip("tokenizers", reason="the extra regard[bert] is not installed")


def pieces(**options: Any) -> WordPieces:
    return WordPieces(word_pieces().to_str(), **options)


def shown(tokenizer: WordPieces, text: str) -> list[tuple[str, str]]:
    """Each piece with the words that it covers."""
    words = [text[start:end] for start, end in tokenizer.outline(text).words]
    encoded = tokenizer.encode(text)
    assert encoded.covers is not None
    names = ["", "[UNK]", *tokenizer.vocabulary.words]
    return [
        (names[number], " ".join(words[first : last + 1]))
        for number, (first, last) in zip(encoded.ids, encoded.covers, strict=True)
    ]


def byte_pieces() -> Any:
    """A byte-level tokenizer, as RoBERTa's: a blank before a word is part of its piece."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    numbers = {piece: number for number, piece in enumerate(("<s>", "<pad>", "</s>", *letters, "Ġg", "oo", "oo" + "d"))}
    merges = [("Ġ", "g"), ("o", "o"), ("oo", "d")]
    tokenizer = Tokenizer(models.BPE(numbers, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def test_pieces_cover_their_words() -> None:
    assert shown(pieces(), "Unbelievably good, it was.") == [
        ("un", "Unbelievably"),
        ("##believ", "Unbelievably"),
        ("##ab", "Unbelievably"),
        ("##ly", "Unbelievably"),
        ("good", "good"),
        (",", ","),
        ("it", "it"),
        ("was", "was"),
        (".", "."),
    ]


def test_a_piece_across_two_words_covers_both() -> None:
    assert shown(pieces(), "don't") == [("don", "do n't"), ("'", "n't"), ("t", "n't")]
    assert shown(pieces(), "do n't")[0] == ("do", "do")


def test_pieces_are_those_of_the_tokenizer_on_the_whole_text() -> None:
    text = "It was not so lovely: the film is un believably bad!"
    tokenizer = pieces()
    assert tokenizer.sources[tokenizer.encode(text).ids].tolist() == word_pieces().encode(text).ids[1:-1]


def test_line_breaks_blanks_and_special_tokens_are_not_pieces() -> None:
    tokenizer = pieces()
    even = tokenizer.encode("it was good").ids.tolist()
    assert tokenizer.encode("  it\n\twas<br /><BR>good  ").ids.tolist() == even
    assert [piece for piece, _ in shown(tokenizer, "it [SEP] was")] == ["it", *["[UNK]"] * 3, "was"]


def test_byte_pieces_with_their_blanks() -> None:
    tokenizer = WordPieces(byte_pieces().to_str())
    assert tokenizer.unknown is None
    assert not tokenizer.lowercase
    assert shown(tokenizer, "so good") == [("s", "so"), ("o", "so"), ("Ġg", "good"), ("ood", "good")]
    assert shown(tokenizer, "so \n good")[2:] == [("Ġg", "good"), ("ood", "good")]
    assert {word for _, word in shown(tokenizer, "é")} == {"é"}  # two bytes of one letter


def marked_pieces() -> Any:
    """A Unigram tokenizer, as XLM-RoBERTa's: its special tokens are pieces like others, and the last id is a special token."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    specials = ("<s>", "<unk>", "<mask>")
    pieces_and_scores = [
        ("<s>", 0.0),
        ("<unk>", 0.0),
        ("▁", -3.0),
        *((letter, -4.0) for letter in "dgo<>"),
        ("<mask>", 0.0),
    ]
    tokenizer = Tokenizer(models.Unigram(pieces_and_scores, 1))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(list(specials))
    return tokenizer


def test_a_special_token_written_in_a_text_is_unknown_where_its_letters_are_one_piece() -> None:
    tokenizer = WordPieces(marked_pieces().to_str())
    for text in ("good <s>", "good <mask>"):
        assert tokenizer.encode(text).ids.tolist()[-1] == 1
        assert tokenizer.known(text, tokenizer.outline(text).words)[0]


def test_what_the_tokenizer_does_not_know_is_unknown() -> None:
    text = "it was zzz good"
    tokenizer = pieces()
    assert tokenizer.encode(text).ids.tolist().count(1) == 1
    assert tokenizer.known(text, tokenizer.outline(text).words) == [True, True, False, True]


def test_a_row_that_the_tokenizer_ignores_has_one_unknown_piece() -> None:
    """U+FFFD is a word here and nothing to BERT."""
    tokenizer = pieces()
    assert shown(tokenizer, "good \ufffd film") == [("good", "good"), ("film", "film")]
    assert tokenizer.known("good \ufffd", tokenizer.outline("good \ufffd").words) == [True, False]
    assert shown(tokenizer, "\ufffd \ufffd") == [("[UNK]", "\ufffd \ufffd")]
    assert shown(tokenizer, "\ud83d good") == [("good", "good")]  # half a pair of surrogates
    assert pieces(levels=2).encode("good. \ufffd\ufffd\n\ngood").shape[0].min() > 0


def test_sentences_and_parts_are_counted_in_pieces() -> None:
    text = "The film was unbelievably good. It was bad!\n\nLovely food."
    two = pieces(levels=2).encode(text)
    assert two.shape[0].tolist() == [9, 4, 4]
    three = pieces(levels=3).encode(text)
    assert [counts.tolist() for counts in three.shape] == [[9, 4, 4], [2, 1]]
    assert np.array_equal(two.ids, three.ids)
    assert two.covers is not None
    assert two.covers[9:13].tolist() == [[6, 6], [7, 7], [8, 8], [9, 9]]


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_max_words_cuts_words_and_not_pieces(levels: int) -> None:
    tokenizer, most = pieces(levels=levels, max_words=2), pieces(levels=levels)
    cut = tokenizer.encode("so unbelievably good. It was")
    assert cut.ids.tolist() == most.encode("so unbelievably").ids.tolist()
    assert len(tokenizer.outline("so unbelievably good").words) == 2


def test_a_text_longer_than_the_model_can_be_refused() -> None:
    tokenizer = pieces(longest=3)
    assert len(tokenizer.encode("it was good").ids) == 3
    with pytest.raises(InputError, match=r"up to 3 word pieces, .* got 4; without window = 0"):
        tokenizer.encode("it was good.")


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_texts_cut_together_are_what_each_is_alone(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpieces, "CHUNK", 20)  # so that texts, and sentences of one text, fall apart
    texts = [
        "It was good. So lovely!",
        "",
        "don't  do<br>that",
        "\ufffd \ufffd",
        "it was zzz.\n\nGood É \ud83d film",
        ".",
    ]
    tokenizer = pieces(levels=levels)
    together = tokenizer.encode_each(texts)
    for text, encoded in zip(texts, together, strict=True):
        alone = tokenizer.encode(text)
        np.testing.assert_equal(encoded, alone)
        words = tokenizer.outline(text).words
        assert tokenizer.known(text, words, encoded) == tokenizer.known(text, words)


def test_long_texts_are_cut_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package holds hundreds of bytes per character."""
    monkeypatch.setattr(wordpieces, "CHUNK", 30)
    assert list(wordpieces.chunks([10, 20, 1, 40, 0, 5])) == [(0, 2), (2, 3), (3, 4), (4, 6)]
    assert list(wordpieces.chunks([])) == []
    tokenizer = pieces()
    cut, seen = WordPieces._cut, []

    def counted(self: WordPieces, rows: Sequence[Row]) -> list[wordpieces.Pieces]:
        seen.append(sum(len(row.written) for row in rows))
        return cut(self, rows)

    monkeypatch.setattr(WordPieces, "_cut", counted)
    tokenizer.encode_each(["it was good"] * 10)
    assert max(seen) <= 30
    assert sum(seen) == 110


def test_no_text_gives_no_pieces() -> None:
    for text in ("", " \n", "<br>", "\u200b"):
        encoded = pieces().encode(text)
        assert len(encoded.ids) == 0
        assert encoded.covers is not None
        assert encoded.covers.shape == (0, 2)
    assert pieces(levels=2).encode("").shape[0].tolist() == []


def test_many_texts_are_encoded_like_single_ones() -> None:
    tokenizer, texts = pieces(), ["it was good", "", "unbelievably bad"]
    encoded = tokenizer.encode_all(texts)
    assert encoded.offsets.tolist() == [0, 3, 3, 8]
    assert encoded.words.tolist() == [3, 0, 2]
    assert encoded.ids.tolist() == [number for text in texts for number in tokenizer.encode(text).ids.tolist()]
    assert encoded.first[3:].tolist() == [0, 0, 0, 0, 1]


def test_a_tokenizer_of_pieces_round_trips_through_json() -> None:
    tokenizer = pieces(levels=2, max_words=5, longest=7)
    again = tokenizer_from_dict(json.loads(tokenizer.to_json()))
    assert isinstance(again, WordPieces)
    assert (again.levels, again.max_words, again.longest, again.lowercase) == (2, 5, 7, True)
    text = "Unbelievably good. It was so not bad."
    assert again.encode(text).ids.tolist() == tokenizer.encode(text).ids.tolist()
    with pytest.raises(ValueError, match="expected 'regard pieces 1'"):
        WordPieces.from_dict({"format": "regard pieces 9"})
    with pytest.raises(ValueError, match="lowercase: expected True, as in the word pieces, got False"):
        WordPieces.from_dict({**json.loads(tokenizer.to_json()), "lowercase": False})


def test_lower_casing_is_decided_by_the_tokenizer() -> None:
    assert pieces().lowercase
    cased = WordPieces(word_pieces(lowercase=False).to_str())
    assert not cased.lowercase
    assert [piece for piece, _ in shown(cased, "It it")] == ["[UNK]", "it"]


SMALL, BYTES = pieces(), WordPieces(byte_pieces().to_str())


@given(st.text(st.sampled_from("a b.\n<r/>good'té漢\ufffd\u200b\ud83d😀I"), max_size=40), st.booleans())
def test_every_piece_covers_words_of_the_text_in_order(text: str, as_bytes: bool) -> None:
    tokenizer = BYTES if as_bytes else SMALL
    encoded, words = tokenizer.encode(text), tokenizer.outline(text).words
    assert encoded.covers is not None
    assert (len(encoded.ids) > 0) == (len(words) > 0)
    if len(encoded.ids):
        assert 0 <= encoded.covers.min() <= encoded.covers.max() < len(words)
        assert (encoded.covers[:, 0] <= encoded.covers[:, 1]).all()
        assert (np.diff(encoded.covers[:, 0]) >= 0).all()
        assert encoded.ids.min() >= 1
        assert encoded.ids.max() < len(tokenizer)
