"""What every format gives: rows, each with a number, a place to name in an error, and fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple


class Row(NamedTuple):
    number: int
    place: str | int | None  # words for it, or its line in the file; None where its number is enough
    fields: Mapping[str, Any]
    problem: str | None = None  # why there are no fields

    def where(self) -> str:
        """Made when it is asked for: few rows of many are ever named."""
        if isinstance(self.place, str):
            return self.place
        return f"row {self.number}" if self.place is None else f"row {self.number} (line {self.place})"


Rows = Callable[[], Generator[Row, None, None]]  # from the first on at every call


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
