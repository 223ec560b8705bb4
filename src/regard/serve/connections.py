"""Connections: how many there may be, how large the head of a request may be, and how long a client may take.

uvicorn parses HTTP (with httptools) and calls the application. It has no limit for the size of a head, for the time that one
takes to arrive, or for a client that does not read its answer; these limits are added here, and errors of the parser are
answered in JSON like all others.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from regard.serve.application import JSON, MAX_TEXT
from regard.serve.asgi import HEADERS
from regard.serve.bodies import content_length, too_large
from regard.serve.request_errors import RequestError

MAX_CONNECTIONS = 1000
RESERVED_FILES = 32  # that the process may still open, besides connections
MAX_HEAD = 32_000  # bytes
HEAD_SECONDS = 10.0  # from the first byte of a request to the end of its head
IDLE_SECONDS = 30.0  # between two requests of a connection, and for a client that takes no byte of its answer
LINGER_SECONDS = 2.0  # for a client to read an error before its connection is closed
SWEEP = 0.5  # seconds between checks
CONTENT_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(.*?)[ \t]*\r?$")


class HeadTooLarge(Exception):
    pass


class Connection(HttpToolsProtocol):
    """One connection of a client. `limit` is the number of connections that may be open at a time."""

    def __init__(self, limit: int, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limit = limit
        self.received = b""  # by the last call
        self.head_bytes = 0
        self.head_since: float | None = None  # when a request began whose head is not complete
        self.idle_since = time.monotonic()  # when the last answer was complete
        self.closing_since: float | None = None  # when an error was sent; nothing is read after it
        self.unsent, self.unsent_since = 0, 0.0  # bytes that the client has not taken, and when it last took some

    # called by the transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        opened = [cast(Connection, other) for other in self.connections if not other.transport.is_closing()]
        if len(opened) > self.limit and not make_room([other for other in opened if other is not self]):
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"expected at most {self.limit} connections, got more")

    def data_received(self, data: bytes) -> None:
        if self.closing_since is not None:
            return
        began, self.received = self.head_since is not None, data
        super().data_received(data)
        if self.head_since is not None and self.closing_since is None:
            self.head_bytes = self.head_bytes + len(data) if began else len(data)
            if self.head_bytes > MAX_HEAD:
                self.refuse_head()

    # called by the parser

    def on_message_begin(self) -> None:
        self.head_since, self.head_bytes = time.monotonic(), 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.head_bytes += len(name) + len(value)
        if self.head_bytes > MAX_HEAD:
            raise HeadTooLarge
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.head_since = None
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        error = sys.exc_info()[1]
        is_word = self.received.partition(b" ")[0].isalpha()
        if isinstance(error, httptools.HttpParserInvalidMethodError) and is_word:
            self.refuse(HTTPStatus.NOT_IMPLEMENTED, "HTTP method: expected GET, HEAD or POST, got an unknown one")
        elif error is not None and isinstance(error.__context__, HeadTooLarge):
            self.refuse_head()
        elif "version" in str(error).lower():
            self.refuse(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "HTTP version: expected 1.0 or 1.1, got another one")
        else:
            self.refuse(
                *self.invalid_length() or (HTTPStatus.BAD_REQUEST, "request: expected HTTP/1.1, got other bytes")
            )

    def invalid_length(self) -> tuple[HTTPStatus, str] | None:
        """What is wrong with the content length, if the parser refused it."""
        lengths = CONTENT_LENGTH.findall(self.received.partition(b"\r\n\r\n")[0])
        if not lengths:
            return None
        try:
            length = content_length([value.decode("latin-1") for value in lengths], [])
        except RequestError as error:
            return HTTPStatus(error.status), error.sentence
        return (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large(MAX_TEXT, length)) if length > MAX_TEXT else None

    # called when an answer is complete

    def on_response_complete(self) -> None:
        self.idle_since = self.unsent_since = time.monotonic()
        self.unsent = self.transport.get_write_buffer_size()
        super().on_response_complete()

    # limits

    @property
    def is_idle(self) -> bool:
        """Between two requests."""
        return self.head_since is None and (self.cycle is None or self.cycle.response_complete)

    def sweep(self, now: float) -> None:
        """Close the connection if the client takes too long."""
        if self.closing_since is not None and now - self.closing_since > LINGER_SECONDS:
            self.transport.abort()
        elif self.closing_since is None and self.head_since is not None and now - self.head_since > HEAD_SECONDS:
            sentence = f"request: expected its headers within {HEAD_SECONDS:g} seconds, got only a part of them"
            self.refuse(HTTPStatus.REQUEST_TIMEOUT, sentence)
        elif (unsent := self.transport.get_write_buffer_size()) > 0:
            if unsent != self.unsent:
                self.unsent, self.unsent_since = unsent, now
            elif now - self.unsent_since > IDLE_SECONDS:
                self.transport.abort()
        elif self.is_idle and now - self.idle_since > IDLE_SECONDS:
            self.transport.close()

    def refuse_head(self) -> None:
        sentence = f"request: expected headers of at most {MAX_HEAD:,} bytes, got more"
        self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, sentence)

    def refuse(self, status: HTTPStatus, sentence: str) -> None:
        """Send an error outside of any request. The connection stays open for a moment, else the client might not see it."""
        if self.transport.is_closing() or self.closing_since is not None:
            return
        self.closing_since, self.head_since = time.monotonic(), None
        body = json.dumps({"error": sentence}).encode()
        headers = {"Content-Type": JSON, "Content-Length": str(len(body)), "Connection": "close", **HEADERS}
        head = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join([*head, "", ""]).encode() + body)
        self.transport.write_eof()


def make_room(connections: Sequence[Connection]) -> bool:
    """Close the connection that has been idle for longest; False if there is none."""
    idle = [connection for connection in connections if connection.is_idle and connection.closing_since is None]
    if idle:
        min(idle, key=lambda connection: connection.idle_since).transport.abort()
    return bool(idle)


async def sweep(connections: set[Connection]) -> None:
    """Apply the limits of time, until cancelled."""
    while True:
        await asyncio.sleep(SWEEP)
        now = time.monotonic()
        for connection in list(connections):
            connection.sweep(now)


def max_connections() -> int:
    """Fewer than the files that this process may still open: otherwise none could be accepted, not even to refuse it."""
    try:
        import resource
    except ImportError:  # Windows, which can wait for 512 sockets at a time
        return min(MAX_CONNECTIONS, 512 - RESERVED_FILES)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    opened = len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else 0
    return max(1, min(MAX_CONNECTIONS, files - opened - RESERVED_FILES))
