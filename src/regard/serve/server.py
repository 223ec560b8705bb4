"""HTTP on this machine only: what is let in, how large it may be and how long it may take. No text is ever logged.

A web page of somebody else, open in the same browser, can send requests here. So the Host must be this machine (a name of
theirs that suddenly leads here is refused), an Origin, where there is one, must be this server's, and questions must be
said to be JSON, which a foreign page may not send unasked; no CORS header is ever given.
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
from regard.serve.application import JSON, MOST_TEXT, QUESTIONS, Application, Reply
from regard.serve.refused import Gone, Refused

ADDRESS = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost", "[::1]")
PATIENCE = 30.0  # seconds for a body to arrive, and between two requests of a connection
DRAINED = 8_000_000  # bytes of a body that is too large which are read so that the sender sees the answer
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
    """Listens from the start, so that a port in use is known at once."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = os.name != "nt"  # there it would mean to share the port

    def __init__(self, port: int) -> None:
        if not 0 <= port <= 65535:
            raise InputError(f"--port {port}: 0 to 65535 is accepted, 0 for any free one")
        self.application = Application()
        self._in_hand, self._changed = 0, threading.Condition()
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as problem:
            why = problem.strerror or str(problem)
            raise InputError(f"--port {port}: {why}; another one, or 0 for any free one, is accepted") from None

    def server_bind(self) -> None:
        # as its parent would, but without asking the network for this machine's name
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    def hosts(self) -> set[str]:
        bare = set(NAMES) if self.server_port == 80 else set()
        return bare | {f"{name}:{self.server_port}" for name in NAMES}

    @contextmanager
    def in_hand(self) -> Iterator[None]:
        """While a request is being answered."""
        with self._changed:
            self._in_hand += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_hand -= 1
                self._changed.notify_all()

    def rest(self, seconds: float) -> None:
        """Until the answers in hand are sent."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_hand == 0, seconds)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is nobody's error."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    wbufsize = -1  # head and body leave together
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        with self.server.in_hand():
            self.respond()
            self.wfile.flush()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = do_GET

    def respond(self) -> None:
        try:
            self.send(HTTPStatus.OK, self.reply())
        except Refused as refused:
            self.refuse(refused.status, refused.sentence, refused.headers)
        except InputError as problem:
            self.refuse(HTTPStatus.BAD_REQUEST, str(problem))
        except (Gone, ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as problem:
            memory = "memory" in f"{type(problem).__name__} {problem}".lower()
            note(problem)
            told = "this text takes more memory than there is" if memory else "something went wrong here, not with you"
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE if memory else HTTPStatus.INTERNAL_SERVER_ERROR, told)

    def reply(self) -> Reply:
        self.check_sender()
        path, application = self.path.partition("?")[0], self.server.application
        if path in QUESTIONS:
            self.check_verb("POST")
            self.check_kind()
            body = self.body(QUESTIONS[path].most)
            return application.answer(path, body, self.is_away)
        found = application.page(path)
        self.check_verb("GET", "HEAD")
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.body(MOST_TEXT)  # or it would be taken for the next request
        return found

    def check_sender(self) -> None:
        hosts = self.server.hosts()
        given = self.headers.get_all("Host") or []
        if len(given) != 1 or given[0].lower() not in hosts:
            raise Refused(403, f"only requests to {self.server.address} are answered")
        origins = {origin.lower() for origin in self.headers.get_all("Origin") or []}
        if not origins <= {f"http://{host}" for host in hosts}:
            raise Refused(403, "only pages of this server are answered")

    def check_verb(self, *accepted: str) -> None:
        if self.command not in accepted:
            told = " or ".join(accepted)
            raise Refused(405, f"{self.command} is given; {told} is accepted here", {"Allow": ", ".join(accepted)})

    def check_kind(self) -> None:
        kind = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(415, f"Content-Type is {kind[:80]!r}; application/json is accepted")

    def body(self, most: int) -> bytes:
        lengths = set(self.headers.get_all("Content-Length") or [])
        if not lengths or self.headers.get("Transfer-Encoding"):
            raise Refused(411, "the length of the body is not said; Content-Length is needed")
        (said, *others) = lengths
        if others:
            raise Refused(400, "Content-Length is given twice, with different numbers; one is accepted")
        if not (said.isascii() and said.isdigit()):
            raise Refused(400, "Content-Length is not a number")
        length = int(said[:20])
        if length > most:
            raise Refused(413, f"the body has {length:,} bytes; up to {most:,} are accepted")
        found = self.receive(length)
        if len(found) < length:
            raise ConnectionError
        return found

    def receive(self, length: int) -> bytes:
        """So many bytes, or fewer where they end; all of them in time."""
        pieces, end = [], time.monotonic() + PATIENCE
        while length and (piece := self.rfile.read1(min(length, 1 << 16))):
            if time.monotonic() > end:
                raise TimeoutError
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def is_away(self) -> bool:
        """Whether the other end has hung up."""
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
        except ValueError:  # a socket of a number that `select` cannot hold
            return False

    def refuse(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        """What came with the request may lie unread in the connection, which therefore ends."""
        self.close_connection = True
        body = json.dumps({"error": sentence}).encode()
        try:
            self.send(status, Reply(JSON, body), {**(headers or {}), "Connection": "close"})
            self.wfile.flush()
            self.drain()
        except OSError:
            pass

    def drain(self) -> None:
        """A connection that closes on unread bytes takes the answer with it."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(0.5)
        left, end = DRAINED, time.monotonic() + 2
        while left > 0 and time.monotonic() < end and (piece := self.connection.recv(1 << 16)):
            left -= len(piece)

    def send(self, status: int, reply: Reply, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        own = {"Content-Type": reply.kind, "Content-Length": str(len(reply.body))}
        for name, value in {**own, **HEADERS, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def handle_expect_100(self) -> bool:
        """Said at once: whoever waits for it sends nothing before."""
        found = super().handle_expect_100()
        self.wfile.flush()
        return found

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the parser of requests refuses; it knows HTML only, and of a version that it does not know no head at all."""
        self.request_version = self.protocol_version
        self.refuse(code, f"{message or HTTPStatus(code).phrase}"[:200])

    def version_string(self) -> str:
        return "regard"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: a request holds somebody's text."""


def note(problem: BaseException) -> None:
    """Where an error of our own came from, without what it says: that may quote a text."""
    if sys.stderr is None:
        return
    frames: Iterable[traceback.FrameSummary] = traceback.extract_tb(problem.__traceback__)[-3:]
    places = " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed([*frames]))
    print(f"regard: {type(problem).__name__} at {places}; the request was answered with an error", file=sys.stderr)
