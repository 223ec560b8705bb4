"""Any bytes as what a client sends over a connection: answered with complete HTTP and JSON, never with an internal error."""

from __future__ import annotations

import asyncio
import json
import threading
from functools import partial
from typing import Any, cast

import numpy as np
import uvicorn
from uvicorn.server import ServerState

import regard
from regard.serve.application import Application
from regard.serve.asgi import asgi_app
from regard.serve.connections import Connection
from regard.serve.senders import Senders
from regard.serve.served_run import ServedRun

PORT = 8642
SECONDS = 20.0  # for a request after its client has left


def predict_proba(texts: list[str]) -> np.ndarray:
    good = np.array([0.1 + 0.8 * ("good" in text) for text in texts])
    return np.stack([1 - good, good], 1)


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"sockname": ("127.0.0.1", PORT), "peername": ("127.0.0.1", 1)})
        self.sent, self.closed = b"", False

    def write(self, data: Any) -> None:
        assert not self.closed, "nothing is sent after the end"
        self.sent += bytes(data)

    def write_eof(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close


class Server:
    """The application and its loop, made once."""

    def __init__(self) -> None:
        application = Application()
        model = regard.wrap(predict_proba, ["poor", "fine"], name="rule")
        application.set_runs([ServedRun("rule", model), ServedRun("other", model)])
        self.loop = asyncio.SelectorEventLoop()
        self.config = uvicorn.Config(
            asgi_app(application, Senders()),
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",
        )
        self.config.load()

    async def answers(self, data: bytes) -> bytes:
        state, transport = ServerState(), Transport()
        connection = partial(Connection, 10)(
            config=self.config, server_state=state, app_state={}, _loop=asyncio.get_running_loop()
        )
        connection.connection_made(transport)
        for start in range(0, len(data), 4096):
            connection.data_received(data[start : start + 4096])
            await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        if state.tasks:
            await asyncio.wait(state.tasks, timeout=0.2)
        connection.connection_lost(None)
        if state.tasks:
            done, waiting = await asyncio.wait(state.tasks, timeout=SECONDS)
            assert not waiting, "work goes on although the client has left"
            for task in done:
                task.result()
        return transport.sent


_server = threading.local()


def run(data: bytes) -> None:
    if not hasattr(_server, "made"):
        _server.made = Server()
    server = cast(Server, _server.made)
    check(server.loop.run_until_complete(server.answers(data.replace(b"PORT", str(PORT).encode()))))


def check(sent: bytes) -> None:
    """Answers one after another, each with its length."""
    while sent:
        head, separator, rest = sent.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        assert separator
        assert lines[0].startswith(b"HTTP/1.1 "), lines[0]
        status = int(lines[0].split()[1])
        assert status < 500 or status in (501, 503, 505), lines[0]
        headers = dict(line.lower().split(b": ", 1) for line in lines[1:])
        if status == 100:
            sent = rest
            continue
        length = int(headers[b"content-length"])
        if headers[b"content-type"].startswith(b"application/json") and len(rest) >= length > 0:
            json.loads(rest[:length])
        # the answer to HEAD has no body
        sent = rest if rest.startswith(b"HTTP/1.1 ") else rest[length:]
