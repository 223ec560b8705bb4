"""The error that users see: one sentence that says where, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Sequence


class InputError(ValueError):
    """Invalid input from the user. The command line prints it without a traceback and exits with status 2."""


class ReportedError(InputError):
    """The same, where another process of the group has already printed it."""


class Disagreement(Exception):
    """A comparison that a command was asked for, and has printed, came out negative: the exit status is 1."""


def quoted(names: Sequence[str], most: int = 20) -> str:
    """Up to `most` names in quotation marks, for an error message."""
    shown = ", ".join(repr(name[:40]) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
