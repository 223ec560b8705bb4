"""HTTP on this machine only: which requests are accepted, how large they may be and how long they may take. No text is logged.

A web page of another origin, open in the same browser, can send requests here. Therefore the Host must be this machine
(against DNS rebinding), the Origin, if there is one, must be this server, and requests must have the JSON content type, which
a page of another origin cannot send without CORS; no CORS header is ever sent.
"""

from __future__ import annotations

import json
import os
import select
import socket
import socketserver
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from regard.errors import InputError
from regard.serve.application import ENDPOINTS, JSON, MAX_TEXT, Application, Reply
from regard.serve.request_errors import ClientGone, RequestError

ADDRESS = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost", "[::1]")
TIMEOUT = 30.0  # seconds for a body to arrive, and between two requests of a connection
MAX_DRAINED = 8_000_000  # bytes of a refused body that are still read, so that the client sees the answer
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Listens from the start, so that a port in use is reported at once."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = os.name != "nt"  # on Windows it would share the port with another process

    def __init__(self, port: int) -> None:
        if not 0 <= port <= 65535:
            raise InputError(f"--port: expected 0 to 65535 (0: any free port), got {port}")
        self.application = Application()
        self._active, self._changed = 0, threading.Condition()
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            why = error.strerror or str(error)
            raise InputError(f"--port {port}: {why}; choose another port, or 0 for any free one") from None

    def server_bind(self) -> None:
        # as in the parent class, but without a network lookup of this machine's name
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    def hosts(self) -> set[str]:
        bare = set(NAMES) if self.server_port == 80 else set()
        return bare | {f"{name}:{self.server_port}" for name in NAMES}

    @contextmanager
    def active_request(self) -> Iterator[None]:
        """Count a request as active while it is answered."""
        with self._changed:
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until all active requests are answered, at most this long."""
        with self._changed:
            self._changed.wait_for(lambda: self._active == 0, seconds)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT
    wbufsize = -1  # send head and body together
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        with self.server.active_request():
            self.respond()
            self.wfile.flush()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = do_GET

    def respond(self) -> None:
        try:
            self.send(HTTPStatus.OK, self.reply())
        except RequestError as error:
            self.refuse(error.status, error.sentence, error.headers)
        except InputError as error:
            self.refuse(HTTPStatus.BAD_REQUEST, str(error))
        except (ClientGone, ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            log_location(error)
            if "memory" in f"{type(error).__name__} {error}".lower():
                self.refuse(HTTPStatus.SERVICE_UNAVAILABLE, "not enough memory for this text")
            else:
                self.refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error of the server")

    def reply(self) -> Reply:
        self.check_sender()
        path, application = self.path.partition("?")[0], self.server.application
        if path in ENDPOINTS:
            self.check_method("POST")
            self.check_content_type()
            body = self.body(ENDPOINTS[path].max_bytes)
            return application.answer(path, body, self.is_gone)
        page = application.page(path)
        self.check_method("GET", "HEAD")
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.body(MAX_TEXT)  # else it would be parsed as the next request
        return page

    def check_sender(self) -> None:
        hosts = self.server.hosts()
        received = self.headers.get_all("Host") or []
        if len(received) != 1 or received[0].lower() not in hosts:
            raise RequestError(403, f"only requests to {self.server.address} are answered")
        origins = {origin.lower() for origin in self.headers.get_all("Origin") or []}
        if not origins <= {f"http://{host}" for host in hosts}:
            raise RequestError(403, "requests from pages of other origins are refused")

    def check_method(self, *allowed: str) -> None:
        if self.command not in allowed:
            sentence = f"HTTP method: expected {' or '.join(allowed)}, got {self.command}"
            raise RequestError(405, sentence, {"Allow": ", ".join(allowed)})

    def check_content_type(self) -> None:
        content_type = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise RequestError(415, f"Content-Type: expected application/json, got {content_type[:80]!r}")

    def body(self, max_bytes: int) -> bytes:
        lengths = set(self.headers.get_all("Content-Length") or [])
        if not lengths or self.headers.get("Transfer-Encoding"):
            raise RequestError(411, "Content-Length: expected the length of the body, got none")
        (text, *others) = lengths
        if others:
            raise RequestError(400, "Content-Length: expected one value, got several different ones")
        if not (text.isascii() and text.isdigit()):
            raise RequestError(400, f"Content-Length: expected a number, got {text[:20]!r}")
        length = int(text[:20])
        if length > max_bytes:
            raise RequestError(413, f"body: expected at most {max_bytes:,} bytes, got {length:,}")
        body = self.receive(length)
        if len(body) < length:
            raise ConnectionError
        return body

    def receive(self, length: int) -> bytes:
        """Read up to `length` bytes within `TIMEOUT` seconds; fewer if the connection ends."""
        pieces, end = [], time.monotonic() + TIMEOUT
        while length and (piece := self.rfile.read1(min(length, 1 << 16))):
            if time.monotonic() > end:
                raise TimeoutError
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def is_gone(self) -> bool:
        """Whether the client has disconnected."""
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
        except ValueError:  # a socket number that `select` cannot handle
            return False

    def refuse(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        """Send an error and close the connection, which may still contain an unread body."""
        self.close_connection = True
        body = json.dumps({"error": sentence}).encode()
        try:
            self.send(status, Reply(JSON, body), {**(headers or {}), "Connection": "close"})
            self.wfile.flush()
            self.drain()
        except OSError:
            pass

    def drain(self) -> None:
        """Read what the client still sends: closing a connection with unread bytes would discard the answer."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(0.5)
        left, end = MAX_DRAINED, time.monotonic() + 2
        while left > 0 and time.monotonic() < end and (piece := self.connection.recv(1 << 16)):
            left -= len(piece)

    def send(self, status: int, reply: Reply, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        content = {"Content-Type": reply.content_type, "Content-Length": str(len(reply.body))}
        for name, value in {**content, **HEADERS, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def handle_expect_100(self) -> bool:
        """Flush at once: the client waits for it before it sends the body."""
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the request parser as JSON: by default they are HTML, without a head for unknown HTTP versions."""
        self.request_version = self.protocol_version
        self.refuse(code, f"{message or HTTPStatus(code).phrase}"[:200])

    def version_string(self) -> str:
        return "regard"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a request contains a user's text."""


def log_location(error: BaseException) -> None:
    """Print where an internal error was raised, without its message, which may quote a text."""
    if sys.stderr is None:
        return
    frames: Iterable[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)[-3:]
    locations = " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed([*frames]))
    print(f"regard: {type(error).__name__} at {locations}; the request was answered with an error", file=sys.stderr)
