"""The values of a request's fields: texts with words, known runs and existing words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.data.examples import make_example
from regard.data.formats import Row, shown
from regard.errors import InputError
from regard.serve.request_types import AboutText, CompareRequest, ExplainRequest, PredictRequest
from regard.serve.served_run import ServedRun


def texts(fields: PredictRequest | ExplainRequest, limit: int) -> list[str]:
    """From `text` or `texts`."""
    one, several = fields.text, fields.texts
    if (one is None) == (several is None):
        received = "neither" if one is None else "both"
        raise InputError(f"body: expected either text (a string) or texts (a list of strings), got {received}")
    if several is None:
        return [checked_text(one, "text")]
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


def selected_run(name: str | None, runs: Sequence[ServedRun]) -> ServedRun:
    """The named run, by default the first."""
    return runs[0] if name is None else run_named(name, runs)


def run_named(name: str, runs: Sequence[ServedRun]) -> ServedRun:
    for run in runs:
        if run.name == name:
            return run
    raise InputError(f"run: expected one of {', '.join(run.name for run in runs)}, got {name[:80]!r}")


def two_runs(fields: CompareRequest, runs: Sequence[ServedRun]) -> tuple[ServedRun, ServedRun]:
    """The two that `runs` names, by default the first two."""
    names = fields.runs
    if names is None:
        names = [run.name for run in runs[:2]]
        if len(names) < 2:
            raise InputError("expected two runs to compare, got one; start with `regard serve RUN RUN2`")
    if len(names) != 2:
        raise InputError(f"runs: expected a list of two names, got {shown(names)}")
    return run_named(names[0], runs), run_named(names[1], runs)


def crossed_words(fields: AboutText, words: int) -> list[int]:
    """The word numbers in `without`, sorted."""
    numbers = fields.without or []
    wrong = next((number for number in numbers if not 0 <= number < words), None)
    if wrong is not None:
        raise InputError(f"without: expected word numbers from 0 to {words - 1}, got {str(wrong)[:20]}")
    return sorted(set(numbers))
