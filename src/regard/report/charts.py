"""The history of a training run as small line charts, one for each quantity; geometry only, the page draws them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.report.characters import one_line

WIDTH, HEIGHT = 220, 90  # of the plot, without its margins
ASIDE = {"epoch", "step", "seconds", "time", "lr", "learning_rate", "rate", "round", "best", "n"}  # no measure
SPLITS = ("train", "dev", "valid", "validation", "test")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its points in the order of the epochs, in the units of the drawing, and what it says in words."""

    name: str
    strokes: list[str]  # points attributes of polylines; more than one where a value is missing in between
    dots: list[Point]
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    low: str
    high: str
    epochs: int
    lines: list[Line]

    @property
    def words(self) -> str:
        """The chart for those who cannot see it."""
        return f"{self.title}, {self.epochs} epochs: " + "; ".join(x.words for x in self.lines)


def charts(history: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """One chart for each quantity that two or more records hold; a quantity of several splits shares one."""
    if len(history) < 2:
        return []  # a point is no line; the measures say as much
    panels: dict[str, dict[str, list[float]]] = {}
    for place, record in enumerate(history):
        for panel, name, value in _values(record):
            series = panels.setdefault(panel, {}).setdefault(name, [math.nan] * len(history))
            series[place] = value
    drawn = [_chart(title, series, len(history)) for title, series in panels.items()]
    return [chart for chart in drawn if chart is not None]


def _values(record: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """(chart, line, value) for every number of a record."""
    found = []
    for key, value in record.items():
        if key == "norms" and isinstance(value, Mapping):
            found += [("norm p", one_line(name), _number(norm)) for name, norm in value.items()]
        elif isinstance(value, Mapping) and key in SPLITS:
            found += [(_title(name), key, _number(inner)) for name, inner in value.items() if name not in ASIDE]
        elif key not in ASIDE and not isinstance(value, Mapping):
            split, _, rest = key.partition("_")
            panel, name = (rest, split) if split in SPLITS and rest else (key, "train" if key == "loss" else key)
            found.append((_title(panel), one_line(name), _number(value)))
    return [entry for entry in found if math.isfinite(entry[2])]


def _number(value: Any) -> float:
    if isinstance(value, Mapping):
        value = value.get("mean")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def _title(key: str) -> str:
    return one_line(key).replace("_", " ")


def _chart(title: str, series: Mapping[str, Sequence[float]], epochs: int) -> Chart | None:
    values = [value for line in series.values() for value in line if math.isfinite(value)]
    if not values:
        return None
    low, high = min(values), max(values)
    lines = [_line(name, line, low, high) for name, line in series.items()]
    return Chart(title, f"{low:.3g}", f"{high:.3g}", epochs, lines)


def _line(name: str, values: Sequence[float], low: float, high: float) -> Line:
    step = WIDTH / (len(values) - 1)
    strokes: list[list[Point]] = [[]]
    for place, value in enumerate(values):
        if math.isfinite(value):
            height = (value - low) / (high - low) if high > low else 0.5
            strokes[-1].append((round(place * step, 1), round(HEIGHT * (1 - height), 1)))
        elif strokes[-1]:
            strokes.append([])
    points = [point for stroke in strokes for point in stroke]
    real = [value for value in values if math.isfinite(value)]
    words = f"{name} from {real[0]:.3g} to {real[-1]:.3g}" if len(real) > 1 else f"{name} {real[0]:.3g}"
    drawn = [" ".join(f"{x},{y}" for x, y in stroke) for stroke in strokes if len(stroke) > 1]
    return Line(name, drawn, points if len(points) <= 30 else points[-1:], words)
