"""The one error that a user is meant to read: a sentence that names the place, what was found and what is accepted."""

from __future__ import annotations


class InputError(ValueError):
    """Something given from outside cannot be used. The command line prints it without a traceback and exits with 2."""
