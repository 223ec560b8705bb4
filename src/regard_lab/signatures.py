"""The keyword parameters of a function, for TOML files whose keys are passed on to functions.

Keywords that belong together may be a TypedDict: `**selection: Unpack[Selection]`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, NamedTuple


class Keyword(NamedTuple):
    type: Any
    required: bool


def keywords(function: Callable[..., object], skip: int) -> dict[str, Keyword]:
    """Parameters by name, without the first `skip`."""
    hints = typing.get_type_hints(function)
    by_name: dict[str, Keyword] = {}
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        hint = hints[parameter.name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (group,) = typing.get_args(hint)
            required_keys = group.__required_keys__
            by_name |= {
                name: Keyword(hint, name in required_keys) for name, hint in typing.get_type_hints(group).items()
            }
        else:
            by_name[parameter.name] = Keyword(hint, parameter.default is inspect.Parameter.empty)
    return by_name
