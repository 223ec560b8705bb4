"""Quantities recorded during training (by `analysis/dynamics`, shown by `regard analyse`), as a file of the run folder.

dynamics.safetensors has one array per quantity, whose first axis is the recorded moments; the metadata names the other
axes, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from regard.errors import InputError

FORMAT = "regard dynamics 1"

Frames = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class AxisNames:
    """What the entries along the axes of the arrays are."""

    tokens: list[str]  # T, chosen to be shown individually
    types: list[str]  # T, the type of each
    names: list[str]  # G, the types with at least one token
    terms: list[str]  # N, terms of the gradient flow; none if the model is not flat
    note: str = ""  # what was recorded, in one sentence


@dataclass(frozen=True)
class TrainingRecord:
    axes: AxisNames
    frames: Frames

    def to_bytes(self) -> bytes:
        metadata = {
            "recording": json.dumps({"format": FORMAT, **asdict(self.axes)})
        }  # several keys would come in any order
        return safetensors.numpy.save(
            {name: np.ascontiguousarray(value) for name, value in self.frames.items()}, metadata
        )


def read_training_record(path: Path) -> TrainingRecord:
    try:
        with safe_open(path, "np") as file:
            metadata = json.loads((file.metadata() or {})["recording"])
            frames = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        if metadata["format"] != FORMAT:
            raise ValueError(f"format {metadata['format']!r} instead of {FORMAT!r}")
        axes = parse_axes(metadata)
        check_shapes(axes, frames)
    except (SafetensorError, LookupError, TypeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path.name}: not a readable recording: {reason}; the run is complete without this file"
        ) from None
    return TrainingRecord(axes, frames)


def parse_axes(row: Mapping[str, Any]) -> AxisNames:
    lists = {name: row[name] for name in ("tokens", "types", "names", "terms")}
    if not all(isinstance(one, list) and all(isinstance(item, str) for item in one) for one in lists.values()):
        raise ValueError("tokens, types, names and terms: expected lists of strings")
    return AxisNames(**lists, note=str(row["note"]))


def check_shapes(axes: AxisNames, frames: Frames) -> None:
    """Check that every array exists and has the shape that the axis names imply."""
    moments, tokens, groups = len(frames["moments"]), len(axes.tokens), len(axes.names)
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
        "terms": (moments, len(axes.terms), groups),
    }
    if len(axes.types) != tokens or len(outputs) > 1 or frames.keys() != expected.keys():
        raise ValueError("its arrays and axis names do not match")
    for name, shape in expected.items():
        if frames[name].shape != shape or frames[name].dtype.kind != "f":
            raise ValueError(f"{name}: expected the shape {shape}, got {frames[name].shape}")
