"""Checks of single values in a table's TOML. Messages say where in the file; `read_table` adds the name of the file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from regard.config import converted
from regard.errors import InputError
from regard.report.text.characters import one_line
from regard_lab.rows import Options

NAME = re.compile(r"[^\s/*?\[\]]+")  # --only takes a name apart at / and reads the others as patterns
RESERVED = ("train", "dev", "test", "seed", "device")  # a corpus says what is read, the command line the rest
value = converted  # (value, type, where): the value as that type


def names(given: Any, known: Iterable[str], where: str) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise InputError(f"{where} = {given!r}: a list of names is accepted")
    for place, name in enumerate(given):
        one_of(name, known, where)
        if name in given[:place]:
            raise InputError(f"{where}: {name!r} stands there twice; once is accepted")
    return tuple(given)


def named_sections(content: Options, key: str) -> Options:
    """[key.NAME] for every name, which must be one that the command line can ask for."""
    sections = mapping(content.get(key, {}), f"[{key}]")
    for name in sections:
        if not NAME.fullmatch(name) or not name.isprintable():
            raise InputError(f"[{key}]: {name!r} is no name; anything without spaces and / * ? [ ] is accepted")
    return sections


def items(content: Options, key: str) -> list[Options]:
    """[[key]], in order."""
    parts = content.get(key, [])
    if not isinstance(parts, list):
        raise InputError(f"{key}: [[{key}]] is accepted, with two brackets")
    return [mapping(part, f"[[{key}]]") for part in parts]


def mapping(part: Any, where: str) -> Options:
    if not isinstance(part, Mapping):
        raise InputError(f"{where} is {part!r}; a table of keys is accepted")
    return part


def values_of(part: Options, kinds: Options, where: str) -> dict[str, Any]:
    """The values of those keys that are there, each as its type."""
    return {key: value(part[key], kind, f"{where} {key}".strip()) for key, kind in kinds.items() if key in part}


def line(given: Any, where: str) -> str:
    """Text that is printed: on one line, because a row of a table is one."""
    return one_line(value(given, str, where))


def one_of(name: Any, known: Iterable[str], where: str) -> None:
    if name not in list(known):
        raise InputError(f"{where}: {name!r} is unknown{near(name, known)}")


def only_known(part: Options, keys: Sequence[str], where: str) -> None:
    for key in part:
        if key in RESERVED and key not in keys and where.startswith("["):
            raise InputError(f"{where} {key}: a corpus says what is read, and the command line seeds and device")
        if key not in keys:
            place = where if where.startswith("at") else f"in {where}"
            raise InputError(f"unknown key {key!r} {place}{near(key, keys)}")


def near(name: Any, known: Iterable[str]) -> str:
    """What may have been meant, or all that there is."""
    others = [other for other in known if other]
    if not others:
        return "; there are none"
    meant = difflib.get_close_matches(str(name), others, 1, 0.6)
    return f"; did you mean {meant[0]!r}?" if meant else f"; known are {', '.join(map(str, others))}"
