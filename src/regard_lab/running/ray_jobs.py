"""The jobs of a table on a Ray cluster.

A job is a Ray task. Its rows come back as the answer of the task, which arrives once, and the driver alone appends them to
TABLE.jsonl: every row is there exactly once. What a killed driver leaves undone, the same command does.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regard.ray_cluster import Needs
from regard.ray_tasks import ANSWER, LOST, RayTasks, Send
from regard.recorder import Silent
from regard_lab.kinds.train import TooManySeeds
from regard_lab.results import complete
from regard_lab.rows import Row
from regard_lab.running.plan import Job, Queue
from regard_lab.running.workers import BrokenWorker, Event, run_job
from regard_lab.tables.context import Context

AHEAD = 2  # jobs handed over for each that can run now, so that a cluster that grows sees the demand
DATA = "REGARD_DATA"


@dataclass
class RayJobs:
    ray: Any  # the module, connected
    needs: Needs

    @property
    def slots(self) -> int:
        return self.tasks("", "").slots

    def tasks(self, table: str, device: str) -> RayTasks[Job]:
        arguments = (table, device, os.environ.get(DATA))
        return RayTasks(self.ray, self.needs, rows_of_job, arguments, ahead=AHEAD)

    def run(self, queue: Queue, table: str, device: str) -> Iterator[Event | None]:
        for event in self.tasks(table, device).run(queue.take):
            if event is None:
                yield None
            elif event.kind == ANSWER and event.content == "null":
                yield Event("halved", event.item, queue.halve(event.item))
                yield Event("done", event.item)
            elif event.kind == ANSWER:
                yield from (Event("row", event.item, row) for row in json.loads(event.content))
                yield Event("done", event.item)
            elif event.kind == LOST:
                for seed in event.item.seeds:
                    result: Row = {"seed": seed, "error": event.content}
                    yield Event("row", event.item, complete(event.item.cell, table, device, result))
                yield Event("done", event.item)
            else:
                yield Event(event.kind, event.item, event.content)


def rows_of_job(job: Job, send: Send, table: str, device: str, data: str | None) -> str:
    """In a worker of the cluster: the rows as JSON, or null if the seeds do not fit into memory together."""
    if data is not None:
        os.environ.setdefault(DATA, data)
    send("begun", None)
    rows: list[Row] = []
    try:
        for row in run_job(job, table, Context(device, Silent()), send):
            rows.append(named(row) if "error" in row else row)
    except TooManySeeds:
        return "null"
    except BrokenWorker:
        pass  # its rows say why
    return json.dumps(rows)


def named(row: Row) -> Row:
    """A failed row with the name of this machine: its disk may be full, or its corpora missing."""
    failed = row.copy()
    failed["error"] = f"{socket.gethostname()}: {row['error']}"
    return failed
