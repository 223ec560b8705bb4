"""The interface through which training reports its progress."""

from __future__ import annotations

from typing import Protocol, Self

from regard.run_metrics import EpochRecord


class Recorder(Protocol):
    """Receives the events of a training run, such as a progress bar or a log."""

    def note(self, sentence: str) -> None:
        """Report a decision or finding that the user should know."""

    def enter(self, phase: str) -> None:
        """A named phase begins or resumes; epochs are counted within it. Ordinary training has no phases."""

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        """Epoch `epoch` of `epochs` (the first is 1) begins, with this many steps."""

    def step(self, loss: float | None) -> None:
        """A step was taken; the running loss is passed only now and then."""

    def end(self, record: EpochRecord) -> None:
        """An epoch ended; the record has its loss, dev scores, norms, attention scores and time."""


class Silent:
    """A recorder that ignores everything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def note(self, sentence: str) -> None: ...

    def enter(self, phase: str) -> None: ...

    def begin(self, epoch: int, epochs: int, steps: int) -> None: ...

    def step(self, loss: float | None) -> None: ...

    def end(self, record: EpochRecord) -> None: ...
