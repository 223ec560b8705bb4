"""Words that texts have several times, against the plain version that goes through the texts one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.packing import pack
from regard.data.words import spans
from regard.explain.scored_text import repeats
from regard.kernels.repeated_words import first_occurrences, singles_and_repeats
from regard.kernels.scanner import find_words

WORD = st.sampled_from(["a", "A", "Good", "good", "undoubtedly", "Undoubtedly", "undoubtedlx", "!", "x" * 20])


@pytest.mark.parametrize("lowercase", [True, False])
@given(texts=st.lists(st.lists(WORD, max_size=30).map(" ".join), max_size=5))
def test_groups_equal_those_of_the_plain_version(texts: list[str], lowercase: bool) -> None:
    data, offsets = pack(texts, lowercase)
    starts, ends, counts = find_words(data, offsets, lowercase)
    first = first_occurrences(data, starts, ends, counts, lowercase)
    groups = singles_and_repeats(first, counts)
    for text, (low, high) in zip(texts, pairwise(groups.bounds.tolist()), strict=True):
        words = spans(text)
        found = [tuple(groups.words[groups.starts[k] : groups.starts[k + 1]].tolist()) for k in range(low, high)]
        assert found == [*((word,) for word in range(len(words))), *repeats(text, words)]
    assert groups.starts[-1] == len(groups.words)


def test_no_texts() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert singles_and_repeats(empty, empty).bounds.tolist() == [0]
