"""The regular expressions of `data/words` in JavaScript's notation, so that a page splits texts by the same rules.

Python's parse tree is written out again. What JavaScript lacks or defines differently becomes explicit: possessive quantifiers
are (?=(x))\\1, which gives nothing back either; \\w, \\d and \\s are the characters that this Python matches, whatever version
of Unicode the browser has; letters in (?i:…) are listed with their variants.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, TypedDict

LONG = 60  # characters of a set from which it is listed once and referred to
EVERY = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
CATEGORIES = {op.CATEGORY_WORD: r"\w", op.CATEGORY_DIGIT: r"\d", op.CATEGORY_SPACE: r"\s"}
OPPOSITES = {
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
}
QUANTIFIERS = {(0, 1): "?", (0, op.MAXREPEAT): "*", (1, op.MAXREPEAT): "+", (1, 1): ""}


class ScriptPattern(TypedDict):
    source: str  # for `new RegExp(source, "v")`, once every <N> is replaced by the N-th set
    sets: list[str]  # contents of character classes


def script_pattern(pattern: re.Pattern[str]) -> ScriptPattern:
    return Writer(pattern).result()


class Writer:
    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.flags, self.sets, self.atoms = pattern.flags, dict[str, int](), 0
        self.source = self.sequence(parser.parse(pattern.pattern, pattern.flags), bool(pattern.flags & re.IGNORECASE))

    def result(self) -> ScriptPattern:
        return {"source": self.source, "sets": list(self.sets)}

    def sequence(self, nodes: Any, ignores_case: bool) -> str:
        return "".join(self.node(code, value, ignores_case) for code, value in nodes)

    def node(self, code: Any, value: Any, ignores_case: bool) -> str:
        writers: dict[Any, Callable[[Any, bool], str]] = {
            op.LITERAL: self.literal,
            op.NOT_LITERAL: lambda one, _: f"[^{escaped(one)}]",
            op.IN: self.character_class,
            op.BRANCH: lambda branch, low: f"(?:{'|'.join(self.sequence(one, low) for one in branch[1])})",
            op.SUBPATTERN: self.group,
            op.GROUPREF: lambda number, _: rf"\k<r{number}>",
            op.ASSERT: lambda look, low: f"(?{'=' if look[0] > 0 else '<='}{self.sequence(look[1], low)})",
            op.ASSERT_NOT: lambda look, low: f"(?{'!' if look[0] > 0 else '<!'}{self.sequence(look[1], low)})",
            op.MAX_REPEAT: self.repeat,
            op.POSSESSIVE_REPEAT: lambda repeat, low: self.atomic(self.repeat(repeat, low)),
            op.ATOMIC_GROUP: lambda inner, low: self.atomic(self.sequence(inner, low)),
        }
        return writers[code](value, ignores_case)

    def literal(self, code: int, ignores_case: bool) -> str:
        return f"[{''.join(map(escaped, variants(code, self.flags)))}]" if ignores_case else escaped(code)

    def character_class(self, items: Sequence[tuple[Any, Any]], ignores_case: bool) -> str:
        negated = items[0][0] is op.NEGATE
        inside = "".join(self.class_item(code, value, ignores_case) for code, value in items[negated:])
        return f"[{'^' * negated}{self.referred(inside)}]"

    def class_item(self, code: Any, value: Any, ignores_case: bool) -> str:
        if code is op.LITERAL:
            return "".join(map(escaped, variants(value, self.flags))) if ignores_case else escaped(value)
        if code is op.RANGE:
            return f"{escaped(value[0])}-{escaped(value[1])}"
        assert code is op.CATEGORY, code
        negated = value in OPPOSITES
        shown = self.referred(members(CATEGORIES[OPPOSITES.get(value, value)], self.flags & re.ASCII))
        return f"[{'^' * negated}{shown}]"

    def referred(self, inside: str) -> str:
        if len(inside) < LONG or "<" in inside:  # a reference inside a set would need a second replacement
            return inside
        return f"<{self.sets.setdefault(inside, len(self.sets))}>"

    def group(self, value: Any, ignores_case: bool) -> str:
        number, added, removed, inner = value
        assert not removed
        inside = self.sequence(inner, ignores_case or bool(added & re.IGNORECASE))
        return f"(?:{inside})" if number is None else f"(?<r{number}>{inside})"

    def repeat(self, value: Any, ignores_case: bool) -> str:
        least, most, inner = value
        inside = self.sequence(inner, ignores_case)
        limits = f"{{{least},{'' if most is op.MAXREPEAT else most}}}"
        return f"(?:{inside}){QUANTIFIERS.get((least, most), limits)}"

    def atomic(self, inside: str) -> str:
        self.atoms += 1
        return rf"(?=(?<a{self.atoms}>{inside}))\k<a{self.atoms}>"


def escaped(code: int) -> str:
    return f"\\u{{{code:X}}}"


@cache
def variants(code: int, flags: int) -> tuple[int, ...]:
    """The characters that match this one if case is ignored."""
    found = re.compile(re.escape(chr(code)), re.IGNORECASE | (flags & re.ASCII)).findall(EVERY)
    return tuple(map(ord, found))


@cache
def members(category: str, flags: int) -> str:
    """The characters of a category such as \\w, as ranges."""
    spans = [match.group() for match in re.compile(f"{category}+", flags).finditer(EVERY)]
    ranges: list[str] = []
    for span in spans:
        first, last = ord(span[0]), ord(span[-1])
        if first < 0xD800 <= last:  # half surrogates are not in EVERY, and in no category
            ranges += [f"{escaped(first)}-{escaped(0xD7FF)}", f"{escaped(0xE000)}-{escaped(last)}"]
        else:
            ranges.append(f"{escaped(first)}-{escaped(last)}" if first < last else escaped(first))
    return "".join(ranges)
