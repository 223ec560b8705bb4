"""Training steps on CUDA, each shape of batch captured once as a CUDA graph and replayed from then on.

A step of a small model is thousands of tiny kernels, and starting them from Python takes longer than running them. Batches
are padded to a few widths so that shapes come again. The first batch of a shape is learned from in the plain way, and
watched: a model that waits for the GPU (several levels group their rows by length) cannot be captured, and stays plain.

Chance is the same either way: a graph takes its random numbers from where the generator stands when it is replayed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, optim
from torch.nn import functional

from regard.models.trained import to_device
from regard.values import Batch

MOST = 64  # graphs at once; their memory is shared, but each also holds the list of its kernels
NARROWEST = 8
PARTS = 8  # widths between two powers of two: a text is padded by an eighth at most, and by a sixteenth on average
FEWER = 4  # such widths of batches of several models, whose graphs take longer to capture


class Step(Protocol):
    """Learns from a batch and gives its loss: of one model, or of several at once."""

    @property
    def device(self) -> torch.device: ...
    @property
    def optimizer(self) -> optim.Optimizer: ...
    @property
    def levels(self) -> int: ...

    def __call__(self, batch: Batch) -> Tensor: ...


def make_step(step: Step) -> Callable[[Batch], Tensor]:
    """The step as it is, or where it can be captured, through graphs."""
    return GraphedStep(step) if step.device.type == "cuda" and step.levels == 1 else step


class GraphedStep:
    """Takes batches from the CPU. What it returns is overwritten by the next step."""

    def __init__(self, step: Step):
        self.step = step
        self.graphs: dict[tuple[int, ...], CapturedStep] = {}
        self.met: set[tuple[int, ...]] = set()
        self.plain = False

    def __call__(self, batch: Batch) -> Tensor:
        batch = widened(batch, PARTS if batch.ids.ndim == 2 else FEWER)
        shape = tuple(batch.ids.shape)
        if shape in self.graphs:
            return self.graphs[shape](batch)
        if not self.plain and shape in self.met and len(self.graphs) < MOST:
            pool = next(iter(self.graphs.values())).graph.pool() if self.graphs else None
            self.graphs[shape] = CapturedStep(self.step, batch, pool)
            return self.graphs[shape](batch)
        self.met.add(shape)
        batch = to_device(batch, self.step.device)
        with watched() as waits:
            loss = self.step(batch)
        self.plain = self.plain or bool(waits)
        return loss


class CapturedStep:
    """One shape. The graph reads its batch from, and leaves its loss in, tensors that stay where they are."""

    def __init__(self, step: Step, batch: Batch, pool: Any):
        self.batch, self.optimizer = to_device(batch, step.device), step.optimizer
        self.graph = torch.cuda.CUDAGraph()
        counts = [count.clone() for count in self.counts()]
        self.optimizer.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(self.graph, pool=pool, capture_error_mode="thread_local"):
                self.loss = step(self.batch)
        except BaseException as error:
            # a capture that broke off leaves the generator waiting for its end, and nobody could draw from it again
            chance = torch.cuda.default_generators[step.device.index or 0]
            chance.graphsafe_set_state(chance.clone_state())
            if isinstance(error.__context__, torch.OutOfMemoryError):  # what ended it, hidden by how it ended
                raise error.__context__ from None
            raise
        self.optimizer.zero_grad(set_to_none=True)  # the gradients' memory is the next graph's
        for count, before in zip(self.counts(), counts, strict=True):
            count.copy_(before)

    def __call__(self, batch: Batch) -> Tensor:
        for own, given in zip(self.batch[:3], batch[:3], strict=True):
            assert own is not None
            assert given is not None
            own.copy_(given.pin_memory(), non_blocking=True)
        self.graph.replay()
        for count in self.counts():
            count += 1
        return self.loss

    def counts(self) -> list[Tensor]:
        """Numbers of steps that an optimiser keeps on the CPU, where no graph can count them."""
        steps = (state.get("step") for state in self.optimizer.state.values())
        return [step for step in steps if isinstance(step, Tensor) and step.device.type == "cpu"]


def widened(batch: Batch, parts: int = PARTS) -> Batch:
    more = width(batch.ids.size(-1), parts) - batch.ids.size(-1)
    return batch._replace(ids=functional.pad(batch.ids, (0, more)), mask=functional.pad(batch.mask, (0, more)))


def width(longest: int, parts: int = PARTS) -> int:
    """The width that a batch is padded to: multiples of 8, from 8 · `parts` on of that part of the power of two below."""
    step = max(1 << max(longest - 1, 1).bit_length() - 1, NARROWEST * parts) // parts
    return -(-longest // step) * step


@contextmanager
def watched() -> Iterator[list[str]]:
    """Gathers what made the CPU wait for the GPU."""
    waits: list[str] = []
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield waits
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for warning in caught:
        if "synchronizing CUDA operation" in str(warning.message):
            waits.append(str(warning.message))
        elif "Synchronization debug mode" not in str(warning.message):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
