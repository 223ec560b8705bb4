"""What a column of a table may show: a key of a row's `values`, how it is written, and which way is better."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard, cast

from regard_lab.rows import Options, Row


class Measure(NamedTuple):
    title: str
    factor: float = 1.0  # shares are kept from 0 to 1 and shown as per cent, as papers do
    digits: int = 3
    better: int = 0  # 1: more is better; -1: less is; 0: neither


MEASURES = {
    "accuracy": Measure("Accuracy", 100, 2, 1),
    "macro_f": Measure("Macro-F", 100, 2, 1),
    "log_loss": Measure("Log loss", 1, 3, -1),
    "rmse": Measure("RMSE", 1, 3, -1),
    "mae": Measure("MAE", 1, 3, -1),
    "r2": Measure("R²", 1, 3, 1),
    "below_mean": Measure("% below saying the mean", 100, 1),  # the RMSE told otherwise: not compared twice
    "norm": Measure("p"),
    "norm_std": Measure("spread of p"),
    "norm_length": Measure("p by length", 1, 2),
    "norm_sentences": Measure("p of sentences"),
    "norm_parts": Measure("p of parts"),
    "seconds": Measure("Seconds", 1, 0),
    "epochs": Measure("Epochs", 1, 1),
    "best_epoch": Measure("Best epoch", 1, 1),
}


LARGEST = 1e150  # the squares of larger ones are no numbers any more: such a run ended nowhere


def value_of(row: Row, name: str) -> float | None:
    """A measure of a row; None where the row failed or has no such number."""
    found = row.get("values", {}).get(name, cast(Options, row).get(name))
    return float(found) if is_number(found) and "error" not in row else None


def is_number(value: object) -> TypeGuard[float]:
    """Whether it can be averaged: null stands for NaN and infinity in a file."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGEST < value < LARGEST


def shown(value: float | None, measure: Measure) -> str:
    """A number as the table writes it; a minus that is one, and none before what rounds to zero."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value * measure.factor:z.{measure.digits}f}".replace("-", "−")


def signed(value: float, measure: Measure) -> str:
    """The same of a difference: with a plus before what shows as more than zero."""
    written = shown(value, measure)
    return f"+{written}" if value > 0 and set(written) & set("123456789") else written
