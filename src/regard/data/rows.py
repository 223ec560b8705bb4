"""What every format gives: rows, each with a number, a place to name in an error, and fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.errors import InputError


@dataclass(frozen=True)
class Row:
    number: int
    place: str
    fields: Mapping[str, Any]
    problem: str | None = None  # why there are no fields


def usable_rows(rows: Sequence[Row], name: str, skip_bad_rows: bool) -> list[Row]:
    """The rows that have fields; one without is an error, unless it may be skipped and others are left."""
    usable = [row for row in rows if row.problem is None]
    if usable and (skip_bad_rows or len(usable) == len(rows)):
        return usable
    for row in rows:
        if row.problem is not None:
            raise InputError(f"{name}, {row.place}: {row.problem}")
    raise InputError(f"{name}: no rows are found; at least one is expected")


def shown(value: object) -> str:
    """A field's value for an error: its kind and how it begins."""
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    if value is None:
        return "null"
    kind = kinds.get(type(value), f"a {type(value).__name__}")
    return f"{kind} ({json.dumps(value, default=str)[:40]})"
