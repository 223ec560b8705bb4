"""A server in a thread of this process, and what tests ask of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from regard.models.folder import load
from regard.serve.served import Served, run_names
from regard.serve.server import Server

KIND = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The one sentence of a refusal."""
        assert self.headers["Content-Type"].startswith("application/json")
        (found,) = self.value.values()
        assert list(self.value) == ["error"]
        assert "Traceback" not in found
        return str(found)


class Serving(NamedTuple):
    server: Server

    @property
    def port(self) -> int:
        return self.server.server_port

    def send(self, verb: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(verb, path, body, dict(headers or {}))
            reply = connection.getresponse()
            return Answer(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, headers=headers)

    def ask(self, path: str, **fields: Any) -> Answer:
        return self.send("POST", path, json.dumps(fields).encode(), KIND)


@contextmanager
def serving(*folders: Path) -> Iterator[Serving]:
    names = run_names([str(folder) for folder in folders])
    with Server(0) as server:
        # without a folder it stays as it is while models load
        server.application.take([Served(name, load(folder)) for name, folder in zip(names, folders, strict=True)])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Serving(server)
        finally:
            server.shutdown()
            thread.join()
