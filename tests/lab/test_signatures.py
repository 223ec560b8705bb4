"""Keyword parameters of functions that TOML files fill in."""

from __future__ import annotations

from typing import TypedDict, Unpack

from regard_lab.signatures import Keyword, keywords


class Group(TypedDict, total=False):
    size: int
    names: list[str]


def rule(table: str, value: float, margin: float = 0.0, **chosen: Unpack[Group]) -> None: ...


def test_groups_of_keywords_are_expanded() -> None:
    assert keywords(rule, skip=1) == {
        "value": Keyword(float, True),
        "margin": Keyword(float, False),
        "size": Keyword(int, False),
        "names": Keyword(list[str], False),
    }
