"""Reads metrics.json, and refuses values of other types than `run_metrics` declares: reports compute with them.

Keys may be missing, because earlier versions did not write all of them, and unknown ones are kept.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Required, cast

from regard.errors import InputError
from regard.models.run_files import read_json
from regard.run_metrics import RunMetrics, SpreadRecord

WORDS = {int: "a whole number", float: "a number", str: "a string", list: "a list", dict: "an object"}
LARGEST = 2**63  # of a whole number
TEMPERATURES = 1e-3, 1e3  # far beyond what `training.temperature` fits


def read_metrics(path: Path) -> RunMetrics:
    metrics = read_json(path)
    check_type(metrics, RunMetrics, path.name)
    low, high = TEMPERATURES
    if not low <= metrics.get("temperature", 1.0) <= high:
        raise InputError(
            f"{path.name}: temperature: expected a number from {low:g} to {high:g}, got {metrics['temperature']}"
        )
    return cast(RunMetrics, metrics)


def check_type(value: object, kind: Any, where: str) -> None:
    """An InputError unless the value is of a type that is made of TypedDict, dict, list, str, int and float."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Required:
        return check_type(value, inner[0], where)
    if kind is SpreadRecord and is_number(value, float):
        return None  # earlier versions wrote the mean alone
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind)
        for key, one in entries(value, where).items():
            if key in hints:
                check_type(one, hints[key], f"{where}: {key}")
    elif origin is dict:
        for key, one in entries(value, where).items():
            check_type(one, inner[1], f"{where}: {str(key)[:40]}")
    elif origin is list:
        if not isinstance(value, list):
            raise wrong(value, list, where)
        for place, one in enumerate(value, 1):
            check_type(one, inner[0], f"{where}: {place}")
    elif not (isinstance(value, str) if kind is str else is_number(value, kind)):
        raise wrong(value, kind, where)
    return None


def entries(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise wrong(value, dict, where)
    return value


def is_number(value: object, kind: type) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or (kind is int and isinstance(value, float)):
        return False
    return isinstance(value, float) or abs(value) < LARGEST


def wrong(value: object, kind: type, where: str) -> InputError:
    return InputError(f"{where}: expected {WORDS[kind]}, got {str(value)[:40]!r}")
