"""The server: uvicorn answers requests on a listening socket, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from types import TracebackType
from typing import Any, cast

import uvicorn

from regard.serve.application import Application
from regard.serve.asgi import asgi_app
from regard.serve.connections import IDLE_SECONDS, Connection, sweep
from regard.serve.listening import BACKLOG, port_of
from regard.serve.request_errors import log_location
from regard.serve.senders import Senders

GRACE = 5  # seconds for requests in progress when the server stops
MARGIN = 2.0  # seconds for closing connections afterwards


class Server:
    """Answers requests from `with` on, and stops at its end: requests in progress get `GRACE` seconds."""

    def __init__(self, listening: socket.socket, senders: Senders | None = None, token: str | None = None) -> None:
        self.application = Application()
        self.port = port_of(listening)
        self._listening = listening
        config = uvicorn.Config(
            asgi_app(self.application, senders or Senders(), token),
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",  # uvicorn's messages may quote a request
            access_log=False,
            proxy_headers=False,
            server_header=False,
            headers=[("server", "regard")],
            backlog=BACKLOG,
            timeout_keep_alive=int(IDLE_SECONDS),
            timeout_graceful_shutdown=GRACE,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        # for waiting: if Ctrl-C interrupts `Thread.join`, Python 3.11 takes the thread for finished
        self._stopped = threading.Event()

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        if self._stopped.wait(GRACE + MARGIN):
            self._thread.join()
        self._listening.close()

    @property
    def connections(self) -> set[Connection]:
        """Those that are open; it belongs to the thread of the server."""
        return cast("set[Connection]", self._server.server_state.connections)

    def is_running(self) -> bool:
        return not self._stopped.is_set()

    def wait(self, seconds: float) -> None:
        """Wait until the server has stopped, at most this long."""
        self._stopped.wait(seconds)

    def _run(self) -> None:
        try:
            asyncio.run(self._answer())
        finally:
            self._stopped.set()

    async def _answer(self) -> None:
        asyncio.get_running_loop().set_exception_handler(log_quietly)
        sweeping = asyncio.create_task(sweep(self.connections))
        try:
            await self._server.serve(sockets=[self._listening])
        finally:
            sweeping.cancel()


def log_quietly(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Errors outside of requests: where they were raised, without their message, which may quote a request."""
    error = context.get("exception")
    if isinstance(error, Exception) and not isinstance(error, ConnectionError):
        log_location(error, "the server continues")
