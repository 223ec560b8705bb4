"""Means with their intervals as text."""

from __future__ import annotations

from regard.facts.intervals import Interval

UNKNOWN = "unknown"
DASH = "–"


def signed(value: float) -> str:
    """Three decimals, with a typographic minus sign, and none before zero."""
    return f"{value:z.3f}".replace("-", "−")


def span(one: Interval, unknown: str = UNKNOWN) -> str:
    """0.150 (0.100 to 0.200)"""
    if one.mean is None:
        return unknown
    ends = "" if one.low is None or one.high is None else f" ({signed(one.low)} to {signed(one.high)})"
    return signed(one.mean) + ends


def unsigned_span(one: Interval) -> tuple[str, bool]:
    """The absolute value of a difference, and whether it is below zero."""
    if one.mean is None or round(one.mean, 3) >= 0:
        return span(one), False
    low, high = (None if end is None else -end for end in (one.high, one.low))
    return span(Interval(one.n, -one.mean, low, high)), True


def span_or_dash(one: Interval) -> str:
    """For the cells of tables."""
    return span(one, DASH)


def mean_or_dash(one: Interval) -> str:
    return DASH if one.mean is None else signed(one.mean)


def percent(one: Interval) -> str:
    if one.mean is None:
        return "an unknown share"
    mean, low, high = (f"{100 * (end or 0):.1f} %" for end in (one.mean, one.low, one.high))
    return mean if one.low is None else f"{mean} ({low} to {high})"


def p_value(p: float | None) -> str:
    return DASH if p is None else f"{p:.2g}"
