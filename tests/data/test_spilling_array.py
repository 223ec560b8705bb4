"""A long array in memory or in a file: the same numbers for any range and any number of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.spilling_array import SpillingArray

PARTS = st.lists(st.lists(st.integers(-1, 50), max_size=20), max_size=6)
MOST = st.sampled_from([0, 40, 1 << 20])  # bytes: in a file from the start, from the eleventh number on, never


def filled(parts: list[list[int]], most: int) -> SpillingArray:
    spill = SpillingArray(np.int32, most)
    for part in parts:
        spill.append(np.array(part, dtype=np.int64))
    return spill


@given(PARTS, MOST, st.data())
def test_ranges_are_those_of_a_list(parts: list[list[int]], most: int, data: st.DataObject) -> None:
    spill, flat = filled(parts, most), [value for part in parts for value in part]
    assert len(spill) == len(flat)
    for _ in range(3):
        start = data.draw(st.integers(0, len(flat)))
        stop = data.draw(st.integers(start, len(flat)))
        part = spill.read(start, stop)
        assert part.dtype == np.int32
        assert part.tolist() == flat[start:stop]
    spill.append(np.array([7]))
    assert spill.read(0, len(flat) + 1).tolist() == [*flat, 7], "it grows after it was read, too"


@given(PARTS, MOST, st.integers(1, 7))
def test_numbers_change_and_minus_one_stays(parts: list[list[int]], most: int, chunk: int) -> None:
    spill, flat = filled(parts, most), [value for part in parts for value in part]
    numbers = np.array([-1 if value % 3 == 0 else value // 2 for value in range(51)], dtype=np.int32)
    spill.renumber(numbers, chunk)
    expected = [-1 if value < 0 else int(numbers[value]) for value in flat]
    assert spill.read(0, len(flat)).tolist() == expected
    spill.append(np.array([5]))
    assert spill.read(len(flat), len(flat) + 1).tolist() == [5]


@pytest.mark.parametrize("most", [0, 1 << 30])
def test_several_threads_read_at_once(most: int) -> None:
    spill = SpillingArray(np.int32, most)
    spill.append(np.arange(400_000))

    def right(start: int) -> bool:
        return bool((spill.read(start, start + 1000) == np.arange(start, start + 1000)).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right, [place * 37 % 399_000 for place in range(4000)]))


def test_a_file_is_closed_with_its_array() -> None:
    """Warnings are errors here: one about an open file would fail."""
    spill = filled([[1, 2, 3]], 0)
    assert spill.read(1, 2).tolist() == [2]
    del spill
