"""Several processes that train one model together, as torchrun starts them: who they are, and what they tell each other.

Every process reads the same files and draws the same batches. Each computes the gradient of its share of a batch, and the shares
are summed, so a step is that of one process over the whole batch. The first process alone decides, writes and prints.
Messages are JSON or tensors; nothing is unpickled.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError, ReportedError

if TYPE_CHECKING:  # PyTorch takes a second to import
    from torch import Tensor, nn

STOPPED = "another process of the group stopped; the same command with --resume continues after the last saved epoch"
VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # set by torchrun
BUCKET = 1 << 22  # numbers that are sent together, 16 MB: a copy of all gradients of a large model would not fit


class ProcessGroup(NamedTuple):
    """The place of this process in its group. By default a process is alone, and every method returns what it is given."""

    rank: int = 0
    size: int = 1
    local_rank: int | None = None  # among the processes of the same machine
    is_joined: bool = False  # whether torchrun started it, perhaps as the only one

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def share_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of a batch or corpus that this process reads: all of them if there are fewer rows than processes.

        Rows of a batch are sorted by length, so taking every n-th gives all processes equally much to do.
        """
        return rows[self.rank :: self.size] if self.splits(len(rows)) else rows

    def splits(self, rows: int) -> bool:
        """Whether each process reads other rows."""
        return 1 < self.size <= rows

    def weight_of(self, share: int, rows: int) -> float:
        """By how much the mean over its share counts in the mean over all rows."""
        return share / rows if self.splits(rows) else 1 / self.size

    def add_gradients(self, model: nn.Module) -> None:
        """Replace every gradient by its sum over the processes."""
        if not self.is_joined:
            return
        import torch

        gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
        for bucket in buckets(gradients):
            flat = torch.cat([gradient.flatten() for gradient in bucket])
            self.add(flat)
            for gradient, total in zip(bucket, flat.split([one.numel() for one in bucket]), strict=True):
                gradient.copy_(total.view_as(gradient))

    def add(self, values: Tensor) -> Tensor:
        """Replace a tensor by its sum over the processes, and return it."""
        if self.is_joined:
            from torch import distributed

            with together():
                distributed.all_reduce(values)
        return values

    def add_array(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the processes."""
        if not self.is_joined:
            return values
        import torch

        result: NDArray[np.float64] = self.add(torch.from_numpy(values.copy())).numpy()
        return result

    def start_from_first(self, model: nn.Module) -> None:
        """Copy the weights of the first process to all others: another machine may draw or compute other last digits."""
        if self.is_joined:
            from torch import distributed

            with together():
                for value in model.state_dict().values():
                    distributed.broadcast(value, 0)

    def from_first(self, decide: Callable[[], Any]) -> Any:
        """What the function returns in the first process, in all processes; the same for an InputError that it raises."""
        if not self.is_joined:
            return decide()
        message: dict[str, Any] = {}
        if self.is_first:
            try:
                message["value"] = decide()
            except InputError as error:
                raise self.refused(error) from None
        message = self.gathered(message)[0]
        if "error" in message:
            raise InputError(message["error"])
        return message["value"]

    def refused(self, error: InputError) -> InputError:
        """The error, after the first process has told it to the others, which wait in `from_first`."""
        if self.is_joined:
            self.gathered({"error": str(error)})
        return error

    def finish_together(self) -> None:
        """Wait until all processes are here: one that leaves early would look lost to the others."""
        self.gathered(None)

    def gathered(self, value: Any) -> list[Any]:
        """The values of all processes, in their order; each is something that JSON can hold."""
        if not self.is_joined:
            return [value]
        import torch
        from torch import distributed

        data = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
        lengths = torch.zeros(self.size, dtype=torch.int64)
        lengths[self.rank] = len(data)
        self.add(lengths)
        own = torch.zeros(int(lengths.max()), dtype=torch.uint8)
        own[: len(data)] = torch.from_numpy(data.copy())
        parts = [torch.empty_like(own) for _ in range(self.size)]
        with together():
            distributed.all_gather(parts, own)
        pairs = zip(parts, lengths.tolist(), strict=True)
        return [json.loads(bytes(part[:length].numpy())) for part, length in pairs]


ALONE = ProcessGroup()


def buckets(gradients: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """The gradients in their order, in lists of about `BUCKET` numbers and one type."""
    bucket: list[Tensor] = []
    for gradient in gradients:
        full = sum(one.numel() for one in bucket) + gradient.numel() > BUCKET
        if bucket and (full or bucket[0].dtype != gradient.dtype):
            yield bucket
            bucket = []
        bucket.append(gradient)
    if bucket:
        yield bucket


@contextmanager
def together() -> Iterator[None]:
    """An exchange with the other processes: the error of a lost connection becomes a sentence."""
    try:
        yield
    except RuntimeError as error:  # a torch.distributed.DistError, or plain from gloo
        if "memory" in str(error).lower():
            raise
        raise InputError(STOPPED) from None


def is_started_by_torchrun() -> bool:
    return all(name in os.environ for name in VARIABLES)


@contextmanager
def joined() -> Iterator[ProcessGroup]:
    """Join the group that torchrun started, if it did, for the time of a command. An error is reported by one process."""
    if not is_started_by_torchrun():
        yield ALONE
        return
    import torch
    from torch import distributed

    local = int(os.environ.get("LOCAL_RANK", "0"))
    if torch.cuda.is_available():
        torch.cuda.set_device(local % torch.cuda.device_count())
    distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    # torchrun ends the other processes with SIGTERM, which would stop them without a word
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield ProcessGroup(distributed.get_rank(), distributed.get_world_size(), local, is_joined=True)
    except InputError as error:
        if not is_first_report(str(error)):
            raise ReportedError(str(error)) from None
        raise
    except KeyboardInterrupt:  # all processes get it
        if not is_first_report("stopped"):
            raise ReportedError("stopped") from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
        distributed.destroy_process_group()


def leave(group: ProcessGroup) -> None:
    """End a process of a group at once: threads of PyTorch sometimes abort an ordinary exit, which looks like a failure."""
    if group.is_joined:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def stop(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise InputError(STOPPED)


def is_first_report(sentence: str) -> bool:
    """Whether no other process has reported this sentence. torchrun itself keeps count, so the first process may be gone."""
    from torch.distributed import distributed_c10d

    try:
        store = distributed_c10d._get_default_store()
        others = store.add("reported", 1) - 1
        same = store.add(f"reported/{sha256(sentence.encode()).hexdigest()}", 1) - 1
        return not same and not (
            sentence == STOPPED and others
        )  # of an error that stopped the others, its sentence is enough
    except RuntimeError:  # torchrun is gone too
        return True
