"""A request that is not answered as it asks to be: the status of HTTP that says why, and a sentence."""

from __future__ import annotations


class Refused(Exception):
    """What the sender sees is {"error": sentence}. What is wrong inside a request's fields is an InputError, status 400."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or {}


class Gone(Exception):
    """Whoever asked no longer waits for the answer."""
