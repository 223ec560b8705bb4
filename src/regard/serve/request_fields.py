"""The fields of a request: a JSON object with known fields, each of the expected type."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from regard.data.examples import make_example
from regard.data.formats import Row, shown
from regard.errors import InputError
from regard.serve.served_run import ServedRun

Fields = Mapping[str, object]  # a parsed JSON object; the functions below check its values


def parse_fields(body: bytes, names: Sequence[str]) -> Fields:
    try:
        fields = json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError("body: expected a JSON object in UTF-8, got bytes that are not UTF-8") from None
    except RecursionError:
        raise InputError("body: expected a JSON object, got JSON that is nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"body: expected a JSON object, got invalid JSON ({error.msg}: {where})") from None
    except ValueError:  # a number of thousands of digits
        raise InputError("body: expected a JSON object, got a number with too many digits") from None
    if not isinstance(fields, dict):
        raise InputError(f"body: expected a JSON object, got {shown(fields)}")
    for name in fields:
        if name not in names:
            raise InputError(f"body: unknown field {name[:40]!r}; the fields are {', '.join(names)}")
    return fields


def string(fields: Fields, name: str, default: str | None = None) -> str | None:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a string, got {shown(value)}")
    return value


def texts(fields: Fields, limit: int) -> list[str]:
    """From `text` or `texts`."""
    one, several = fields.get("text"), fields.get("texts")
    if (one is None) == (several is None):
        received = "neither" if one is None else "both"
        raise InputError(f"body: expected either text (a string) or texts (a list of strings), got {received}")
    if several is None:
        return [checked_text(one, "text")]
    if not isinstance(several, list):
        raise InputError(f"texts: expected a list of strings, got {shown(several)}")
    if not 1 <= len(several) <= limit:
        raise InputError(f"texts: expected 1 to {limit:,} texts, got {len(several)}")
    return [checked_text(text, f"texts, number {number}") for number, text in enumerate(several, 1)]


def checked_text(value: Any, where: str) -> str:
    """The same rules as for the rows of a file."""
    if not isinstance(value, str):
        raise InputError(f"{where}: expected a string, got {shown(value)}")
    try:
        return make_example(Row(1, where, {"text": value}), "", "text", None, labelled=False).text
    except InputError as error:
        raise InputError(f"{where}: {str(error).partition(chr(39) + 'text' + chr(39) + ': ')[2]}") from None


def selected_run(fields: Fields, runs: Sequence[ServedRun]) -> ServedRun:
    """The named run, by default the first."""
    return run_named(string(fields, "run", runs[0].name), runs)


def run_named(name: Any, runs: Sequence[ServedRun]) -> ServedRun:
    for run in runs:
        if run.name == name:
            return run
    raise InputError(f"run: expected one of {', '.join(run.name for run in runs)}, got {str(name)[:80]!r}")


def two_runs(fields: Fields, runs: Sequence[ServedRun]) -> tuple[ServedRun, ServedRun]:
    """The two that `runs` names, by default the first two."""
    names = fields.get("runs")
    if names is None:
        names = [run.name for run in runs[:2]]
        if len(names) < 2:
            raise InputError("expected two runs to compare, got one; start with `regard serve RUN RUN2`")
    if not isinstance(names, list) or len(names) != 2:
        raise InputError(f"runs: expected a list of two names, got {shown(names)}")
    return run_named(names[0], runs), run_named(names[1], runs)


def crossed_words(fields: Fields, words: int) -> list[int]:
    """The word numbers in `without`, sorted."""
    value = fields.get("without")
    if value is None:
        return []
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        raise InputError(f"without: expected a list of word numbers, got {shown(value)}")
    wrong = next((number for number in value if not 0 <= number < words), None)
    if wrong is not None:
        raise InputError(f"without: expected word numbers from 0 to {words - 1}, got {str(wrong)[:20]}")
    return sorted(set(value))
