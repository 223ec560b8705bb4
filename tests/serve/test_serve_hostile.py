"""Clients that are slow, that send too much or that send nonsense: each is refused, and the others are still answered."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from serving import JSON_HEADERS, Serving, serving

from regard.serve import answering, bodies, connections, server, tables
from regard.serve.request_errors import RequestError
from regard.serve.threads import Threads

DEADLINE = 60.0  # seconds; only a server that hangs takes so long


@contextmanager
def connected(served: Serving) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", served.port), timeout=DEADLINE) as line:
        yield line


def received(line: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    pieces = []
    while piece := line.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def refusal(answer: bytes) -> tuple[int, str]:
    """The status and the sentence."""
    head, _, body = answer.partition(b"\r\n\r\n")
    (sentence,) = json.loads(body).values()
    return int(head.split()[1]), sentence


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def head(served: Serving, path: str, *lines: str, verb: str = "GET") -> bytes:
    return "\r\n".join([f"{verb} {path} HTTP/1.1", f"Host: localhost:{served.port}", *lines, "", ""]).encode()


def test_leading_zeros_of_a_content_length_do_not_shift_the_next_request(flat: Serving) -> None:
    smuggled = head(flat, "/smuggled")
    first = head(flat, "/health", "Content-Length: " + str(len(smuggled)).zfill(25))
    with connected(flat) as line:
        line.sendall(first + smuggled + head(flat, "/api/runs", "Connection: close"))
        answer = received(line)
    assert answer.count(b"HTTP/1.1 ") == answer.count(b"HTTP/1.1 200 OK") == 2
    assert b'{"status": "ready"}' in answer
    assert answer.endswith(b'"target": null}}')


def test_chunks_do_not_shift_the_next_request(flat: Serving) -> None:
    with connected(flat) as line:
        line.sendall(head(flat, "/health", "Transfer-Encoding: chunked") + b"0\r\n\r\n" + head(flat, "/smuggled"))
        answer = received(line)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert refusal(answer)[0] == 411


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked, identity",),
        ("Content-Length : 5",),
        ("Content-Length: 5, 5",),
        ("Content-Length: +5",),
    ],
)
def test_an_ambiguous_length_is_refused_and_the_connection_closed(lines: tuple[str, ...], flat: Serving) -> None:
    with connected(flat) as line:
        line.sendall(head(flat, "/api/predict", "Content-Type: application/json", *lines, verb="POST") + b"hello")
        answer = received(line)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert refusal(answer)[0] in (400, 411)


def test_headers_that_arrive_too_slowly_are_refused(flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    with connected(flat) as line:
        line.sendall(b"GET / HTTP/1.1\r\n")
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.05):
                line.sendall(b"X-A: b\r\n")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            answer = line.recv(1 << 16)
        finally:
            stop.set()
            dripping.join()
    assert refusal(answer) == (408, "request: expected its headers within 0.3 seconds, got only a part of them")


def test_a_connection_without_a_request_is_closed(flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.2)
    with connected(flat) as silent, connected(flat) as used:
        used.sendall(head(flat, "/health"))
        assert received(silent) == b""
        assert received(used).endswith(b'{"status": "ready"}')


def test_a_body_that_arrives_too_slowly_is_refused(flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(bodies, "DRAIN_SECONDS", 0.1)
    with connected(flat) as line:
        line.sendall(head(flat, "/api/predict", *json_lines(100), verb="POST") + b'{"text"')
        assert refusal(received(line)) == (408, "body: expected 100 bytes within 0.3 seconds")


def json_lines(length: int) -> tuple[str, str]:
    return "Content-Type: application/json", f"Content-Length: {length}"


def test_a_client_that_does_not_read_its_answer_is_dropped(flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.3)
    body = json.dumps({"table": ("a good room, and a bad bed, " * 16 + "\n") * 10_000, "format": "lines"}).encode()
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", flat.port))
        line.sendall(head(flat, "/api/table", *json_lines(len(body)), verb="POST") + body)
        wait_until(lambda: number_of_connections(flat) > 0)
        wait_until(lambda: number_of_connections(flat) == 0)
        answer = b""
        with suppress(ConnectionError):
            answer = received(line)
    head_of_answer, _, part = answer.partition(b"\r\n\r\n")
    length = int(re.findall(rb"content-length: (\d+)", head_of_answer)[0]) if answer else 1
    assert len(part) < length, "the connection was cut"


def number_of_connections(served: Serving) -> int:
    return len(served.server.connections)


def test_large_headers_are_refused(flat: Serving) -> None:
    for lines in (("X-A: " + "b" * 40_000,), ("X-A: b",) * 10_000, ("X-A: " + "b" * 2_000_000,)):
        with connected(flat) as line:
            line.sendall(head(flat, "/", *lines))
            assert refusal(received(line)) == (431, "request: expected headers of at most 32,000 bytes, got more")
    with connected(flat) as line:
        line.sendall(head(flat, "/" + "a" * 300_000))
        assert refusal(received(line))[0] == 431


@pytest.mark.parametrize("path", ["/api/explain", "/api/table", "/", "/nothing"])
def test_a_body_of_ten_megabytes_gets_an_answer(path: str, flat: Serving) -> None:
    answer = flat.send("POST", path, b" " * 10_000_000, JSON_HEADERS)
    assert answer.status == {"/": 405, "/nothing": 404}.get(path, 413)
    assert answer.error


def test_a_table_of_many_columns_is_refused(flat: Serving) -> None:
    columns = ",".join(f"c{number}" for number in range(60_000))
    answer = flat.ask("/api/table", table=f"{columns}\n{columns}\n")
    assert (answer.status, answer.error) == (413, "table: expected at most 1,000 columns, got 60,000")
    twice = flat.ask("/api/table", table=f"{columns},c7\n{columns},x\n")
    assert "the first row names column 'c7' twice" in twice.error


@pytest.mark.parametrize("depth", [50, 500, 900, 950, *range(975, 1_000, 3), *range(976, 1_000, 3), 5_000])
def test_nested_json_gets_one_sentence(depth: int, flat: Serving) -> None:
    nested = b"[" * depth + b"]" * depth
    for body in (nested, b'{"text": ' + nested + b"}", b'{"x": ' + nested + b"}", b'{"texts": ' + nested + b"}"):
        answer = flat.send("POST", "/api/predict", body, JSON_HEADERS)
        assert answer.status == 400
        assert answer.error.startswith(
            ("body: expected", "body: unknown field 'x'", "text: expected", "texts, number 1")
        )


def test_an_upgrade_is_ignored(flat: Serving) -> None:
    lines = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
    with connected(flat) as line:
        line.sendall(head(flat, "/health", *lines))
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_leaves_in_the_middle_is_not_mentioned(flat: Serving, capfd: pytest.CaptureFixture[str]) -> None:
    sent = head(flat, "/api/predict", *json_lines(100), verb="POST") + b'{"text"'
    for part in (0, 5, len(sent) // 2, len(sent)):
        with connected(flat) as line:
            line.sendall(sent[:part])
    assert flat.get("/health").status == 200
    assert capfd.readouterr() == ("", "")


# connections


def test_the_longest_idle_connection_makes_room_for_a_new_one(flat_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "max_connections", lambda: 2)
    with serving(flat_run) as served, connected(served) as first, connected(served) as second:
        wait_until(lambda: number_of_connections(served) == 2)
        assert served.get("/health").status == 200
        assert received(first) == b"", "closed"
        second.sendall(head(served, "/health", "Connection: close"))
        assert received(second).endswith(b'{"status": "ready"}')


def test_too_many_busy_connections_are_refused(flat_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "max_connections", lambda: 2)
    with serving(flat_run) as served, connected(served) as first, connected(served) as second:
        for line in (first, second):
            line.sendall(b"GET / HTTP/1.1\r\n")
        wait_until(lambda: sum(one.head_since is not None for one in served.server.connections) == 2)
        with connected(served) as third:
            assert refusal(received(third)) == (503, "expected at most 2 connections, got more")


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from regard.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the CPU time of a process from /proc")
def test_more_connections_than_open_files_do_not_keep_the_server_busy(flat_run: Path) -> None:
    process = start("-c", FEW_FILES, "serve", str(flat_run), "--port", "0")
    lines: list[socket.socket] = []
    try:
        port = opened_port(process)
        for _ in range(100):
            lines.append(socket.create_connection(("127.0.0.1", port), timeout=DEADLINE))
        time.sleep(0.5)
        before = cpu_seconds(process.pid)
        time.sleep(2)
        assert cpu_seconds(process.pid) - before < 1, "it does not poll"
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as line:
            line.sendall(f"GET /health HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode())
            assert received(line).endswith(b'{"status": "ready"}')
        process.terminate()
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        for line in lines:
            line.close()
    assert (out, err) == ("stopped\n", "")


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def opened_port(process: subprocess.Popen[str]) -> int:
    """Of a server whose models are loaded."""
    assert process.stdout is not None
    port = int(re.findall(r":(\d+)/", process.stdout.readline())[0])
    assert process.stdout.readline().endswith(" ready\n")
    return port


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# stopping, and too much work


SLOW_MODEL = """
import time
import numpy as np
import regard

def predict_proba(texts):
    if "slow" in texts[0]:
        print("predicting", flush=True)
        time.sleep(600)
    return np.full((len(texts), 2), 0.5)

regard.wrap(predict_proba, ["a", "b"], name="slow").serve(port=0)
"""


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_request_that_takes_minutes_does_not_keep_the_server_from_stopping(kind: int) -> None:
    process = start("-c", SLOW_MODEL)
    assert process.stdout is not None
    try:
        port = opened_port(process)
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as line:
            body = b'{"text": "slow"}'
            lines = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
            line.sendall(f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert process.stdout.readline() == "predicting\n"
            process.send_signal(kind)
            assert refusal(received(line)) == (503, "the server is stopping; try again later")
        out, err = process.communicate(timeout=DEADLINE)  # the model would take ten minutes
    finally:
        process.kill()
    assert (out, err, process.returncode) == ("stopped\n", "", 0)


def test_it_stops_in_five_seconds_whatever_clients_do(flat_run: Path) -> None:
    """An idle connection, half a head, half a body, and a client that does not read."""
    with serving(flat_run) as served, connected(served) as idle, connected(served) as slow, connected(served) as part:
        idle.sendall(head(served, "/health"))
        assert idle.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
        slow.sendall(b"GET / HTTP/1.1\r\n")
        part.sendall(head(served, "/api/predict", *json_lines(100), verb="POST") + b'{"text"')
        wait_until(lambda: number_of_connections(served) == 3)
        begin = time.monotonic()
    assert time.monotonic() - begin < server.GRACE + server.MARGIN + 1


@pytest.mark.parametrize("path", ["/api/table", "/api/explain"])
def test_work_ends_when_the_client_leaves(path: str, flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()
    calls: list[None] = []

    def slow(function: Callable[..., object]) -> Callable[..., object]:
        def called(*arguments: object) -> object:
            calls.append(None)
            started.set()
            time.sleep(0.05)
            return function(*arguments)

        return called

    run = flat.server.application.runs[0]
    monkeypatch.setattr(tables, "BATCH", 1)
    monkeypatch.setattr(run.trained, "answers", slow(run.trained.answers))
    monkeypatch.setattr(answering, "attribute", slow(answering.attribute))
    asked = {"/api/table": {"table": "a good room\n" * 100, "format": "lines"}}.get(
        path, {"texts": ["good room"] * 100}
    )
    body = json.dumps(asked).encode()
    with connected(flat) as line:
        line.sendall(head(flat, path, *json_lines(len(body)), verb="POST") + body)
        assert started.wait(DEADLINE)
    before = -1
    while len(calls) > before:  # until nothing is computed any more
        before = len(calls)
        time.sleep(1)
    assert before < 100, "the client left, and the rest was not computed"


def test_only_so_many_requests_are_answered_at_a_time() -> None:
    release = threading.Event()

    async def ask_three() -> list[str]:
        threads = Threads(limit=2)
        running = [threads.start(release.wait) for _ in range(2)]
        with pytest.raises(RequestError, match="expected at most 2 requests at a time, got more; try again later"):
            threads.start(release.wait)
        release.set()
        await asyncio.gather(*running)
        return await asyncio.gather(*(threads.start(lambda: "answered") for _ in range(2)))

    assert asyncio.run(ask_three()) == ["answered"] * 2
