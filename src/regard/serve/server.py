"""The server: uvicorn answers requests on a listening socket, in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, cast

import uvicorn

from regard.serve.application import Application
from regard.serve.asgi import asgi_app
from regard.serve.connections import IDLE_SECONDS, Connection, max_connections, sweep
from regard.serve.listening import BACKLOG, port_of
from regard.serve.request_errors import log_location
from regard.serve.senders import Senders

ACCEPTED = 4  # connections that are accepted before the next event; with many, asyncio could run out of files
GRACE = 5  # seconds for requests in progress when the server stops
MARGIN = 2.0  # seconds for closing connections afterwards


class Server:
    """Answers requests from `with` on, and stops at its end: requests in progress get `GRACE` seconds."""

    def __init__(self, listening: socket.socket, senders: Senders | None = None, token: str | None = None) -> None:
        self.application = Application()
        self.port = port_of(listening)
        self._listening = listening
        self._out_of_files = False  # whether that was reported
        config = uvicorn.Config(
            asgi_app(self.application, senders or Senders(), token),
            http=cast(Any, partial(Connection, max_connections())),  # uvicorn only calls it
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
            backlog=ACCEPTED,
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
            # the same loop on every system: that of Windows cannot accept connections of a socket that processes share
            with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._answer())
        finally:
            self._stopped.set()

    async def _answer(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._log_quietly)
        serving = asyncio.create_task(self._server.serve(sockets=[self._listening]))
        sweeping = asyncio.create_task(sweep(self.connections))
        try:
            while not (self._server.started or serving.done()):
                await asyncio.sleep(0)
            with suppress(OSError):  # it is closed already if the server was stopped at once
                self._listening.listen(BACKLOG)  # many may wait, although few are accepted in one go
            await serving
        finally:
            sweeping.cancel()

    def _log_quietly(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Errors outside of requests: where they were raised, without their message, which may quote a request."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            if not self._out_of_files and sys.stderr is not None:
                print("regard: too many open files; new connections have to wait (see `ulimit -n`)", file=sys.stderr)
            self._out_of_files = True
        elif isinstance(error, Exception) and not isinstance(error, ConnectionError):
            log_location(error, "the server continues")
