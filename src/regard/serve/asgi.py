"""The ASGI application: routes to the answers of `application`, and the protections as middleware. No text is logged."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serve.application import ENDPOINTS, JSON, MAX_TEXT, RUN_FACTS, Application, Reply
from regard.serve.bodies import check_content_type, drain, has_body, header_values, read_body
from regard.serve.request_errors import ClientGone, RequestError, refusal
from regard.serve.senders import Senders
from regard.serve.threads import Threads
from regard.serve.tokens import check_authorization

WATCH_AFTER = 0.1  # seconds of work after which the server looks whether the client still waits
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
ENCODED_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def asgi_app(application: Application, senders: Senders, token: str | None = None) -> Starlette:
    """The innermost middleware knows the path; the outermost turns errors of the others into answers."""
    protected = [] if token is None else [Middleware(CheckToken, token=token)]
    threads = Threads()
    page = Page(application)
    routes = [Route(path, Answer(application, path, threads), middleware=protected) for path in ENDPOINTS]
    routes += [Route(path, page, middleware=protected) for path in RUN_FACTS]
    routes.append(Route("/{rest:path}", page))
    return Starlette(routes=routes, middleware=[Middleware(AnswerErrors), Middleware(CheckSender, senders=senders)])


class AnswerErrors:
    """Turns errors into answers of one sentence. Nothing is raised further, because servers log errors with texts."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1003})
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        unread = has_body(scope)

        async def receive_body() -> Message:
            nonlocal unread
            message = await receive()
            unread = message["type"] == "http.request" and message.get("more_body", False)
            return message

        try:
            await self.app(scope, receive_body, send)
        except ClientGone:
            await respond(scope, send, 499, Reply(JSON, b""))
        except asyncio.CancelledError:  # the server stops, and the time for requests in progress is over
            await refuse(scope, send, RequestError(503, "the server is stopping; try again later"))
        except Exception as error:
            await refuse(scope, send, error, receive if unread else None)


class CheckSender:
    """Refuses requests to other hosts, and from pages of other origins."""

    def __init__(self, app: ASGIApp, senders: Senders) -> None:
        self.app, self.senders = app, senders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            port = (scope.get("server") or (None, None))[1]
            self.senders.check(header_values(scope, b"host"), header_values(scope, b"origin"), port)
        await self.app(scope, receive, send)


class CheckToken:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        check_authorization(header_values(scope, b"authorization"), self.token)
        await self.app(scope, receive, send)


class Page:
    """Files of the page, and facts about the runs."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = self.application.page(scope["path"].removeprefix(scope.get("root_path", "")))
        check_method(scope, "GET", "HEAD")
        if has_body(scope):
            await read_body(scope, receive, MAX_TEXT)  # pages have no use for it, but a client may send one
        await respond(scope, send, 200, reply)


class Answer:
    """Answers about texts: quick ones at once, all others in threads."""

    def __init__(self, application: Application, path: str, threads: Threads) -> None:
        self.application, self.path, self.threads = application, path, threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        check_method(scope, "POST")
        check_content_type(scope)
        body = await read_body(scope, receive, ENDPOINTS[self.path].max_bytes)
        if self.application.is_quick(self.path, body):
            reply = self.application.answer(self.path, body, lambda: False)
        else:
            reply = await self.in_thread(receive, body)
        await respond(scope, send, 200, reply)

    async def in_thread(self, receive: Receive, body: bytes) -> Reply:
        gone = threading.Event()
        answer = self.threads.start(partial(self.application.answer, self.path, body, gone.is_set))
        try:
            await asyncio.wait({answer}, timeout=WATCH_AFTER)
            if not answer.done():
                await watch(answer, receive, gone)
            return await answer
        finally:
            gone.set()  # if the server stops, a request that waits for the model is dropped


async def watch(answer: asyncio.Future[Reply], receive: Receive, gone: threading.Event) -> None:
    """Wait for the answer, and tell its thread if the client disconnects."""
    message = asyncio.ensure_future(receive())
    both: set[asyncio.Future[Any]] = {answer, message}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if message.done() and message.result()["type"] == "http.disconnect":
            gone.set()
        await asyncio.wait({answer})
    finally:
        message.cancel()


def check_method(scope: Scope, *allowed: str) -> None:
    if scope["method"] not in allowed:
        sentence = f"HTTP method: expected {' or '.join(allowed)}, got {scope['method']}"
        raise RequestError(405, sentence, {"Allow": ", ".join(allowed)})


async def respond(
    scope: Scope, send: Send, status: int, reply: Reply, headers: Mapping[str, str] | None = None, more: bool = False
) -> None:
    """`more`: the answer is complete, but its connection is not closed yet."""
    encoded = [(b"content-type", reply.content_type.encode()), (b"content-length", str(len(reply.body)).encode())]
    encoded += ENCODED_HEADERS
    encoded += [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    body: Message = {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body}
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({**body, "more_body": more})


async def refuse(scope: Scope, send: Send, error: BaseException, unread: Receive | None = None) -> None:
    """Send an error and close the connection; `unread` receives the rest of the body."""
    status, sentence, headers = refusal(error)
    close = {"Connection": "close"} if scope["http_version"].startswith("1") else {}
    reply = Reply(JSON, json.dumps({"error": sentence}).encode())
    await respond(scope, send, status, reply, {**headers, **close}, more=unread is not None)
    if unread is not None:
        await drain(unread)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
