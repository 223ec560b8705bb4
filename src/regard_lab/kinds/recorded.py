"""What was recorded along training as paths of a row's history: by type of tokens, by pair of types, and of V and W."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regard.report.pages.analysis_payload import frames
from regard.report.text.numbers import short

MOMENTS = "moments"  # epochs at which the paths below were looked at; the first is 0, before the first step
MOST = 31  # of these
TERM = "term_"  # before the names of a term's paths


def recorded(told: Mapping[str, Any] | None, names: Mapping[str, str]) -> dict[str, list[float | None]]:
    """`names`: what a row calls each type."""
    if told is None:
        return {}
    paths: dict[str, Sequence[float | None]] = {MOMENTS: told["moments"]}
    for name, scores in told["by_type"].items():
        for kind, path in scores.items():
            paths[f"{kind}.{names.get(name, name)}"] = [marks[0] for marks in path]
    for one in told["dot_products"]:
        paths["omega." + "-".join(names.get(name, name) for name in one["pair"])] = one["mean"]
    paths |= of_outputs("vtw", told["vtw"]) | of_outputs("norm_w", told["norms_w"])
    paths |= {"norm_v": told["norm_v"]} if told["norm_v"] else {}
    for term, by_type in (told.get("terms") or {}).items():
        paths |= {f"{TERM}{term}.{names.get(name, name)}": path for name, path in by_type.items()}
    kept = frames(len(told["moments"]), MOST)
    return {name: [rounded(path[place]) for place in kept] for name, path in paths.items()}


def of_outputs(name: str, path: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """One path, or one for each class."""
    outputs = len(path[0]) if path else 0
    if outputs == 1:
        return {name: [values[0] for values in path]}
    return {f"{name}.{k + 1}": [values[k] for values in path] for k in range(outputs)}


def rounded(value: float | None) -> float | None:
    return None if value is None else short(value, 4)


def apart_from(told: Mapping[str, Any] | None, classes: Sequence[str]) -> float | None:
    """The epoch from which on, until the end, mean Ω of like pairs is above 0 and that of unlike ones below; None: never."""
    if told is None:
        return None
    paths = {tuple(one["pair"]): one["mean"] for one in told["dot_products"]}
    sides = {pair: 1 if pair[0] == pair[1] else -1 for pair in paths if set(pair) <= set(classes)}
    right = [all(side * paths[pair][at] > 0 for pair, side in sides.items()) for at in range(len(told["moments"]))]
    wrong = [at for at, good in enumerate(right) if not good]
    first = wrong[-1] + 1 if wrong else 0
    return float(told["moments"][first]) if sides and first < len(right) else None
