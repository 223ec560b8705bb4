"""The options of a run, which follow the config by themselves."""

from __future__ import annotations

import argparse
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal

from regard.arguments import Parser, flag
from regard.config import options

METAVARS = {"dev": "FILE", "test": "FILE", "vectors": "FILE", "text": "COLUMN", "label": "COLUMN"}


def add_options(parser: Parser) -> None:
    """Every option of the config, under the same name, in the same groups."""
    groups = {name: parser.add_argument_group(f"[{name}]") for name in ("data", "model", "training")}
    for section, item, kind in options():
        extra: dict[str, Any] = {"default": argparse.SUPPRESS, "help": item.metadata["help"].replace("%", "%%")}
        if item.default not in (None, "auto") and "default" not in extra["help"]:
            shown = " ".join(map(str, item.default)) if isinstance(item.default, tuple) else item.default
            extra["help"] += f" (default: {shown})" if not isinstance(item.default, bool) else ""
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (types.UnionType, typing.Union):
            kind = next(part for part in inner if part is not types.NoneType)
            origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin is Annotated:
            groups[section].add_argument(flag(item.name), type=number_or(inner[1]), metavar="X", **extra)
        elif item.name == "train":
            groups[section].add_argument("train", metavar="FILE", nargs="?", **extra)
        elif kind is bool:
            groups[section].add_argument(flag(item.name), action=argparse.BooleanOptionalAction, **extra)
        elif origin is Literal:
            groups[section].add_argument(flag(item.name), choices=inner, **extra)
        elif origin is tuple:
            groups[section].add_argument(flag(item.name), nargs="+", type=int, metavar="N", **extra)
        else:
            metavar = {int: "N", float: "X"}.get(kind, METAVARS.get(item.name, "NAME"))
            groups[section].add_argument(flag(item.name), type=kind, metavar=metavar, **extra)


def number_or(word: str) -> Callable[[str], float | str]:
    def parsed(given: str) -> float | str:
        try:
            return word if given == word else float(given)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{given!r}: a number, or {word!r}, is accepted") from None

    return parsed
