"""How an option is declared: a dataclass field that also holds its help, its bounds and its TOML table."""

from __future__ import annotations

from dataclasses import field
from typing import Any, NamedTuple

from regard.config.bounds import Bounds

AUTO, BEST_F1 = "auto", "best-f1"  # values that some options accept besides numbers


class About(NamedTuple):
    """What is known about an option besides its name, type and default."""

    help: str
    bounds: Bounds | None = None
    table: str | None = None  # the TOML table, if it is not that of its section
    basic: bool = False  # whether `regard train --help` shows it


def option(
    default: Any, help: str, bounds: Bounds | None = None, *, table: str | None = None, basic: bool = False
) -> Any:
    return field(default=default, metadata={"about": About(help, bounds, table, basic)})
