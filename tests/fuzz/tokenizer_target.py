"""Any text as words, sentences and parts: in order, inside the text, and the same ids by the compiled scanner."""

from __future__ import annotations

from itertools import pairwise

from regard.data.corpus_ids import CorpusIndexer
from regard.data.sentences import parts, sentences
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms, has_words, spans
from regard.records import Example

WORDS = ("the", "good", "film", "don", "'t", ":)", "http://a.b", "é", "好")
TOKENIZERS = [Tokenizer(Vocabulary(WORDS), levels=levels, max_words=most) for levels in (1, 2, 3) for most in (None, 3)]


def decode(data: bytes) -> str:
    """The bytes as text; encoded lone surrogates are kept, because Python strings may contain them."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def run(data: bytes) -> None:
    text = decode(data)
    words = spans(text)
    assert has_words(text) == bool(words)
    for ranges in (words, sentences(text), parts(text)):
        assert all(0 <= start < end <= len(text) for start, end in ranges)
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
    for lowercase in (True, False):
        named = forms(text, lowercase)
        assert len(named) == len(words)
        indexer = CorpusIndexer(lowercase, None)
        part = indexer.read([Example(text, "a", 1)])
        known = indexer.dictionary.words()
        assert [known[number] for number in part.words.read(0, len(part.words)).tolist()] == named
    for tokenizer in TOKENIZERS:
        indexed, outline = tokenizer.encode(text), tokenizer.outline(text)
        assert len(indexed.ids) == len(outline.words)
        compiled = tokenizer.encode_all([text])
        assert compiled.ids.tolist() == indexed.ids.tolist()
        assert compiled.words.tolist() == [len(outline.words)]
        assert all(int(shape.sum()) for shape in outline.shape) or not outline.words
