"""Checks of single values in a table's TOML. Messages name the section and key; `read_table` adds the name of the file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from regard.config import converted
from regard.errors import InputError
from regard.report.text.characters import one_line
from regard_lab.rows import Options

NAME = re.compile(r"[^\s/*?\[\]]+")  # --only splits a name at / and reads the other characters as patterns
RESERVED = ("train", "dev", "test", "seed", "device")  # corpora name the texts, the command line sets the rest
value = converted  # (value, type, where) -> the value converted to the type


def names(given: Any, known: Iterable[str], where: str) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise InputError(f"{where}: expected a list of names, got {given!r}")
    for index, name in enumerate(given):
        one_of(name, known, where)
        if name in given[:index]:
            raise InputError(f"{where}: {name!r} is listed twice; list it once")
    return tuple(given)


def named_sections(content: Options, key: str) -> Options:
    """[key.NAME] by name; names must be usable with --only."""
    sections = mapping(content.get(key, {}), f"[{key}]")
    for name in sections:
        if not NAME.fullmatch(name) or not name.isprintable():
            raise InputError(f"[{key}]: expected a name without spaces and / * ? [ ], got {name!r}")
    return sections


def array_of_tables(content: Options, key: str) -> list[Options]:
    """[[key]], in order."""
    parts = content.get(key, [])
    if not isinstance(parts, list):
        raise InputError(f"{key}: expected [[{key}]], with two brackets")
    return [mapping(part, f"[[{key}]]") for part in parts]


def mapping(part: Any, where: str) -> Options:
    if not isinstance(part, Mapping):
        raise InputError(f"{where}: expected a table of keys, got {part!r}")
    return part


def values_of(part: Options, kinds: Options, where: str) -> dict[str, Any]:
    """The values of the keys that are present, each converted to its type."""
    return {key: value(part[key], kind, f"{where} {key}".strip()) for key, kind in kinds.items() if key in part}


def single_line(given: Any, where: str) -> str:
    """Text to print, as a single line, because a row of a table is one line."""
    return one_line(value(given, str, where))


def one_of(name: Any, known: Iterable[str], where: str) -> None:
    if name not in list(known):
        raise InputError(f"{where}: {name!r} is unknown{suggestion(name, known)}")


def check_keys(part: Options, keys: Sequence[str], where: str) -> None:
    for key in part:
        if key in RESERVED and key not in keys and where.startswith("["):
            raise InputError(
                f"{where} {key}: not allowed here; corpora name the texts, and the command line sets seeds and device"
            )
        if key not in keys:
            position = where if where.startswith("at") else f"in {where}"
            raise InputError(f"unknown key {key!r} {position}{suggestion(key, keys)}")


def suggestion(name: Any, known: Iterable[str]) -> str:
    """A hint for an unknown name: the closest known name, or all of them."""
    candidates = [candidate for candidate in known if candidate]
    if not candidates:
        return "; there are none"
    closest = difflib.get_close_matches(str(name), candidates, 1, 0.6)
    return f"; did you mean {closest[0]!r}?" if closest else f"; expected one of {', '.join(map(str, candidates))}"
