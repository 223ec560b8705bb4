"""Escaping of user-supplied text in Markdown: the model card and the README of a corpus use the same function."""

from __future__ import annotations

from collections import Counter

import pytest

from regard.config import Config
from regard.corpora.readme import Tally, readme
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.markdown_text import escape
from regard.models.saving import card
from regard.models.tasks import Binary
from regard.models.trained import Trained

HOSTILE = "[a](b) *c* _d_ `e` <f> | g\nh"
ESCAPED = r"\[a\](b) \*c\* \_d\_ \`e\` \<f> \| g h"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HOSTILE, ESCAPED),
        ("&lt; & AT&T &#42;", r"\&lt; & AT&T \&#42;"),
        ("a\\b", r"a\\b"),
        ("a\r\nb\u2028c", "a b c"),
        ("plain words, 5 %", "plain words, 5 %"),
    ],
)
def test_markup_is_escaped(text: str, expected: str) -> None:
    assert escape(text) == expected


def test_a_class_does_not_break_the_card() -> None:
    page = card(Trained(Config(), Tokenizer(Vocabulary(())), Binary((HOSTILE, "other")), weights={}))
    assert f"| task | 2 classes: {ESCAPED}, other |\n" in page


def test_a_label_does_not_break_the_readme() -> None:
    tally = Tally(rows=3, words=6, labels=Counter({f"label {HOSTILE}": 3}), fields={"text": None, "a_b": None})
    page = readme("mine", "my_file.csv", None, {"train": tally}, {}, [f"about {HOSTILE}"])
    assert f"| train.jsonl.gz | 3 | 2 | label: {ESCAPED}: 3 |\n" in page
    assert f"- Note: about {ESCAPED}.\n" in page
    assert r"Fields: text, a\_b" in page
    assert "\n\nmine, from my_file.csv\n\n" in page, "`regard datasets` shows this line"
