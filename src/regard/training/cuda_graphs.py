"""Training steps on CUDA: for each shape of a batch, the step is captured once as a CUDA graph and then replayed.

A step of a small model is thousands of tiny kernels, and launching them from Python takes longer than running them. Batches
are brought to a few shapes (`batch_shapes`), so that shapes recur. The first batch of a shape takes an ordinary step, which
is checked for synchronisation: a model that waits for the GPU cannot be captured.

Random numbers are the same either way: a replayed graph draws from the current state of the generator. Where memory runs
out, the graphs are dropped and ordinary steps follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, optim

from regard.models.trained import to_device
from regard.training.batch_shapes import Shape, shape_of, with_common_shape
from regard.values import Batch

MAX_GRAPHS = 64  # they share memory, but each also holds the list of its kernels


class TrainingStep(Protocol):
    """Trains one model, or several at once, on a batch and returns the loss."""

    @property
    def device(self) -> torch.device: ...
    @property
    def optimizer(self) -> optim.Optimizer: ...
    @property
    def levels(self) -> int: ...

    def __call__(self, batch: Batch) -> Tensor: ...


class GraphPool:
    """Memory for the graphs of all phases of a training, which never run at the same time."""

    def __init__(self) -> None:
        self.keeper: torch.cuda.CUDAGraph | None = None

    def handle(self) -> Any:
        """PyTorch drops a pool with its last graph, so an empty graph keeps it between two phases."""
        if self.keeper is None:
            self.keeper = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.keeper, capture_error_mode="thread_local"):
                torch.zeros(1, device="cuda")
        return self.keeper.pool()

    def release(self) -> None:
        """Give the memory back as soon as the last of its graphs is dropped."""
        self.keeper = None


def make_step(step: TrainingStep, pool: GraphPool | None = None) -> Callable[[Batch], Tensor]:
    """The step through CUDA graphs on a GPU, otherwise unchanged. Steps that never overlap may share a `pool`."""
    return GraphedStep(step, pool) if step.device.type == "cuda" else step


class GraphedStep:
    """Takes batches from the CPU. The next step overwrites the loss that it returns."""

    def __init__(self, step: TrainingStep, pool: GraphPool | None = None):
        self.step, self.pool = step, pool or GraphPool()
        self.graphs: dict[Shape, CapturedStep] = {}
        self.seen: set[Shape] = set()  # shapes of earlier batches
        self.cannot_capture = False

    def __call__(self, batch: Batch) -> Tensor:
        batch = with_common_shape(batch, self.step.levels)
        shape = shape_of(batch)
        if (
            not self.cannot_capture
            and shape in self.seen
            and shape not in self.graphs
            and len(self.graphs) < MAX_GRAPHS
        ):
            try:
                self.graphs[shape] = CapturedStep(self.step, batch, self.pool)
            except torch.OutOfMemoryError:
                self.drop_graphs()
        if shape in self.graphs:
            return self.graphs[shape](batch)
        self.seen.add(shape)
        return self.plain_step(to_device(batch, self.step.device))

    def plain_step(self, batch: Batch) -> Tensor:
        """An ordinary step, checked for synchronisation; again without graphs if memory runs out before weights change."""
        updates: list[bool] = []
        hook = self.step.optimizer.register_step_pre_hook(lambda *_: updates.append(True))
        try:
            with record_synchronisations() as waits:
                loss = self.step(batch)
        except torch.OutOfMemoryError:
            if updates or not self.graphs:
                raise
        else:
            self.cannot_capture = self.cannot_capture or bool(waits)
            return loss
        finally:
            hook.remove()
        self.drop_graphs()
        return self.step(batch)

    def drop_graphs(self) -> None:
        self.cannot_capture = True
        self.step.optimizer.zero_grad(set_to_none=True)
        self.graphs.clear()
        self.pool.release()
        torch.cuda.empty_cache()


class CapturedStep:
    """The graph for one shape. It reads its batch from and writes its loss to tensors with fixed addresses."""

    def __init__(self, step: TrainingStep, batch: Batch, pool: GraphPool):
        self.batch, self.optimizer = to_device(batch, step.device), step.optimizer
        self.graph, handle = torch.cuda.CUDAGraph(), pool.handle()
        counts = [count.clone() for count in self.step_counts()]
        self.optimizer.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(self.graph, pool=handle, capture_error_mode="thread_local"):
                self.loss = step(self.batch)
        except BaseException as error:
            # after a failed capture the generator still waits for its end, and nothing could be drawn from it again
            rng = torch.cuda.default_generators[step.device.index or 0]
            rng.graphsafe_set_state(rng.clone_state())
            if isinstance(error.__context__, torch.OutOfMemoryError):  # the cause, which the failed capture hides
                raise error.__context__ from None
            raise
        finally:
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
    """What differs from batch to batch: ids, mask, labels, weights if there are any, and the rows of groups."""
    groups = [rows for level in batch.groups for rows, _ in level]
    return [value for value in (*batch[:3], batch.weights, *groups) if value is not None]


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
