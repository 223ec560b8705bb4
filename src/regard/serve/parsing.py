"""The body of a request as an object of its type. What is wrong with another body is said in one sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec.inspect import Field, ListType, Metadata, StructType, UnionType, type_info

from regard.data.formats import shown
from regard.errors import InputError

BOM = b"\xef\xbb\xbf"
Parsed = TypeVar("Parsed", bound=msgspec.Struct)


def parse(body: bytes, kind: type[Parsed]) -> Parsed:
    try:
        parsed: Parsed = decoder(kind).decode(body.removeprefix(BOM))
        return parsed
    except (ValueError, RecursionError):
        pass  # msgspec stops at the first problem and does not show the value: look again, slowly
    try:
        fields = parse_object(body)
        check_fields(fields, kind)
        return msgspec.convert(fields, kind)
    except RecursionError:
        raise InputError("body: expected a JSON object, got JSON that is nested too deeply") from None


@cache
def decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def parse_object(body: bytes) -> Mapping[str, object]:
    try:
        fields = json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError("body: expected a JSON object in UTF-8, got bytes that are not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"body: expected a JSON object, got invalid JSON ({error.msg}: {where})") from None
    except ValueError:  # a number of thousands of digits
        raise InputError("body: expected a JSON object, got a number with too many digits") from None
    if not isinstance(fields, dict):
        raise InputError(f"body: expected a JSON object, got {shown(fields)}")
    return fields


def check_fields(fields: Mapping[str, object], kind: type[msgspec.Struct]) -> None:
    """Refuse unknown fields and values of another type."""
    info = type_info(kind)
    assert isinstance(info, StructType)
    known = {field.name: field for field in info.fields}
    for name, value in fields.items():
        if name not in known:
            raise InputError(f"body: unknown field {name[:40]!r}; the fields are {', '.join(known)}")
        if value is not None:
            check_value(known[name], value, kind)


def check_value(field: Field, value: object, kind: type[msgspec.Struct]) -> None:
    try:
        msgspec.convert({field.name: value}, kind)
    except msgspec.ValidationError:
        if isinstance(value, list) and has_strings(field):
            for number, item in enumerate(value, 1):
                if not isinstance(item, str):
                    sentence = f"{field.name}, number {number}: expected a string, got {shown(item)}"
                    raise InputError(sentence) from None
        raise InputError(f"{field.name}: expected {expected(field)}, got {shown(value)}") from None


def expected(field: Field) -> str:
    assert isinstance(field.type, Metadata)
    return str((field.type.extra or {})["expected"])


def has_strings(field: Field) -> bool:
    """Whether it is a list of strings."""
    declared: Any = field.type
    while isinstance(declared, Metadata | UnionType):
        declared = declared.type if isinstance(declared, Metadata) else declared.types[0]
    item = declared.item_type if isinstance(declared, ListType) else None
    return isinstance(item, Metadata) and isinstance(item.type, msgspec.inspect.StrType)
