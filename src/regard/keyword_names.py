"""Keyword arguments under their earlier names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def also_named(**names: str) -> Callable[[Method], Method]:
    """Accept keyword arguments under earlier names, too: `also_named(old="new")`."""

    def decorate(method: Method) -> Method:
        @wraps(method)
        def call(*arguments: Any, **keywords: Any) -> Any:
            return method(*arguments, **{names.get(name, name): value for name, value in keywords.items()})

        return cast(Method, call)

    return decorate
