"""Newsgroup posts without quoted lines and signatures."""

from __future__ import annotations

import pytest

from regard.errors import InputError
from regard.records import Example
from regard_lab.tables.corpus_makers import unquoted, without_quotes, without_signature

POST = """In article <1@somewhere> Ann writes:
> Was it good?
| Indeed it was.
It was, I say.

The second half above all.
--
Bob, of the north stand"""


def test_quoted_lines_and_their_attribution_are_removed() -> None:
    assert without_quotes(POST).split("\n")[0] == "It was, I say."
    assert without_quotes("Nobody wrote a word.\n>x") == "Nobody wrote a word."


def test_a_signature_begins_at_the_last_rule_or_empty_line() -> None:
    assert without_signature("One.\n\nTwo.\n-- \nBob") == "One.\n\nTwo."
    assert without_signature("One.\n\nBob") == "One."
    assert without_signature("One line alone") == "One line alone"
    assert without_signature("\nOne line\nand another\n") == "\nOne line\nand another\n", "nothing to cut at inside"


def test_posts_without_words_are_dropped() -> None:
    posts = [Example(POST, "a", 1), Example("> all of it\n> quoted", "b", 2), Example("short", "b", 3)]
    created = unquoted(posts, "test")
    assert [(post.row, post.label) for post in created] == [(1, "a"), (3, "b")]
    assert created[0].text == "It was, I say.\n\nThe second half above all."
    assert [post.row for post in unquoted(posts, "test", least=2)] == [1]
    with pytest.raises(InputError, match="expected least to be 1 or more, got 0"):
        unquoted(posts, "test", least=0)


def test_the_rules_are_those_of_scikit_learn() -> None:
    fetching = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    texts = [POST, "One.\n\nTwo.\n--\nBob", "a\n b said: c\n\nd", "\n\nalone\n\n", ">only", "x\n---\ny\n   \nz", ""]
    for text in texts:
        assert without_quotes(text) == fetching.strip_newsgroup_quoting(text)
        assert without_signature(text) == fetching.strip_newsgroup_footer(text)
