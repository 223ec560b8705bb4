"""The list of texts on a page: its script, and by what it can be filtered (reader.html)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

READER = "reader.js"


@dataclass(frozen=True)
class Filters:
    """By what texts can be filtered. `methods`: names of explainers; `wrong`: number of mistakes."""

    labelled: bool
    classes: Sequence[str]
    wrong: int
    methods: dict[str, str]
