"""`regard.serve.app`: the page and the API under another ASGI server, or mounted in another application."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from serving import JSON_HEADERS
from starlette.applications import Starlette
from starlette.routing import Mount

import regard
import regard.serve
from regard.serve.listening import listen, port_of

TOKEN = "correct-horse-battery-staple"


def ask(app: Any, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """The status and the body of an answer, without a server."""
    given = {"host": "localhost:80", **(headers or {})}
    if body is not None:
        given |= {"content-type": "application/json", "content-length": str(len(body))}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET" if body is None else "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "server": ("127.0.0.1", 80),
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body or b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


@contextmanager
def served_by_uvicorn(app: Any) -> Iterator[int]:
    """The port of a server as other people start it: with its own settings and another parser of HTTP."""
    listening = listen(port=0)
    port = port_of(listening)
    server = uvicorn.Server(uvicorn.Config(app, http="h11", log_config=None, lifespan="on"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


def test_a_run_is_served_by_another_server(flat_run: Path) -> None:
    with served_by_uvicorn(regard.serve.app(flat_run)) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/api/predict", b'{"text": "good"}', JSON_HEADERS)
        reply = connection.getresponse()
        assert (reply.status, json.loads(reply.read())["run"]) == (200, "flat")
        assert reply.getheader("X-Content-Type-Options") == "nosniff"
        connection.request("GET", "/", headers={"Host": "evil.example"})
        assert connection.getresponse().status == 403
        connection.close()


def test_it_can_be_mounted_in_another_application(flat_run: Path) -> None:
    app = Starlette(routes=[Mount("/texts", app=regard.serve.app(str(flat_run)))])
    assert ask(app, "/texts/")[1].startswith(b"<!doctype html>")
    assert ask(app, "/texts/api/runs")[0] == 200
    status, body = ask(app, "/texts/api/predict", b'{"text": "good"}')
    assert (status, json.loads(body)["run"]) == (200, "flat")
    assert ask(app, "/texts/nothing")[0] == 404


def test_hosts_and_tokens_are_checked(flat_run: Path) -> None:
    app = regard.serve.app(flat_run, token=TOKEN, hosts=["texts.example"])
    allowed = {"host": "texts.example"}
    assert ask(app, "/", headers=allowed)[0] == 200
    assert ask(app, "/", headers={"host": "evil.example"})[0] == 403
    assert ask(app, "/api/runs", headers=allowed)[0] == 401
    assert ask(app, "/api/runs", headers={**allowed, "authorization": f"Bearer {TOKEN}"})[0] == 200


def test_a_wrapped_model_can_be_served_next_to_a_run(flat_run: Path) -> None:
    model = regard.wrap(lambda texts: np.full((len(texts), 2), 0.5), ["a", "b"], name="even")
    facts = json.loads(ask(regard.serve.app(flat_run, model, method="leave_one_out"), "/api/runs")[1])
    assert [run["name"] for run in facts["runs"]] == ["flat", "even"]
    assert facts["start"] == {"method": "leave_one_out", "target": None}


def test_errors_are_not_raised_to_a_server_that_would_log_them(
    flat_run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(texts: list[str]) -> np.ndarray:
        if "secret" in texts[0]:
            raise KeyError(texts[0])
        return np.full((len(texts), 2), 0.5)

    app = regard.serve.app(regard.wrap(broken, ["a", "b"]))
    status, body = ask(app, "/api/predict", b'{"text": "xyzzysecretword"}')
    assert (status, json.loads(body)) == (500, {"error": "internal error of the server"})
    assert "xyzzysecretword" not in "".join(capfd.readouterr())


def test_bad_arguments_are_refused(flat_run: Path) -> None:
    for arguments, options, problem in (
        ([], {}, "app: expected one run, or two to compare, got 0"),
        ([flat_run], {"token": "short"}, "token: expected a token of at least 16 characters, got 5"),
        ([flat_run, flat_run], {}, "expected two different runs, got the same one twice"),
        ([flat_run], {"target": "x"}, "'x'"),
        (["nowhere"], {}, "nowhere: there is no such folder"),
    ):
        with pytest.raises(regard.InputError, match=problem):
            regard.serve.app(*arguments, **options)


@pytest.mark.parametrize("module", ["regard", "regard.serve", "regard.wrapping", "regard.commands.serve"])
def test_the_libraries_of_the_server_are_imported_only_to_serve(module: str) -> None:
    code = f"import sys, {module}; print(sorted({{'starlette', 'uvicorn', 'httptools'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
