"""Dataclasses to plain objects and back, and errors that name the position of what does not fit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from regard.facts.intervals import Difference, Interval
from regard.facts.json_form import FLAT, OMIT_NONE, from_json, key, to_json


@dataclass(frozen=True)
class Inner:
    name: str
    start: int = field(metadata=key("from"))


@dataclass(frozen=True)
class Outer:
    names: tuple[str, ...]
    span: tuple[int, int]
    inner: Inner | None
    difference: Difference = field(metadata=FLAT)
    by_name: dict[str, tuple[float | None, ...]]
    absent: float | None = field(default=None, metadata=OMIT_NONE)
    last: tuple[Inner, ...] = ()


OUTER = Outer(
    ("a",), (1, 2), Inner("b", 3), Difference(4, 0.5, None, None, 0.1), {"c": (1.0, None)}, last=(Inner("d", 4),)
)
WRITTEN: dict[str, Any] = {
    "names": ["a"],
    "span": [1, 2],
    "inner": {"name": "b", "from": 3},
    "n": 4,
    "mean": 0.5,
    "low": None,
    "high": None,
    "p": 0.1,
    "by_name": {"c": [1.0, None]},
    "last": [{"name": "d", "from": 4}],
}


def test_what_is_written_is_read_again() -> None:
    assert json.dumps(to_json(OUTER)) == json.dumps(WRITTEN)
    assert from_json(Outer, WRITTEN) == OUTER
    assert from_json(Outer, json.loads(json.dumps(WRITTEN))) == OUTER


def test_unknown_keys_are_ignored_and_missing_ones_get_defaults() -> None:
    short = {name: value for name, value in WRITTEN.items() if name != "last"}
    assert from_json(Outer, {**short, "newer": 1}).last == ()
    assert from_json(Interval, {"n": 1, "mean": 2, "low": None, "high": None}) == Interval(1, 2, None, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": "a"}, "Outer.names: expected list or tuple, got str"),
        ({"names": [1]}, "Outer.names\\[0\\]: expected str, got int"),
        ({"span": [1]}, "Outer.span: expected 2 values, got 1"),
        ({"inner": {"name": "b"}}, "Outer.inner: expected a key 'from', got 'name'"),
        ({"inner": 5}, "Outer.inner: expected an object, got int"),
        ({"n": True}, "Outer.n: expected NoneType or int, got bool"),
        ({"by_name": {"c": ["x"]}}, "Outer.by_name.c\\[0\\]: expected NoneType or float or int, got str"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_json(Outer, {**WRITTEN, **change})
