"""Numbers cut to the digits that are worth keeping."""

from __future__ import annotations


def short(value: float, digits: int) -> float:
    """Rounded to so many significant digits."""
    return float(f"{value:.{digits}g}")
