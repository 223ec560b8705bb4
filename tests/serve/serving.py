"""A server in a thread of this process, and requests to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from regard.models.folder import load
from regard.serve.listening import listen
from regard.serve.senders import Senders
from regard.serve.served_run import ServedRun, run_names
from regard.serve.server import Server

JSON_HEADERS = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: Message  # names in any case
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The sentence of an error."""
        assert self.headers["Content-Type"].startswith("application/json")
        (sentence,) = self.value.values()
        assert list(self.value) == ["error"]
        assert "Traceback" not in sentence
        return str(sentence)


class Serving(NamedTuple):
    server: Server

    @property
    def port(self) -> int:
        return self.server.port

    def send(self, verb: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(verb, path, body, dict(headers or {}))
            reply = connection.getresponse()
            return Answer(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, headers=headers)

    def ask(self, path: str, **fields: Any) -> Answer:
        return self.send("POST", path, json.dumps(fields).encode(), JSON_HEADERS)


@contextmanager
def serving(*folders: Path) -> Iterator[Serving]:
    names = run_names([str(folder) for folder in folders])
    with serving_runs(*(ServedRun(name, load(folder)) for name, folder in zip(names, folders, strict=True))) as served:
        yield served


@contextmanager
def serving_runs(*runs: ServedRun, senders: Senders | None = None, token: str | None = None) -> Iterator[Serving]:
    with Server(listen(port=0), senders, token) as server:
        server.application.set_runs(list(runs))  # without a run it stays in the state of loading models
        yield Serving(server)
