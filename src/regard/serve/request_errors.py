"""Requests that get no answer: with an HTTP status and a sentence, or because the client has disconnected."""

from __future__ import annotations


class RequestError(Exception):
    """The client gets {"error": sentence} with this status. Invalid fields of a request are an InputError, status 400."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or {}


class ClientGone(Exception):
    """The client has disconnected and does not wait for the answer."""
