"""The one error that a user is meant to read: a sentence that names the place, what was found and what is accepted."""

from __future__ import annotations

from collections.abc import Sequence


class InputError(ValueError):
    """Something given from outside cannot be used. The command line prints it without a traceback and exits with 2."""


def listed(names: Sequence[str], most: int = 20) -> str:
    """The first names in quotation marks, for an error message."""
    shown = ", ".join(repr(name[:40]) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
