"""Work on two threads while its results are used, in order, with few of them in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2
AHEAD = 2 * THREADS  # results that may wait for the one who asks for them


def ordered(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """What `map` gives, computed ahead by threads. The items are taken by the caller's thread, when there is room for more.

    A single item is worked on without a thread. If the caller stops early, what was not begun is dropped.
    """
    remaining = iter(items)
    first = list(islice(remaining, 2))
    if len(first) < 2:
        yield from map(function, first)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in first)
        try:
            for item in remaining:
                waiting.append(pool.submit(function, item))
                if len(waiting) > AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
