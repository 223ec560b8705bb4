"""How deeply lists and objects are nested: Python's recursion limit would stop whatever walks through very many levels."""

from __future__ import annotations

from collections.abc import Iterable

DEEPEST = 100  # lists and objects inside each other; texts, labels and lists of either need two
TOO_DEEP = f"nested more than {DEEPEST} levels deep"


def is_too_deep(value: object) -> bool:
    """Whether a value of JSON is; level by level, without recursion."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [item for parent in level for item in _items(parent) if item.__class__ in (list, dict)]
        if not level:
            return False
    return True


def _items(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
