"""The options of a run as arguments of `regard train`, made from the fields of the config."""

from __future__ import annotations

import argparse
import types
import typing
from collections.abc import Callable, Collection
from typing import Annotated, Any, Literal

from regard.arguments import Parser, flag, report_error
from regard.config import options, read_config
from regard.config.option_table import OptionField

METAVARS = {
    **dict.fromkeys(("dev", "test", "vectors"), "FILE"),
    **dict.fromkeys(("text", "label", "weight"), "COLUMN"),
    "positive": "LABEL",
    "class_weight": "balanced|FILE",
}
TITLES = {
    "data": "data",
    "model": "model",
    "training": "training",
    "apln": "learned norms (APLN)",
    "bottleneck": "pooling = bottleneck (VAT)",
    "sun_lu": "attention as in Sun & Lu",
}


def add_options(parser: Parser, only: Collection[str] | None = None) -> None:
    """Every option of the config (or `only` these) under the same name, grouped by its TOML table; the basic ones in `--help`."""
    chosen = [option for option in options() if only is None or option.name in only]
    tables = {option.table for option in chosen}
    groups = {table: parser.add_argument_group(title) for table, title in TITLES.items() if table in tables}
    for option in chosen:
        keywords = {"default": argparse.SUPPRESS, "help": help_text(option), **parsing(option)}
        if option.name == "train":
            groups["data"].add_argument("train", nargs="?", **keywords)
        elif option.about.basic:
            groups[option.table].add_argument(flag(option.name), **keywords)
        else:
            parser.add_advanced(groups[option.table], flag(option.name), **keywords)


def options_given(arguments: argparse.Namespace) -> dict[str, object]:
    """The options in the file of `--config` and on the command line, which has precedence."""
    names = {option.name for option in options()}
    path = getattr(arguments, "config", None)  # some commands have none
    values = read_config(path, warn) if path else {}
    return values | {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in names
    }


def warn(sentence: str) -> None:
    report_error(f"note: {sentence}", 0)


def help_text(option: OptionField) -> str:
    """What the option does, and its default unless the sentence already states it."""
    text, default = option.about.help.replace("%", "%%"), option.default
    if default is None or "default" in text:
        return text
    if isinstance(default, bool):
        return f"{text} (default: {'yes' if default else 'no'})"
    return f"{text} (default: {' '.join(map(str, default)) if isinstance(default, tuple) else default})"


def parsing(option: OptionField) -> dict[str, Any]:
    """How argparse reads a value of the option's type."""
    kind = option.kind
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        kind = next(part for part in typing.get_args(kind) if part is not types.NoneType)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if option.name == "train":
        return {"metavar": "FILE"}
    if origin is Annotated:
        return {"type": number_or(inner[1]), "metavar": "X"}
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if origin is Literal:
        return {"choices": inner}
    if origin is tuple:
        return {"nargs": "+", "type": int, "metavar": "N"}
    return {"type": kind, "metavar": {int: "N", float: "X"}.get(kind, METAVARS.get(option.name, "NAME"))}


def number_or(word: str) -> Callable[[str], float | str]:
    def parse(text: str) -> float | str:
        try:
            return word if text == word else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected a number or {word!r}, got {text!r}") from None

    return parse
