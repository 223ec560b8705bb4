"""Requests that get no answer: with an HTTP status and a sentence, or because the client has disconnected."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from regard.errors import InputError


class RequestError(Exception):
    """The client gets {"error": sentence} with this status. Invalid fields of a request are an InputError, status 400."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or {}


class ClientGone(Exception):
    """The client has disconnected and does not wait for the answer."""


def refusal(error: BaseException) -> tuple[int, str, Mapping[str, str]]:
    """The status, the sentence and the headers that an error is answered with; unexpected errors are also logged."""
    match error:
        case RequestError():
            return error.status, error.sentence, error.headers
        case InputError():
            return HTTPStatus.BAD_REQUEST, str(error), {}
    log_location(error)
    if "memory" in f"{type(error).__name__} {error}".lower():
        return HTTPStatus.SERVICE_UNAVAILABLE, "not enough memory for this text", {}
    return HTTPStatus.INTERNAL_SERVER_ERROR, "internal error of the server", {}


def log_location(error: BaseException, outcome: str = "the request was answered with an error") -> None:
    """Print where an internal error was raised, without its message, which may quote a text."""
    if sys.stderr is None:
        return
    frames: Iterable[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)[-3:]
    locations = " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed([*frames]))
    print(f"regard: {type(error).__name__} at {locations}; {outcome}", file=sys.stderr)
