"""Threads that answer requests, next to the event loop that receives them.

They are daemon threads, unlike those of `concurrent.futures`, for which Python waits when it exits: a model that takes
minutes must not keep the server from stopping in time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from regard.serve.request_errors import RequestError

MAX_REQUESTS = 64  # that are answered, or wait for a model, at a time

Result = TypeVar("Result")


class Job(NamedTuple):
    function: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Threads:
    """As many threads as there are requests at the same time, up to `limit`. Its methods belong to one event loop."""

    def __init__(self, limit: int = MAX_REQUESTS) -> None:
        self.limit = limit
        self._active = self._started = 0
        self._jobs: SimpleQueue[Job] = SimpleQueue()

    def start(self, function: Callable[[], Result]) -> asyncio.Future[Result]:
        """Call the function in a thread. It cannot be interrupted, and counts as active until it returns."""
        if self._active >= self.limit:
            raise RequestError(
                503,
                f"expected at most {self.limit} requests at a time, got more; try again later",
                {"Retry-After": "1"},
            )
        self._active += 1
        if self._started < self._active:
            self._started += 1
            threading.Thread(target=self._work, daemon=True).start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._jobs.put(Job(function, future, loop))
        return future

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            result: Any = None
            problem: Exception | None = None
            try:
                result = job.function()
            except Exception as error:
                problem = error
            with suppress(RuntimeError):  # the server has stopped meanwhile
                job.loop.call_soon_threadsafe(self._finish, job.future, result, problem)
            del job, result, problem  # a text and its answer must not stay in memory while the thread waits

    def _finish(self, future: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
        self._active -= 1
        if future.done():  # cancelled, because the server stops
            return
        if problem is None:
            future.set_result(result)
        else:
            future.set_exception(problem)
