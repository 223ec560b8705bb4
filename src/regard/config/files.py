"""Options from and to TOML, strictly: an unknown table, key or type is refused with what is expected instead."""

from __future__ import annotations

import difflib
import tomllib
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from regard.config.config import Config, toml_value
from regard.config.option_table import OptionField, options
from regard.errors import InputError

TYPE_NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
Warn = Callable[[str], None]


def config_toml(config: Config) -> str:
    """The options as a TOML file, without those that are left open; research options in separate tables."""
    tables: dict[str, list[str]] = {}
    for option in options():
        value = getattr(getattr(config, option.section), option.name)
        if value is not None:
            tables.setdefault(option.table, []).append(f"{option.name} = {toml_value(value)}")
    return "\n".join(line for name, lines in tables.items() for line in (f"[{name}]", *lines, ""))


def read_config(path: str | Path, warn: Warn | None = None) -> dict[str, object]:
    """The options in a TOML file, by name. `warn` gets a sentence for every key in a table that it has since left."""
    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; expected a TOML file of options") from None
    except (
        ValueError,
        RecursionError,
        OSError,
    ) as error:  # ValueError: also numbers of thousands of digits, and a name with NUL
        raise InputError(f"{path}: not a readable TOML file ({error})") from None
    return options_in(tables, str(path), warn)


def options_in(tables: Mapping[str, object], where: str, warn: Warn | None = None) -> dict[str, object]:
    known = {option.name: option for option in options()}
    names = [*dict.fromkeys(option.table for option in known.values())]
    values: dict[str, object] = {}
    for table, content in tables.items():
        if table not in names or not isinstance(content, Mapping):
            raise InputError(f"{where}: expected the tables {', '.join(f'[{name}]' for name in names)}, got {table!r}")
        for key, value in content.items():
            option = known.get(key)
            if option is None or table not in (option.table, option.section):
                raise InputError(f"{where}: unknown key {key!r} in [{table}]{suggestion(key, known)}")
            if table != option.table and warn is not None:
                warn(f"{where}: {key} has moved from [{table}] to [{option.table}]; the old table still works")
            values[key] = converted(value, option.kind, f"{where}: {table}.{key}")
    return values


def suggestion(key: str, known: Mapping[str, OptionField]) -> str:
    """The known key that an unknown one might mean, and all known keys."""
    near = difflib.get_close_matches(key, known, 1, 0.7)
    hint = f"; did you mean {near[0]!r} in [{known[near[0]].table}]?" if near else ";"
    tables: dict[str, list[str]] = {}
    for option in known.values():
        tables.setdefault(option.table, []).append(option.name)
    return hint + " known keys are " + "; ".join(f"[{table}] {', '.join(names)}" for table, names in tables.items())


def converted(value: Any, kind: Any, where: str) -> Any:
    """A value from TOML or Python as the type of its field, or an error that says what is expected."""
    if getattr(value, "ndim", None) == 0:  # a NumPy scalar, for example from a grid search
        value = value.item()
    check_whole_numbers(value, where)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        if value == inner[1]:
            return value
        if isinstance(value, str):
            raise InputError(f"{where}: expected a number or {inner[1]!r}, got {value!r}")
        return converted(value, inner[0], where)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        return converted(value, next(part for part in inner if part is not types.NoneType), where)
    if origin is Literal:
        if value in inner:
            return value
        raise InputError(f"{where}: expected one of {', '.join(map(str, inner))}, got {value!r}")
    if origin is tuple:
        if isinstance(value, (list, tuple)) and all(type(item) is int for item in value):
            return tuple(value)
        raise InputError(f"{where}: expected a list of whole numbers, got {value!r}")
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(value, kind) and not (kind is not bool and isinstance(value, bool)):
        return value
    raise InputError(f"{where}: expected {TYPE_NAMES[kind]}, got {value!r}")


def check_whole_numbers(value: object, where: str) -> None:
    """Those of TOML have 64 bits. Python reads larger ones, but does not write them with more than 4,300 digits."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            check_whole_numbers(item, where)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InputError(f"{where}: expected a whole number of at most 19 digits, got a larger one")
