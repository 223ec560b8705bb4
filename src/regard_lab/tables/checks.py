"""Checks of a file that somebody wrote: known keys, names that exist, values of their kind; one sentence where not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.config import converted
from regard.errors import InputError
from regard.report.text.characters import one_line

NAME = re.compile(r"[^\s/*?\[\]]+")  # --only takes a name apart at / and reads the others as patterns
RESERVED = ("train", "dev", "test", "seed", "device")  # a corpus says what is read, the command line the rest


class Checks:
    """Of one file; its path goes before every complaint."""

    def __init__(self, path: Path):
        self.path = path

    def names(self, given: Any, known: Iterable[str], where: str) -> tuple[str, ...]:
        if not isinstance(given, list):
            raise self.wrong(f"{where} = {given!r}: a list of names is accepted")
        for place, name in enumerate(given):
            self.one_of(name, known, where)
            if name in given[:place]:
                raise self.wrong(f"{where}: {name!r} stands there twice; once is accepted")
        return tuple(given)

    def sections(self, content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """[key.NAME] for every name, which must be one that the command line can ask for."""
        found = self.mapping(content.get(key, {}), f"[{key}]")
        for name in found:
            if not NAME.fullmatch(name) or not name.isprintable():
                raise self.wrong(f"[{key}]: {name!r} is no name; anything without spaces and / * ? [ ] is accepted")
        return found

    def line(self, value: Any, where: str) -> str:
        """Words that are printed: on one line, for a row of a table is one."""
        return one_line(self.value(value, str, where))

    def one_of(self, name: Any, known: Iterable[str], where: str) -> None:
        if name not in list(known):
            raise self.wrong(f"{where}: {name!r} is unknown{near(name, known)}")

    def known(self, part: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
        for key in part:
            if key in RESERVED and key not in keys and where.startswith("["):
                raise self.wrong(f"{where} {key}: a corpus says what is read, and the command line seeds and device")
            if key not in keys:
                raise self.wrong(
                    f"unknown key {key!r} {'' if where.startswith('at') else 'in '}{where}{near(key, keys)}"
                )

    def items(self, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        found = content.get(key, [])
        if not isinstance(found, list):
            raise self.wrong(f"{key}: [[{key}]] is accepted, with two brackets")
        return [self.mapping(part, f"[[{key}]]") for part in found]

    def mapping(self, part: Any, where: str) -> Mapping[str, Any]:
        if not isinstance(part, Mapping):
            raise self.wrong(f"{where} is {part!r}; a table of keys is accepted")
        return part

    def value(self, value: Any, kind: Any, where: str) -> Any:
        return converted(value, kind, f"{self.path}: {where}")

    def wrong(self, sentence: str) -> InputError:
        return InputError(f"{self.path}: {sentence}")


def near(name: Any, known: Iterable[str]) -> str:
    """What may have been meant, or all that there is."""
    names = [other for other in known if other]
    if not names:
        return "; there are none"
    meant = difflib.get_close_matches(str(name), names, 1, 0.6)
    return f"; did you mean {meant[0]!r}?" if meant else f"; known are {', '.join(map(str, names))}"
