"""Capabilities of a model's poolings, looked up by their names in its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from regard.config import level_names

if TYPE_CHECKING:
    from regard.poolings import Pooling


class Capabilities(NamedTuple):
    """What one level's pooling declares; the meaning of each is explained in `poolings/pooling.py`."""

    attends: bool
    has_norm: bool
    is_linear: bool
    compresses: bool

    @property
    def sharpens(self) -> bool:
        """Whether a norm p turns the attention weights α into α^p, so that there are two kinds of weights to show."""
        return self.attends and self.has_norm

    @classmethod
    def of(cls, pooling: type[Pooling]) -> Capabilities:
        return cls(*(getattr(pooling, name) for name in cls._fields))


# known here because a flat model answers without PyTorch, which the table of poolings imports; a test compares the two
ATTENTION = Capabilities(attends=True, has_norm=False, is_linear=True, compresses=False)


def capabilities(pooling: str, levels: int) -> list[Capabilities]:
    """One per level, words first, for `pooling = "attention"` or `"attention,apln"`."""
    if set(level_names(pooling)) == {"attention"}:
        return [ATTENTION] * levels
    from regard.models.build import names_per_level
    from regard.poolings import POOLINGS

    return [Capabilities.of(POOLINGS[name]) for name in names_per_level(pooling, POOLINGS, "pooling", levels)]


def attending() -> list[str]:
    """The names of all poolings with attention weights."""
    from regard.poolings import POOLINGS

    return [name for name, pooling in POOLINGS.items() if pooling.attends]
