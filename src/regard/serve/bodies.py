"""The body of a request: of a known and limited size, within a limited time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from regard.serve.request_errors import ClientGone, RequestError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

BODY_SECONDS = 30.0  # for a body to arrive
MAX_DRAINED = 64_000_000  # bytes of a refused body that are still read, so that the client sees the answer
DRAIN_SECONDS = 2.0
MAX_DIGITS = 20  # of a content length that are read, after leading zeros; any number of so many is too large


def header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def has_body(scope: Scope) -> bool:
    """Whether the client announced a body."""
    return bool(header_values(scope, b"content-length") or header_values(scope, b"transfer-encoding"))


def check_content_type(scope: Scope) -> None:
    received = (header_values(scope, b"content-type") or [""])[0].partition(";")[0].strip().lower()
    if received != "application/json":
        raise RequestError(415, f"Content-Type: expected application/json, got {received[:80]!r}")


async def read_body(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    length = content_length(header_values(scope, b"content-length"), header_values(scope, b"transfer-encoding"))
    if length > max_bytes:
        raise RequestError(413, too_large(max_bytes, length))
    pieces, received, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientGone
                pieces.append(message.get("body", b""))
                received, more = received + len(pieces[-1]), message.get("more_body", False)
                if received > length:
                    raise RequestError(400, f"body: expected {length:,} bytes, as Content-Length says, got more")
    except TimeoutError:
        raise RequestError(408, f"body: expected {length:,} bytes within {BODY_SECONDS:g} seconds") from None
    return b"".join(pieces)


def content_length(lengths: Sequence[str], encodings: Sequence[str]) -> int:
    """From the values of the headers Content-Length and Transfer-Encoding."""
    if not lengths or encodings:
        raise RequestError(411, "Content-Length: expected the length of the body, got none")
    (text, *others) = set(lengths)
    if others:
        raise RequestError(400, "Content-Length: expected one value, got several different ones")
    if not (text.isascii() and text.isdigit()):
        raise RequestError(400, f"Content-Length: expected a number, got {text[:20]!r}")
    return int(text.lstrip("0")[:MAX_DIGITS] or "0")


def too_large(max_bytes: int, length: int) -> str:
    return f"body: expected at most {max_bytes:,} bytes, got {length:,}"


async def drain(receive: Receive) -> None:
    """Read what the client still sends: closing a connection with unread bytes would discard the answer."""
    left, more = MAX_DRAINED, True
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                more = message["type"] == "http.request" and message.get("more_body", False)
