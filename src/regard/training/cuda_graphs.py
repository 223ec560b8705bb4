"""Training steps on CUDA: for each shape of a batch, the step is captured once as a CUDA graph and then replayed.

A step of a small model is thousands of tiny kernels, and launching them from Python takes longer than running them. Batches
are padded to a few widths, so that shapes recur. The first batch of a shape takes an ordinary step, which is checked for
synchronisation: a model that waits for the GPU (several levels group their rows by length) cannot be captured.

Random numbers are the same either way: a replayed graph draws from the current state of the generator.
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

MAX_GRAPHS = 64  # they share memory, but each also holds the list of its kernels
MIN_WIDTH = 8
WIDTHS = 8  # per power of two: a batch is padded by at most an eighth, and by a sixteenth on average
STACKED_WIDTHS = 4  # the same for batches of several models, whose graphs take longer to capture


class TrainingStep(Protocol):
    """Trains one model, or several at once, on a batch and returns the loss."""

    @property
    def device(self) -> torch.device: ...
    @property
    def optimizer(self) -> optim.Optimizer: ...
    @property
    def levels(self) -> int: ...

    def __call__(self, batch: Batch) -> Tensor: ...


def make_step(step: TrainingStep) -> Callable[[Batch], Tensor]:
    """The step through CUDA graphs if it can be captured, otherwise unchanged."""
    return GraphedStep(step) if step.device.type == "cuda" and step.levels == 1 else step


class GraphedStep:
    """Takes batches from the CPU. The next step overwrites the loss that it returns."""

    def __init__(self, step: TrainingStep):
        self.step = step
        self.graphs: dict[tuple[int, ...], CapturedStep] = {}
        self.seen: set[tuple[int, ...]] = set()  # shapes of earlier batches
        self.cannot_capture = False

    def __call__(self, batch: Batch) -> Tensor:
        batch = padded(batch, WIDTHS if batch.ids.ndim == 2 else STACKED_WIDTHS)
        shape = tuple(batch.ids.shape)
        if shape in self.graphs:
            return self.graphs[shape](batch)
        if not self.cannot_capture and shape in self.seen and len(self.graphs) < MAX_GRAPHS:
            pool = next(iter(self.graphs.values())).graph.pool() if self.graphs else None
            self.graphs[shape] = CapturedStep(self.step, batch, pool)
            return self.graphs[shape](batch)
        self.seen.add(shape)
        batch = to_device(batch, self.step.device)
        with record_synchronisations() as waits:
            loss = self.step(batch)
        self.cannot_capture = self.cannot_capture or bool(waits)
        return loss


class CapturedStep:
    """The graph for one shape. It reads its batch from and writes its loss to tensors with fixed addresses."""

    def __init__(self, step: TrainingStep, batch: Batch, pool: Any):
        self.batch, self.optimizer = to_device(batch, step.device), step.optimizer
        self.graph = torch.cuda.CUDAGraph()
        counts = [count.clone() for count in self.step_counts()]
        self.optimizer.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(self.graph, pool=pool, capture_error_mode="thread_local"):
                self.loss = step(self.batch)
        except BaseException as error:
            # after a failed capture the generator still waits for its end, and nothing could be drawn from it again
            rng = torch.cuda.default_generators[step.device.index or 0]
            rng.graphsafe_set_state(rng.clone_state())
            if isinstance(error.__context__, torch.OutOfMemoryError):  # the cause, which the failed capture hides
                raise error.__context__ from None
            raise
        self.optimizer.zero_grad(set_to_none=True)  # the next graph uses the memory of the gradients
        for count, before in zip(self.step_counts(), counts, strict=True):
            count.copy_(before)

    def __call__(self, batch: Batch) -> Tensor:
        for target, value in zip(tensors(self.batch), tensors(batch), strict=True):
            target.copy_(value.pin_memory(), non_blocking=True)
        self.graph.replay()
        for count in self.step_counts():
            count += 1
        return self.loss

    def step_counts(self) -> list[Tensor]:
        """The optimiser's step counters on the CPU, which a graph cannot increment."""
        steps = (state.get("step") for state in self.optimizer.state.values())
        return [step for step in steps if isinstance(step, Tensor) and step.device.type == "cpu"]


def tensors(batch: Batch) -> list[Tensor]:
    """What differs from batch to batch: ids, mask, labels, and weights if there are any."""
    return [value for value in (*batch[:3], batch.weights) if value is not None]


def padded(batch: Batch, widths: int = WIDTHS) -> Batch:
    more = padded_width(batch.ids.size(-1), widths) - batch.ids.size(-1)
    return batch._replace(ids=functional.pad(batch.ids, (0, more)), mask=functional.pad(batch.mask, (0, more)))


def padded_width(longest: int, widths: int = WIDTHS) -> int:
    """The width that a batch is padded to: a multiple of 8, and above 8 · `widths`, of 2ⁿ / `widths`, 2ⁿ the power below."""
    step = max(1 << max(longest - 1, 1).bit_length() - 1, MIN_WIDTH * widths) // widths
    return -(-longest // step) * step


@contextmanager
def record_synchronisations() -> Iterator[list[str]]:
    """Collect warnings about operations that make the CPU wait for the GPU."""
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
