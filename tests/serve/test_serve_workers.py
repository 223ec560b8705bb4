"""`--workers N`: several processes that share a port, are replaced when they end, and stop together."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from serving import JSON_HEADERS

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds worker processes in /proc")
DEADLINE = 120.0  # seconds; only a server that hangs takes so long


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "regard.cli", "serve", *map(str, arguments), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture
def process(flat_run: Path) -> Iterator[subprocess.Popen[str]]:
    started = start(flat_run, "--port", "0")
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def opened_port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    port = int(re.findall(r":(\d+)/", process.stdout.readline())[0])
    assert process.stdout.readline() == "flat ready\n"
    return port


def workers(process: subprocess.Popen[str]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def predicts(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    try:
        connection.request("POST", "/api/predict", b'{"text": "good"}', JSON_HEADERS)
        reply = connection.getresponse()
        return reply.status == 200 and json.loads(reply.read())["run"] == "flat"
    finally:
        connection.close()


def is_running(worker: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{worker}/stat").read_text()
    except FileNotFoundError:
        return False


def test_two_processes_answer_and_stop_together(process: subprocess.Popen[str]) -> None:
    port = opened_port(process)
    before = workers(process)
    assert len(before) == 2
    assert all(predicts(port) for _ in range(5))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert (out, err, process.returncode) == ("stopped\n", "", 0)
    assert not any(is_running(worker) for worker in before)


def test_a_process_that_is_killed_is_replaced(process: subprocess.Popen[str]) -> None:
    port = opened_port(process)
    killed, other = workers(process)
    os.kill(killed, signal.SIGKILL)
    assert process.stderr is not None
    assert process.stderr.readline() == (
        "regard: a worker process ended unexpectedly (SIGKILL); another one is loading\n"
    )
    assert predicts(port)
    end = time.monotonic() + DEADLINE
    while len(workers(process)) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    new = [worker for worker in workers(process) if worker != other]
    assert len(new) == 1
    os.kill(other, signal.SIGKILL)
    process.stderr.readline()
    assert predicts(port)
    process.terminate()
    out, err = process.communicate(timeout=DEADLINE)
    assert (out, err, process.returncode) == ("stopped\n", "", 0)


def test_workers_stop_if_the_first_process_is_killed(process: subprocess.Popen[str]) -> None:
    opened_port(process)
    left = workers(process)
    process.kill()
    end = time.monotonic() + DEADLINE
    while any(is_running(worker) for worker in left):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_damaged_run_stops_all_processes(flat_run: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(flat_run, damaged)
    (damaged / "task.json").write_text("{")
    (damaged / "manifest.json").unlink()
    process = start(damaged, "--port", "0")
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert err.startswith(f"regard: {damaged}: damaged run (task.json is not JSON: ")
    assert err.count("\n") == 1
