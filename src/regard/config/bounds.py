"""The numbers that an option accepts."""

from __future__ import annotations

from typing import NamedTuple

INFINITY = float("inf")
WIDEST = 100_000  # a larger width is a typing error


class Bounds(NamedTuple):
    """The numbers that an option accepts; `low` itself only where `open` is false."""

    low: float = -INFINITY
    high: float = INFINITY
    open: bool = False
    wording: str | None = None  # what an error message says instead of the numbers

    def accept(self, value: float) -> bool:
        return self.low <= value <= self.high and abs(value) < INFINITY and not (self.open and value == self.low)

    @property
    def expected(self) -> str:
        if self.wording:
            return self.wording
        if self.high < INFINITY:
            return f"a number from {self.low:g} to {self.high:g}"
        return f"a number above {self.low:g}" if self.open else f"a number of at least {self.low:g}"


POSITIVE = Bounds(0, open=True)
COUNT = Bounds(1)
NOT_NEGATIVE = Bounds(0)
WIDTH = Bounds(1, WIDEST)
