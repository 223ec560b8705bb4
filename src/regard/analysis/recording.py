"""What was recorded during training, as facts: the `recording` of analysis.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.facts.analysis import PairPath, Recording, ScorePaths
from regard.models.training_record import TrainingRecord

DIGITS = 6  # significant digits: more would be float32 noise


def recording_facts(record: TrainingRecord) -> Recording:
    axes, frames = record.axes, record.frames
    by_type = {name: frames["by_type"][:, index] for index, name in enumerate(axes.names)}  # (M, 2, 3)
    return Recording(
        moments=tuple(frames["moments"].tolist()),
        tokens=tuple(axes.tokens),
        types=tuple(axes.types),
        **{name: rounded(frames[name]) for name in ("polarity", "attention", "vtw", "norm_v", "norms_w")},
        by_type={name: ScorePaths(rounded(paths[:, 0]), rounded(paths[:, 1])) for name, paths in by_type.items()},
        dot_products=tuple(pair_paths(record)),
        terms={
            term: {name: rounded(frames["terms"][:, index, group]) for group, name in enumerate(axes.names)}
            for index, term in enumerate(axes.terms)
        },
    )


def pair_paths(record: TrainingRecord) -> Iterator[PairPath]:
    """Each pair of types once. A type with a single token is not paired with itself."""
    names, means = record.axes.names, record.frames["dot_products"]  # (M, G, G)
    for one in range(len(names)):
        for other in range(one, len(names)):
            if not np.isnan(means[:, one, other]).any():
                yield PairPath((names[one], names[other]), rounded(means[:, one, other]))


def rounded(values: NDArray[Any]) -> Any:
    """Nested tuples of plain numbers, rounded to DIGITS digits; None for NaN."""
    doubles = values.astype(np.float64)
    size = np.abs(doubles, where=np.isfinite(doubles) & (doubles != 0), out=np.ones_like(doubles))
    unit = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
    result: NDArray[Any] = np.round(doubles * unit) / unit
    if np.isnan(result).any():
        missing = np.isnan(result)
        result = result.astype(object)
        result[missing] = None
    return nested(result.tolist())


def nested(values: Any) -> Any:
    return tuple(map(nested, values)) if isinstance(values, list) else values
