"""What a request asks for: a JSON object with known fields, each of its kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from regard.data.examples import make_example
from regard.data.formats import Row, shown
from regard.errors import InputError
from regard.serve.served import Served

Fields = Mapping[str, Any]


def fields(body: bytes, accepted: Sequence[str]) -> Fields:
    try:
        given = json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError("the body is not JSON in UTF-8; an object is accepted") from None
    except RecursionError:
        raise InputError("the body is not JSON that can be read (too deep); an object is accepted") from None
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise InputError(f"the body is not JSON ({problem.msg}: {where}); an object is accepted") from None
    except ValueError:  # a number of thousands of digits
        raise InputError(
            "the body is not JSON that can be read (a number is too long); an object is accepted"
        ) from None
    if not isinstance(given, dict):
        raise InputError(f"the body is {shown(given)}; an object is accepted")
    for name in given:
        if name not in accepted:
            raise InputError(f"there is no field {name[:40]!r}; accepted are {', '.join(accepted)}")
    return given


def string(given: Fields, name: str, default: str | None = None) -> str | None:
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InputError(f"{name}: {shown(value)} is given; a string is accepted")
    return value


def texts(given: Fields, most: int) -> list[str]:
    """Of `text` or of `texts`."""
    one, several = given.get("text"), given.get("texts")
    if (one is None) == (several is None):
        raise InputError("text, or texts, is needed: a string, or a list of strings")
    if several is None:
        return [text(one, "text")]
    if not isinstance(several, list):
        raise InputError(f"texts: {shown(several)} is given; a list of strings is accepted")
    if not 1 <= len(several) <= most:
        raise InputError(f"texts: {len(several)} are given; 1 to {most:,} are accepted")
    return [text(each, f"texts, number {place}") for place, each in enumerate(several, 1)]


def text(value: Any, where: str) -> str:
    """Held to what is asked of a file's rows."""
    if not isinstance(value, str):
        raise InputError(f"{where}: {shown(value)} is given; a string is accepted")
    try:
        return make_example(Row(1, where, {"text": value}), "", "text", None, labelled=False).text
    except InputError as problem:
        raise InputError(f"{where}: {str(problem).partition(chr(39) + 'text' + chr(39) + ': ')[2]}") from None


def run(given: Fields, served: Sequence[Served]) -> Served:
    """The one that is named, or the first."""
    name = string(given, "run", served[0].name)
    return named(name, served)


def named(name: Any, served: Sequence[Served]) -> Served:
    for one in served:
        if one.name == name:
            return one
    raise InputError(f"run: there is no {str(name)[:80]!r}; accepted are {', '.join(one.name for one in served)}")


def both(given: Fields, served: Sequence[Served]) -> tuple[Served, Served]:
    """The two of `runs`, or the first two."""
    names = given.get("runs")
    if names is None:
        names = [one.name for one in served[:2]]
        if len(names) < 2:
            raise InputError("one run is served, and two are compared; start with `regard serve RUN RUN2`")
    if not isinstance(names, list) or len(names) != 2:
        raise InputError(f"runs: {shown(names)} is given; a list of two names is accepted")
    return named(names[0], served), named(names[1], served)


def places(given: Fields, words: int) -> list[int]:
    """The numbers of words of `without`, in order."""
    value = given.get("without")
    if value is None:
        return []
    if not isinstance(value, list) or not all(type(place) is int for place in value):
        raise InputError(f"without: {shown(value)} is given; a list of the numbers of words is accepted")
    wrong = next((place for place in value if not 0 <= place < words), None)
    if wrong is not None:
        raise InputError(f"without: there is no word number {str(wrong)[:20]}; 0 to {words - 1} are accepted")
    return sorted(set(value))
