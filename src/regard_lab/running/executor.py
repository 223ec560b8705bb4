"""Where the jobs of a table run: in this process, in worker processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from regard_lab.running.plan import Queue
from regard_lab.running.workers import Event, run_in_workers, run_inline


class Executor(Protocol):
    """Takes jobs from a queue and reports what happens to them. Every seed of a job gets exactly one row."""

    @property
    def slots(self) -> int:
        """How many jobs run at a time, for the estimate of the time left."""

    def run(self, queue: Queue, table: str, device: str) -> Iterator[Event | None]:
        """None from time to time, so that the caller can update the display."""


@dataclass(frozen=True)
class Inline:
    slots: int = 1

    def run(self, queue: Queue, table: str, device: str) -> Iterator[Event | None]:
        return run_inline(queue, table, device)


@dataclass(frozen=True)
class WorkerProcesses:
    slots: int
    threads: int  # of each; 0: the default

    def run(self, queue: Queue, table: str, device: str) -> Iterator[Event | None]:
        return run_in_workers(queue, table, device, self.slots, self.threads)
