"""Words of users in Markdown documents: escaped by one function, which the card, the README and reproduced tables use."""

from __future__ import annotations

from collections import Counter

import pytest

from regard.config import Config
from regard.corpora.readme import Tally, readme
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.markdown_text import plain
from regard.models.card import card
from regard.models.tasks import Binary
from regard.models.trained import Trained

HOSTILE = "[a](b) *c* _d_ `e` <f> | g\nh"
ESCAPED = r"\[a\](b) \*c\* \_d\_ \`e\` \<f> \| g h"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (HOSTILE, ESCAPED),
        ("&lt; & AT&T &#42;", r"\&lt; & AT&T \&#42;"),
        ("a\\b", r"a\\b"),
        ("a\r\nb\u2028c", "a b c"),
        ("plain words, 5 %", "plain words, 5 %"),
    ],
)
def test_words_stay_words(given: str, written: str) -> None:
    assert plain(given) == written


def test_a_class_does_not_break_the_card() -> None:
    told = card(Trained(Config(), Tokenizer(Vocabulary(())), Binary((HOSTILE, "other")), weights={}))
    assert f"| task | 2 classes: {ESCAPED}, other |\n" in told


def test_a_label_does_not_break_the_readme() -> None:
    tally = Tally(rows=3, words=6, labels=Counter({f"label {HOSTILE}": 3}), fields={"text": None, "a_b": None})
    told = readme("mine", "my_file.csv", None, {"train": tally}, {}, [f"about {HOSTILE}"])
    assert f"| train.jsonl.gz | 3 | 2 | label: {ESCAPED}: 3 |\n" in told
    assert f"- Note: about {ESCAPED}.\n" in told
    assert r"Fields: text, a\_b" in told
    assert "\n\nmine, from my_file.csv\n\n" in told, "`regard datasets` shows this line"
