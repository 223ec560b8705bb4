"""Results of threads come in order, and a caller that stops early does not wait for all of them."""

from __future__ import annotations

import itertools
import time

import pytest

from regard.ordered_threads import AHEAD, ordered


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_are_those_of_map(count: int) -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.01 if number == 0 else 0)
        return 2 * number

    assert list(ordered(slow_first, range(count))) == [2 * number for number in range(count)]


def test_few_results_wait_for_the_caller() -> None:
    done: list[int] = []
    results = ordered(lambda number: done.append(number) or number, itertools.count())
    assert list(itertools.islice(results, 3)) == [0, 1, 2]
    results.close()  # type: ignore[attr-defined]
    assert len(done) <= 3 + AHEAD + 1


def test_an_error_is_raised_in_its_place() -> None:
    results = ordered(lambda number: 1 // (2 - number), range(9))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
