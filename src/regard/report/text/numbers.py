"""Numbers as text for readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from regard.report.text.characters import one_line

if TYPE_CHECKING:
    from regard.facts.intervals import Interval

NAMES = {
    "n": "texts",
    "macro_f": "macro F1",
    "micro_f": "micro F1",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "map": "mean average precision",
    "f": "F1",
    "log_loss": "log loss",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "rmse_of_mean": "RMSE of always predicting the mean",
    "always_the_most_frequent_class": "accuracy of always predicting the most frequent class",
}


def metric_name(key: str) -> str:
    return NAMES.get(key, one_line(key).replace("_", " "))


def short(value: float, digits: int) -> float:
    """Rounded to `digits` significant digits."""
    return float(f"{value:.{digits}g}")


def minus(text: str) -> str:
    """With a typographic minus sign."""
    return text.replace("-", "−")


def written(value: object) -> str:
    """Three decimals, thousands separated; a dash for what is not a number."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, float):
        return minus(f"{value:z.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.3g}")
    return minus(f"{value:,}") if isinstance(value, int) else one_line(value)


def interval(ends: tuple[object, object] | None) -> str:
    """In parentheses, to follow a value."""
    return "" if ends is None else f" ({written(ends[0])} to {written(ends[1])})"


def figures(value: float, sign: str = "") -> str:
    """Four significant figures, without an exponent for common magnitudes."""
    return minus(f"{value:{sign}z,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:{sign}z.4g}")


def signed(value: float | None) -> str:
    """With its sign and two decimals, or two significant figures if it is small; a dash for None."""
    if value is None:
        return "–"
    return minus(f"{value:+.2f}" if abs(value) >= 1 else f"{value:+z.2g}")


def contribution_text(value: float) -> str:
    """With its sign and two decimals; a small one is not shown as zero."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1000:
        return figures(value, "+")
    return minus(f"{value:+.2f}" if abs(value) >= 0.005 or value == 0 else f"{value:+.1g}")


def column(values: Sequence[float | None], sign: str = "", least: int = 2) -> list[str]:
    """The numbers of a column with the same decimals: `least`, or as many as give the largest two significant digits.

    A positive number that would be shown as zero is shown as less than the smallest that is not; a dash for None.
    """
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(known, default=0.0)
    decimals = max(least, 1 - math.floor(math.log10(largest))) if largest > 0 else least
    smallest = 10.0**-decimals
    return [
        "–"
        if value is None or not math.isfinite(value)
        else f"<{smallest:.{decimals}f}"
        if not sign and 0 < value < smallest / 2
        else minus(f"{value:{sign}z,.{decimals}f}")
        for value in values
    ]


def weight(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def share(value: float) -> str:
    return f"{value:.3f}"


def between(area: Interval) -> str:
    """The ends of an interval, if there is one."""
    return "no interval" if area.low is None or area.high is None else f"{share(area.low)} to {share(area.high)}"
