"""The jobs of a table on a Ray cluster.

A job is a Ray task, which Ray starts again if its machine or process is lost. Its rows come back as the result of the task, which
arrives once however often it was started, and the driver alone appends them to TABLE.jsonl: every row is there exactly once.
Notes and epochs come through a queue meanwhile; losing those loses nothing. What a killed driver leaves undone, the same command
does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from regard import __version__
from regard.extras import import_extra
from regard.ray_cluster import Needs, check_version
from regard.recorder import Silent
from regard_lab.kinds.train import TooManySeeds
from regard_lab.results import complete
from regard_lab.rows import Row
from regard_lab.running.plan import Job, Queue
from regard_lab.running.workers import REFRESH, BrokenWorker, Event, run_job
from regard_lab.tables.context import Context

STARTS = 5  # times that a job is started again after its machine or process was lost
AHEAD = 2  # jobs handed over for each that can run now, so that a cluster that grows sees the demand
DATA = "REGARD_DATA"


@dataclass
class RayJobs:
    ray: Any  # the module, connected
    needs: Needs

    @property
    def slots(self) -> int:
        return max(self.needs.slots(self.ray.cluster_resources()), 1)

    def run(self, queue: Queue, table: str, device: str) -> Iterator[Event | None]:
        messages = import_extra("ray.util.queue", "--on ray").Queue(actor_options={"num_cpus": 0})
        threads = str(max(1, int(self.needs.cpus)))
        variables = {"OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
        options = {"max_retries": STARTS, "runtime_env": {"env_vars": variables}, **self.needs.as_options()}
        task = self.ray.remote(rows_of_job).options(**options)
        running: dict[Any, Job] = {}
        by_number: dict[int, Job] = {}
        try:
            while True:
                while len(running) < AHEAD * self.slots and (job := queue.take()) is not None:
                    number = len(by_number)
                    by_number[number] = job
                    running[task.remote(job, number, table, device, messages, __version__, os.environ.get(DATA))] = job
                if not running:
                    return
                ready, _ = self.ray.wait(list(running), timeout=REFRESH)
                yield from received(messages, by_number)
                for reference in ready:
                    job = running.pop(reference)
                    yield from self.ended(job, reference, table, device, queue)
                if not ready:
                    yield None
        finally:
            for reference in running:
                self.ray.cancel(reference, force=True)
            messages.shutdown()

    def ended(self, job: Job, reference: Any, table: str, device: str, queue: Queue) -> Iterator[Event]:
        try:
            answer = json.loads(self.ray.get(reference))
        except self.ray.exceptions.RayError as error:  # lost too often, or killed for its memory
            lost = f"lost on the cluster ({type(error).__name__})"
            answer = [complete(job.cell, table, device, {"seed": seed, "error": lost}) for seed in job.seeds]
        if answer is None:
            yield Event("halved", job, queue.halve(job))
        else:
            yield from (Event("row", job, row) for row in answer)
        yield Event("done", job)


def received(messages: Any, by_number: dict[int, Job]) -> Iterator[Event]:
    with suppress(Exception):  # the machine of the queue may be lost, and with it notes
        for number, kind, content in messages.get_nowait_batch(messages.qsize()):
            yield Event(kind, by_number[number], content)


def rows_of_job(job: Job, number: int, table: str, device: str, messages: Any, version: str, data: str | None) -> str:
    """In a worker of the cluster: the rows as JSON, or null if the seeds do not fit into memory together."""
    if data is not None:
        os.environ.setdefault(DATA, data)
    send = partial(put, messages, number)
    send("begun", None)
    rows: list[Row] = []
    try:
        check_version(version)
        for row in run_job(job, table, Context(device, Silent()), send):
            rows.append(row)
    except TooManySeeds:
        return "null"
    except BrokenWorker:
        pass  # its rows say why
    return json.dumps(rows)


def put(messages: Any, number: int, kind: str, content: Any) -> None:
    with suppress(Exception):
        messages.put_nowait((number, kind, content))
