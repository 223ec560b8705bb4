"""What differs on Windows and macOS, simulated as far as that is possible: these tests run on Linux."""

from __future__ import annotations

import ast
import asyncio
import io
import os
import socket
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main
from regard.serve.application import HEALTH
from regard.serve.connections import max_connections
from regard.serve.listening import listen
from regard.serve.server import Server
from regard_lab import results

ROOT = Path(__file__).parent.parent


class Undetected(socket.socket):
    """A socket of a system that cannot be asked for the protocol of a socket, such as macOS."""

    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None):
        super().__init__(family, type, max(proto, 0), fileno)


def test_answers_are_sent_at_once_on_systems_that_do_not_know_the_protocol_of_a_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """asyncio switches Nagle's algorithm off only for sockets that say that they are TCP."""
    monkeypatch.setattr(socket, "socket", Undetected)
    with listen(port=0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_the_server_does_not_use_the_default_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of Windows cannot share a port with other processes."""

    def refuse() -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio, "new_event_loop", refuse)
    monkeypatch.setattr(asyncio.events, "new_event_loop", refuse)
    with Server(listen(port=0)) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", HEALTH)
        assert connection.getresponse().status in (200, 503)
        connection.close()


def test_fewer_connections_are_accepted_where_fewer_can_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert 400 < max_connections() < 512


def test_lines_end_in_a_pipe_as_they_do_in_a_file(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows writes \\r\\n for \\n, and CSV has \\r\\n already."""
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding="cp1252", newline="\r\n"))
    assert main(["predict", str(run), "a good filthy room – ☃", "--format", "csv"]) == 0
    assert "☃".encode() in pipe.getvalue()
    assert pipe.getvalue().count(b"\r\n") == 2
    assert b"\r\r" not in pipe.getvalue()


def test_results_are_appended_as_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, real = [], os.open

    def remember(path: Any, flags: int, mode: int = 0o777) -> int:
        opened.append(flags)
        return real(path, flags & ~0x8000, mode)

    monkeypatch.setattr(results, "BINARY", 0x8000)  # the number on Windows
    monkeypatch.setattr(os, "open", remember)
    results.append(tmp_path / "t.jsonl", {"seed": 0})
    assert opened[0] & 0x8000
    assert (tmp_path / "t.jsonl").read_bytes() == b'{"seed": 0}\n'


def test_text_files_are_opened_with_an_encoding() -> None:
    """The default of Windows is not UTF-8."""
    calls = [
        f"{path.name}: {ast.unparse(node)}"
        for folder in ("src", "tools", "experiments")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_text(node)
    ]
    assert calls == []


def opens_text(call: ast.Call) -> bool:
    """Whether it opens a text file without an encoding. Keywords in `**` may name one."""
    function = call.func
    is_open = isinstance(function, ast.Name) and function.id == "open"
    if not is_open and not (isinstance(function, ast.Attribute) and function.attr in ("read_text", "write_text")):
        return False
    if any(keyword.arg in ("encoding", None) for keyword in call.keywords):
        return False
    modes = [one.value for one in call.args[1:2] if isinstance(one, ast.Constant)]
    return not (is_open and modes and "b" in str(modes[0]))
