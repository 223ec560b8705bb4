"""What a run's history holds, as curves over its epochs: loss and scores, learned norms, attention scores.

Where training went through phases, each has curves of its own: not the same weights learn in them, nor by the same loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regard.report.plots.lines import Curve, Panel, training_lines
from regard.report.plots.marks import HUES, Mark
from regard.report.plots.svg import DASHES
from regard.report.text.measures import metric_name

History = Sequence[Mapping[str, Any]]
Point = tuple[float, float, float, float]  # epoch, value, and the ends of a band
SPLITS = ("dev", "test")
SHARES = ("accuracy", *(metric_name(name) for name in ("macro_f", "micro_f", "f")))  # of at most 1
OF_MEAN = "rmse_of_mean"  # what saying the mean every time gets, which is the same in every epoch


def history_panels(history: History) -> list[Panel]:
    """Loss of training, then every score of held-out texts."""
    shown: dict[str, dict[str, list[Point]]] = {"loss": {}}
    for record in history:
        shown["loss"].setdefault(in_phase("training", record), []).extend(point(record, record.get("loss")))
    for split in SPLITS:
        constant: list[Point] = []  # comes last, so that a phase has one colour in all panels
        for record in history:
            scores = record.get(split)
            for name, value in scores.items() if isinstance(scores, Mapping) else ():
                curves = shown.setdefault(metric_name("rmse" if name == OF_MEAN else name), {})
                own = constant if name == OF_MEAN else curves.setdefault(in_phase(split, record), [])
                own += point(record, value)
        if constant:
            shown[metric_name("rmse")][f"{split}, the mean"] = constant
    return [panel for title, curves in shown.items() if (panel := make_panel(title, title, curves))]


def level_panels(history: History, key: str, title: str, y_title: str) -> list[Panel]:
    """`norms` or `scores`: a curve a level, with a band of one deviation."""
    levels: dict[str, list[Point]] = {}
    for record in history:
        told = record.get(key)
        for level, value in told.items() if isinstance(told, Mapping) else ():
            levels.setdefault(in_phase(level, record), []).extend(point(record, value))
    panel = make_panel(title, y_title, levels)
    return [panel] if panel else []


def in_phase(name: str, record: Mapping[str, Any]) -> str:
    return f"{name}, {record['phase']}" if "phase" in record else name


def make_panel(title: str, y_title: str, named: Mapping[str, Sequence[Point]]) -> Panel | None:
    """None where there are no two moments."""
    if len({one[0] for points in named.values() for one in points}) < 2:
        return None
    curves = []
    for place, (name, points) in enumerate((n, p) for n, p in named.items() if p):
        x, y, low, high = zip(*points, strict=True)
        mark = Mark(HUES[place % len(HUES)], dash=DASHES[place % len(DASHES)])
        curves.append(Curve(name, x, y, low, high, mark))
    return Panel(title, tuple(curves), y_title, 1.0 if title in SHARES else math.inf)


def point(record: Mapping[str, Any], value: Any) -> list[Point]:
    """Nothing, or one point."""
    spread = 0.0
    if isinstance(value, Mapping):
        value, spread = value.get("mean"), number(value.get("std")) or 0.0
    epoch, found = number(record.get("epoch")), number(value)
    return [] if epoch is None or found is None else [(epoch, found, found - spread, found + spread)]


def number(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None


def rows(panels: Sequence[Panel]) -> list[list[Any]]:
    """For a spreadsheet: panel, curve, epoch, value, low, high."""
    return [
        [panel.title, curve.name, *point]
        for panel in panels
        for curve in panel.curves
        for point in zip(curve.x, curve.y, curve.low, curve.high, strict=True)
    ]


def drawn(title: str, panels: Sequence[Panel]) -> str:
    return training_lines(title, "epoch", panels)
