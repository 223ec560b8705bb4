"""A measure along something else, mean and 95 % interval over seeds: what every figure's lines are made of."""

from __future__ import annotations

from collections.abc import Sequence

from regard.report.plots.lines import Curve
from regard_lab.statistics import interval


def over_seeds(name: str, x: Sequence[float], values: Sequence[Sequence[float]]) -> Curve:
    """`values`: those of the seeds at each x. An x that no seed has a value at is left out."""
    found = [(at, one) for at, several in zip(x, values, strict=True) if (one := interval(several)) is not None]
    means = [one for _, one in found]
    y, low, high = (tuple(getattr(one, part) for one in means) for part in ("mean", "low", "high"))
    return Curve(name, tuple(at for at, _ in found), y, low, high)
