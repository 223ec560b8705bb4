"""What was seen of a model along its training (`analysis/dynamics` looks, `regard analyse` shows): a file of a run's folder.

dynamics.safetensors: an array a quantity, the first axis of each being the moments; in the metadata, whose they are, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from regard.errors import InputError
from regard.facts.analysis import PairPath, Recording, ScorePaths

FORMAT = "regard dynamics 1"
DIGITS = 6  # that a number is told with: more would be noise of float32

Frames = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Whose:
    """What the places of the arrays stand for."""

    tokens: list[str]  # T, chosen to be shown one by one
    types: list[str]  # T, the type of each
    names: list[str]  # G, the types that have tokens
    terms: list[str]  # N, of the gradient flow; none where the model isn't flat
    note: str = ""  # what was looked at, in a sentence


@dataclass(frozen=True)
class Recorded:
    whose: Whose
    frames: Frames

    def facts(self) -> Recording:
        """The `recording` of analysis.json."""
        whose, frames = self.whose, self.frames
        by_type = {name: frames["by_type"][:, place] for place, name in enumerate(whose.names)}  # (M, 2, 3)
        return Recording(
            moments=tuple(frames["moments"].tolist()),
            tokens=tuple(whose.tokens),
            types=tuple(whose.types),
            **{name: listed(frames[name]) for name in ("polarity", "attention", "vtw", "norm_v", "norms_w")},
            by_type={name: ScorePaths(listed(own[:, 0]), listed(own[:, 1])) for name, own in by_type.items()},
            dot_products=tuple(self.pairs()),
            terms={
                term: {name: listed(frames["terms"][:, place, group]) for group, name in enumerate(whose.names)}
                for place, term in enumerate(whose.terms)
            },
        )

    def pairs(self) -> Iterator[PairPath]:
        """Each pair of types once. A type with a single token has no pair with itself."""
        names, means = self.whose.names, self.frames["dot_products"]  # (M, G, G)
        for one in range(len(names)):
            for other in range(one, len(names)):
                if not np.isnan(means[:, one, other]).any():
                    yield PairPath((names[one], names[other]), listed(means[:, one, other]))

    def to_bytes(self) -> bytes:
        told = {"recording": json.dumps({"format": FORMAT, **asdict(self.whose)})}  # several would come in any order
        return safetensors.numpy.save({name: np.ascontiguousarray(value) for name, value in self.frames.items()}, told)


def read_recorded(path: Path) -> Recorded:
    try:
        with safe_open(path, "np") as file:
            told = json.loads((file.metadata() or {})["recording"])
            frames = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        if told["format"] != FORMAT:
            raise ValueError(f"format {told['format']!r} instead of {FORMAT!r}")
        whose = whose_of(told)
        check(whose, frames)
    except (SafetensorError, LookupError, TypeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path.name}: not a recording that can be read: {reason}; without it the run is whole"
        ) from None
    return Recorded(whose, frames)


def whose_of(row: Mapping[str, Any]) -> Whose:
    lists = {name: row[name] for name in ("tokens", "types", "names", "terms")}
    if not all(isinstance(one, list) and all(isinstance(item, str) for item in one) for one in lists.values()):
        raise ValueError("tokens, types, names and terms: lists of strings are expected")
    return Whose(**lists, note=str(row["note"]))


def check(whose: Whose, frames: Frames) -> None:
    """Every array there and of the shape that the names ask for."""
    moments, tokens, groups = len(frames["moments"]), len(whose.tokens), len(whose.names)
    outputs = {frames[name].shape[-1] for name in ("vtw", "norms_w") if frames[name].ndim == 2} - {0}
    expected = {
        "moments": (moments,),
        "polarity": (moments, tokens),
        "attention": (moments, tokens),
        "by_type": (moments, groups, 2, 3),
        "dot_products": (moments, groups, groups),
        "vtw": (moments, frames["vtw"].shape[-1]),
        "norm_v": (moments,),
        "norms_w": (moments, frames["norms_w"].shape[-1]),
        "terms": (moments, len(whose.terms), groups),
    }
    if len(whose.types) != tokens or len(outputs) > 1 or frames.keys() != expected.keys():
        raise ValueError("its parts don't belong together")
    for name, shape in expected.items():
        if frames[name].shape != shape or frames[name].dtype.kind != "f":
            raise ValueError(f"{name} has the shape {frames[name].shape}; {shape} is expected")


def listed(values: NDArray[Any]) -> Any:
    """Nested tuples of plain numbers, rounded to DIGITS digits; None where nothing was measured."""
    wide = values.astype(np.float64)
    size = np.abs(wide, where=np.isfinite(wide) & (wide != 0), out=np.ones_like(wide))
    unit = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
    told: NDArray[Any] = np.round(wide * unit) / unit
    if np.isnan(told).any():
        missing = np.isnan(told)
        told = told.astype(object)
        told[missing] = None
    return nested(told.tolist())


def nested(values: Any) -> Any:
    return tuple(map(nested, values)) if isinstance(values, list) else values
