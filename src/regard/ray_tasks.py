"""Tasks on a Ray cluster: what `regard reproduce` and `regard tune` have in common with `--on ray`.

A task that is lost with its machine or process is started again by Ray, and its answer arrives once, however often it was
started. Messages come through a queue meanwhile; losing those loses nothing.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from regard import __version__
from regard.errors import InputError
from regard.extras import import_extra
from regard.ray_cluster import Needs, check_version

STARTS = 5  # times that a task is started again after its machine or process was lost
REFRESH = 1.0  # seconds between updates of the display while nothing ends
ANSWER, LOST = "answer", "lost"  # kinds of events; others are those of messages

Item = TypeVar("Item")
Send = Callable[[str, Any], None]  # (kind, content): a message while a task runs


class TaskEvent(NamedTuple):
    kind: str
    item: Any
    content: Any = None  # the answer; why it was lost; or the content of a message


@dataclass
class RayTasks(Generic[Item]):
    """`function(payload(item), send, *arguments)` in workers of the cluster, for every item."""

    ray: Any  # the module, connected
    needs: Needs
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    payload: Callable[[Item], Any] = lambda item: item
    ahead: int = 1  # tasks handed over for each that can run now
    running: dict[Any, Item] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        return max(self.needs.slots(self.ray.cluster_resources()), 1)

    def run(self, take: Callable[[], Item | None]) -> Iterator[TaskEvent | None]:
        """`take` gives the next item, or None if there is none now. None from time to time, so that displays can be updated."""
        messages = self.message_queue()
        threads = str(max(1, int(self.needs.cpus)))
        variables = {"OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
        options = {"max_retries": STARTS, "runtime_env": {"env_vars": variables}, **self.needs.as_options()}
        task = self.ray.remote(perform).options(**options)
        by_number: dict[int, Item] = {}
        try:
            while True:
                while len(self.running) < self.ahead * self.slots and (item := take()) is not None:
                    number = len(by_number)
                    by_number[number] = item
                    given = (self.function, self.payload(item), number, messages, __version__, *self.arguments)
                    self.running[task.remote(*given)] = item
                if not self.running:
                    return
                ready, _ = self.ray.wait(list(self.running), timeout=REFRESH)
                for event in received(messages, by_number):
                    # not what a task has sent that was cancelled meanwhile
                    if any(event.item is item for item in self.running.values()):
                        yield event
                for reference in ready:
                    if reference in self.running:  # it may have been cancelled meanwhile
                        yield self.ended(self.running.pop(reference), reference)
                if not ready:
                    yield None
        finally:
            for reference in self.running:
                self.ray.cancel(reference, force=True)
            messages.shutdown()

    def message_queue(self) -> Any:
        """On the machine of this process: elsewhere it could be lost, and with it all messages from then on."""
        here = self.ray.get_runtime_context().get_node_id()
        place = import_extra("ray.util.scheduling_strategies", "--on ray").NodeAffinitySchedulingStrategy
        options = {"num_cpus": 0, "scheduling_strategy": place(node_id=here, soft=False)}
        return import_extra("ray.util.queue", "--on ray").Queue(actor_options=options)

    def cancel(self, item: Item) -> None:
        """Its answer is not wanted any more."""
        for reference in [reference for reference, one in self.running.items() if one is item]:
            del self.running[reference]
            self.ray.cancel(reference, force=True)

    def ended(self, item: Item, reference: Any) -> TaskEvent:
        try:
            answer, refusal = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:  # lost too often, or killed for its memory
            return TaskEvent(LOST, item, why_lost(self.ray, error))
        if refusal is not None:
            raise InputError(f"--on ray: {refusal}")
        return TaskEvent(ANSWER, item, answer)


def why_lost(ray: Any, error: Exception) -> str:
    known = {
        "OutOfDiskError": "a disk of the cluster is full",
        "OutOfMemoryError": "it was ended because its machine had no memory left; ask for more with --memory-per-job",
        "NodeDiedError": "its machine was lost",
        "WorkerCrashedError": "its process was lost",
    }
    if isinstance(error, ray.exceptions.RayTaskError):  # no machine was lost: the function itself failed
        cause = getattr(error, "cause", error)
        return f"failed on the cluster ({type(cause).__name__}: {' '.join(str(cause).split())[:300]})"
    reasons = [words for name, words in known.items() if isinstance(error, getattr(ray.exceptions, name, ()))]
    return f"lost on the cluster ({reasons[0] if reasons else type(error).__name__})"


def received(messages: Any, by_number: dict[int, Any]) -> Iterator[TaskEvent]:
    arrived: list[Any] = []
    with suppress(Exception):  # the process of the queue may be lost, and with it messages
        arrived = messages.get_nowait_batch(messages.qsize())
    for number, kind, content in arrived:
        yield TaskEvent(kind, by_number[number], content)


def perform(
    function: Callable[..., Any], payload: Any, number: int, messages: Any, version: str, *arguments: Any
) -> tuple[Any, str | None]:
    """In a worker of the cluster: the answer, or why this machine refuses to work."""
    try:
        check_version(version)
        return function(payload, partial(put, messages, number), *arguments), None
    except InputError as error:
        return None, str(error)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return None, f"{socket.gethostname()}: {error}; free some space, and the same command continues"


def put(messages: Any, number: int, kind: str, content: Any) -> None:
    with suppress(Exception):
        messages.put_nowait((number, kind, content))
