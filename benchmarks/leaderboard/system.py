"""What a system of the leaderboard is: a function that learns from texts with labels, and what a run needs to know about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Texts = Sequence[str]
Options = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """How the options of a tuned system were found."""

    options: Options
    trials: int
    held_out_accuracy: float
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Fitted:
    predict: Callable[[Texts], list[str]]
    save: Callable[[Path], None] | None = None  # into a folder; None: the system cannot tell its size
    search: Search | None = None


Fit = Callable[[Texts, Texts, int], Fitted]  # (texts, labels, seed)


class Diverged(RuntimeError):
    """Training ended without a usable model."""


@dataclass(frozen=True)
class System:
    fit: Fit
    needs: tuple[str, ...] = ()  # packages besides regard
    setting: str = ""  # in words, for the page
    is_random: bool = True  # whether the seed or the order of the texts matters
    trials: int = 0  # of a search for options; 0: not tuned
    is_prepared: Callable[[], bool] = lambda: True
    preparation: str = ""  # what `is_prepared` asks for, in words
    uses_gpu: bool = False  # where there is one
    most_on_cpu: int = 0  # texts; more are only trained on with a GPU. 0: any number
    times_leave_out: str = ""  # what the times of its cells do not contain; such times are in no plot

    @property
    def is_available(self) -> bool:
        return all(find_spec(name) is not None for name in self.needs) and self.is_prepared()

    def takes(self, size: int) -> bool:
        """Whether a cell of this size may run on this machine. Pretrained and recurrent models need a GPU for many texts."""
        return not self.most_on_cpu or 0 < size <= self.most_on_cpu or self.device() != "cpu"

    def device(self) -> str:
        """Where it trains: "cpu", or the name of a GPU."""
        if not self.uses_gpu:
            return "cpu"
        import torch

        return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "cpu"
