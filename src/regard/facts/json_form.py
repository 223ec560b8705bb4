"""Frozen dataclasses as the plain objects that JSON files hold, and back, driven by their annotations.

A field becomes a key of the same name, in the order of the fields. Metadata of a field changes that:

    key("from")   another name, for those that Python reserves
    FLAT          the keys of a nested dataclass are merged into those of the object around it
    OMIT_NONE     the key is absent where the value is None

Reading checks types and ignores keys that no field has, so that files of other versions can be read; a field that has a
default may be absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

JsonObject = dict[str, Any]
T = TypeVar("T")
SCALARS: dict[object, frozenset[type]] = {
    float: frozenset({float, int}),
    int: frozenset({int}),
    str: frozenset({str}),
    bool: frozenset({bool}),
    NoneType: frozenset({NoneType}),
}
PLAIN = frozenset({float, int, str, bool, NoneType})
FLAT: Mapping[str, bool] = {"flat": True}
OMIT_NONE: Mapping[str, bool] = {"omit_none": True}


def key(name: str) -> Mapping[str, str]:
    return {"key": name}


def to_json(value: object) -> Any:
    """Dicts, lists and scalars only."""
    if is_dataclass(value):
        return dict(items_of(value))
    if isinstance(value, Mapping):
        return {name: to_json(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [each if type(each) in PLAIN else to_json(each) for each in value]
    return value


def items_of(value: object) -> Iterator[tuple[str, Any]]:
    for field in fields(cast("Any", value)):
        each = getattr(value, field.name)
        if field.metadata.get("flat"):
            yield from items_of(each)
        elif each is not None or not field.metadata.get("omit_none"):
            yield field.metadata.get("key", field.name), to_json(each)


def from_json(kind: type[T], value: object, where: str = "") -> T:
    """ValueError, saying where, if `value` is not what `kind` is written as."""
    return cast("T", read(kind, value, where or kind.__name__))


def read(kind: Any, value: Any, where: str) -> Any:
    accepted = scalars(kind)
    if accepted is not None:
        return checked(value, accepted, where)
    if is_dataclass(kind):
        return read_fields(kind, value, where)
    origin, args = get_origin(kind), get_args(kind)
    if origin is UnionType:
        (other,) = (one for one in args if one is not NoneType)
        return None if value is None else read(other, value, where)
    if origin is tuple:
        return read_tuple(args, checked(value, frozenset({list, tuple}), where), where)
    assert origin is dict, f"{where}: {kind} has no form in JSON"
    checked(value, frozenset({dict}), where)
    return {name: read(args[1], each, f"{where}.{name}") for name, each in value.items()}


def read_fields(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise mismatch(value, "an object", where)
    hints = hints_of(kind)
    given = {}
    for field in fields(kind):
        name = field.metadata.get("key", field.name)
        if field.metadata.get("flat"):
            given[field.name] = read(hints[field.name], value, where)
        elif name in value:
            given[field.name] = read(hints[field.name], value[name], f"{where}.{name}")
        elif not has_default(field):
            raise ValueError(f"{where}: expected a key {name!r}, got {', '.join(map(repr, value))}")
    return kind(**given)


def read_tuple(args: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if len(args) == 2 and args[1] is Ellipsis:
        accepted = scalars(args[0])
        if accepted is not None and all(type(each) in accepted for each in value):
            return tuple(value)
        return tuple(read(args[0], each, f"{where}[{place}]") for place, each in enumerate(value))
    if len(value) != len(args):
        raise ValueError(f"{where}: expected {len(args)} values, got {len(value)}")
    return tuple(read(one, each, where) for one, each in zip(args, value, strict=True))


def checked(value: Any, accepted: frozenset[type], where: str) -> Any:
    if type(value) not in accepted:
        raise mismatch(value, " or ".join(sorted(one.__name__ for one in accepted)), where)
    return value


def mismatch(value: object, expected: str, where: str) -> ValueError:
    return ValueError(f"{where}: expected {expected}, got {type(value).__name__}")


def has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


@cache
def scalars(kind: Any) -> frozenset[type] | None:
    """The types that a value of a scalar kind, or of a union of such, may have; None for all others."""
    if kind in SCALARS:
        return SCALARS[kind]
    if get_origin(kind) is not UnionType or not all(one in SCALARS for one in get_args(kind)):
        return None
    return frozenset[type]().union(*(SCALARS[one] for one in get_args(kind)))


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
