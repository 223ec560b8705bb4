"""Partitions scored by Ray actors, each of which loads the model once.

Actors and not Ray Data, because a partition that is a file of its own can be found again: Ray Data writes one file per block,
named after the execution, so that a second start adds a second copy of every row. Nothing passes through Ray's object store but
the model and counts. A partition whose actor is lost is given to another one; scoring it twice leaves one file.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

from regard import __version__
from regard.errors import InputError
from regard.ray_cluster import Needs, check_version
from regard.scoring.job import Job, Outcome, PartitionScorer
from regard.scoring.locations import WritingFailed
from regard.scoring.model_files import ModelFiles, load_there
from regard.scoring.parquet_files import Counts
from regard.scoring.partitions import Partition

STARTS = 5  # times that a partition, or an actor, is started again after it was lost
REFRESH = 1.0  # seconds between updates of the display while nothing ends
COLOUR = re.compile(r"\x1b\[\d+m")
ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
PATIENCE = 30  # updates after which the user is told what is being waited for


class PartitionActor:
    """In a worker of the cluster. Problems are returned as sentences: an exception would travel with its stack."""

    def __init__(self) -> None:
        self.score: PartitionScorer | None = None

    def load(self, version: str, job: Job, model: ModelFiles | str, device: str) -> str | None:
        try:
            check_version(version)
            self.score = PartitionScorer(job, load_there(model, device))
        except InputError as error:
            return str(error)
        return None

    def run(self, partition: Partition) -> tuple[Counts | None, str, bool]:
        """Counts, or what went wrong and whether another machine may do better."""
        assert self.score is not None
        try:
            return self.score(partition), "", False
        except InputError as error:
            return None, str(error), isinstance(error, WritingFailed)


class RayActors:
    def __init__(
        self,
        ray: Any,
        needs: Needs,
        actors: tuple[int, int],
        note: Callable[[str], None],
        job: Job,
        model: Any,
        device: str,
    ) -> None:
        self.ray, self.note = ray, note
        self.least, self.most = actors
        self.remote = ray.remote(PartitionActor).options(max_restarts=0, **needs.as_options())
        self.arguments = (__version__, job, ray.put(model), device)
        self.starting: dict[Any, Any] = {}  # reference -> actor
        self.busy: dict[Any, tuple[Any, Partition]] = {}
        self.idle: list[Any] = []
        self.lost_starts = self.lost_in_a_row = 0
        self.lost: Counter[str] = Counter()  # starts per partition that came to nothing
        self.queue: deque[Partition] = deque()

    def __call__(self, partitions: list[Partition]) -> Iterator[Outcome | None]:
        self.queue.extend(partitions)
        waited = 0
        try:
            while self.queue or self.busy:
                self.start_actors()
                while self.idle and self.queue:
                    actor, partition = self.idle.pop(), self.queue.popleft()
                    self.busy[actor.run.remote(partition)] = actor, partition
                waiting = [*self.busy, *self.starting]
                ready, _ = self.ray.wait(waiting, num_returns=1, timeout=REFRESH)
                for reference in ready:
                    if reference in self.starting:
                        self.started(reference)
                    else:
                        yield from self.ended(reference)
                waited = 0 if ready or self.busy else waited + 1
                if waited == PATIENCE:
                    self.note("still waiting for an actor to start: the cluster may be occupied")
                if not ready:
                    yield None
        finally:
            for actor in [*self.idle, *self.starting.values(), *(actor for actor, _ in self.busy.values())]:
                self.ray.kill(actor)

    def start_actors(self) -> None:
        """The least number at once, then one at a time while partitions wait: a cluster that grows sees the demand."""
        while True:
            count = len(self.starting) + len(self.busy) + len(self.idle)
            left = len(self.queue) + len(self.busy)
            wanted = count < min(self.least, left)
            more = count < min(self.most, left) and not self.starting and not self.idle and bool(self.queue)
            if not (wanted or more):
                return
            actor = self.remote.remote()
            self.starting[actor.load.remote(*self.arguments)] = actor

    def started(self, reference: Any) -> None:
        actor = self.starting.pop(reference)
        try:
            problem = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            self.ray.kill(actor)
            self.lost_starts += 1
            if self.lost_starts > STARTS:
                raise InputError(
                    f"--on ray: no actor could be started ({short(error)}); regard {__version__} with its packages "
                    "must be installed on every machine of the cluster"
                ) from None
            return
        if problem is not None:
            raise InputError(f"--on ray: {problem}")
        self.idle.append(actor)

    def ended(self, reference: Any) -> Iterator[Outcome]:
        actor, partition = self.busy.pop(reference)
        elsewhere = True
        try:
            counts, reason, elsewhere = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:  # its machine or process is lost, or it was killed for its memory
            counts, reason = None, f"{partition.source.path}: lost on the cluster ({short(error)})"
        if counts is not None or not elsewhere:
            self.idle.append(actor)
            self.lost_in_a_row = 0
            yield Outcome(partition, counts, reason)
            return
        self.ray.kill(actor)  # one whose disk is full would fail at everything that is left, and fast
        self.lost[partition.target] += 1
        self.lost_in_a_row += 1
        if (
            self.lost_in_a_row > STARTS * self.most
        ):  # nothing succeeds any more: a disk that all share, or the whole cluster
            raise InputError(reason)
        if self.lost[partition.target] > STARTS:
            yield Outcome(partition, None, reason)
        else:
            self.queue.appendleft(partition)


def short(error: Exception) -> str:
    """Of several lines with a stack, the one that says what happened."""
    lines = [line.strip() for line in COLOUR.sub("", str(error)).splitlines() if line.strip()]
    named = [line for line in lines if ERROR.match(line)]
    return f"{type(error).__name__}: {(named or lines or [''])[-1 if named else 0][:200]}"
