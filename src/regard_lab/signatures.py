"""Which keywords a function takes, for TOML files whose keys are passed on to functions.

Keywords that belong together may be a TypedDict: `**chosen: Unpack[Chosen]`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, NamedTuple


class Keyword(NamedTuple):
    type: Any
    needed: bool


def keywords(function: Callable[..., object], skip: int) -> dict[str, Keyword]:
    """By name, without the first `skip` parameters."""
    hints = typing.get_type_hints(function)
    found: dict[str, Keyword] = {}
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        hint = hints[parameter.name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (group,) = typing.get_args(hint)
            required = group.__required_keys__
            found |= {name: Keyword(own, name in required) for name, own in typing.get_type_hints(group).items()}
        else:
            found[parameter.name] = Keyword(hint, parameter.default is inspect.Parameter.empty)
    return found
