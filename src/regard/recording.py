"""What somebody who watches a training run must answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self


class Recorder(Protocol):
    def note(self, sentence: str) -> None:
        """Something was decided or found that the user should know."""

    def enter(self, phase: str) -> None:
        """A phase with a name begins, or is gone on with: epochs are its own from here. Ordinary training has none."""

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        """An epoch (the first is 1) of this many steps begins."""

    def step(self, loss: float | None) -> None:
        """A step was taken; the running loss, now and then."""

    def end(self, record: Mapping[str, Any]) -> None:
        """An epoch ended: its loss, dev scores, norms, attention scores and time."""


class Silent:
    """Watches and says nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def note(self, sentence: str) -> None: ...

    def enter(self, phase: str) -> None: ...

    def begin(self, epoch: int, epochs: int, steps: int) -> None: ...

    def step(self, loss: float | None) -> None: ...

    def end(self, record: Mapping[str, Any]) -> None: ...
