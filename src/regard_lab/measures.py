"""Measures that a column of a table may show: a key of a row's `values`, its number format, and which direction is better."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard, cast

from regard_lab.rows import Options, Row


class Measure(NamedTuple):
    title: str
    factor: float = 1.0  # shares are stored from 0 to 1 and shown in per cent, as in papers
    digits: int = 3
    better: int = 0  # 1: higher is better; -1: lower is better; 0: neither


MEASURES = {
    "accuracy": Measure("Accuracy", 100, 2, 1),
    "macro_f": Measure("Macro-F", 100, 2, 1),
    "log_loss": Measure("Log loss", 1, 3, -1),
    "rmse": Measure("RMSE", 1, 3, -1),
    "mae": Measure("MAE", 1, 3, -1),
    "r2": Measure("R²", 1, 3, 1),
    "below_mean": Measure(
        "% below predicting the mean", 100, 1
    ),  # another form of the RMSE, so it is not compared again
    "norm": Measure("p"),
    "norm_std": Measure("spread of p"),
    "norm_length": Measure("p by length", 1, 2),
    "norm_sentences": Measure("p of sentences"),
    "norm_parts": Measure("p of parts"),
    "seconds": Measure("Seconds", 1, 0),
    "epochs": Measure("Epochs", 1, 1),
    "best_epoch": Measure("Best epoch", 1, 1),
}


LARGEST = 1e150  # squares of larger values overflow: such a run diverged


def value_of(row: Row, name: str) -> float | None:
    """A measure of a row; None if the run failed or has no such number."""
    value = row.get("values", {}).get(name, cast(Options, row).get(name))
    return float(value) if is_number(value) and "error" not in row else None


def is_number(value: object) -> TypeGuard[float]:
    """Whether it can be averaged. In a file, null stands for NaN and infinity."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGEST < value < LARGEST


def shown(value: float | None, measure: Measure) -> str:
    """A number as the table shows it, with a true minus sign, and without one if it rounds to zero."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value * measure.factor:z.{measure.digits}f}".replace("-", "−")


def signed(value: float, measure: Measure) -> str:
    """The same for a difference: with a plus sign if it is shown as more than zero."""
    text = shown(value, measure)
    return f"+{text}" if value > 0 and set(text) & set("123456789") else text
