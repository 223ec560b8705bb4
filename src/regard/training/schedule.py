"""The phases of a training run, as data: which weights learn, by which head, with which penalties, for how long.

Ordinary training is one phase. Purified attention (VAT) begins with the plain attention model, round 0, and then goes
through rounds of two phases: the learner, in which everything but the attention learns, and the compressor, in which
nothing but the attention, the bottleneck behind it and its own head do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from regard.config import Training
from regard.models.classifier import COMPRESSED, LABEL


@dataclass(frozen=True)
class Phase:
    """Names are those of weights in the model; a pattern's * stands for anything. Phases of one name share an optimiser."""

    name: str = "training"
    trains: tuple[str, ...] = ("*",)
    freezes: tuple[str, ...] = ()  # of what `trains` matches
    head: str = LABEL  # whose loss is learned from
    terms: Mapping[str, float] = field(default_factory=dict)  # the factors of penalties, by their names
    epochs: int = 1
    patience: int = 0  # epochs without a better dev score that end it; 0: none do
    lr: float | None = None  # in the place of the run's
    remedy: str = "lr"  # the options that are too large where it diverges
    counts: bool = True  # whether its epochs may be the best of the run
    afresh: bool = False  # whether it goes on from the best weights so far, and the best is looked for anew
    round: int | None = None
    rounds: int = 0

    def learns(self, name: str) -> bool:
        return matches(name, self.trains) and not matches(name, self.freezes)

    @property
    def title(self) -> str:
        """For people; nothing where there is only one phase."""
        return "" if self.round is None else f"round {self.round}/{self.rounds} · {self.name}"

    @property
    def facts(self) -> dict[str, Any]:
        """What each row of a run's history says of its phase."""
        return {} if self.round is None else {"round": self.round, "phase": self.name}


def comes_again(phases: Sequence[Phase], number: int) -> bool:
    """Whether a later phase has its name."""
    return phases[number].name in {later.name for later in phases[number + 1 :]}


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def schedule(config: Training, levels: int) -> list[Phase]:
    """The phases of a run with these options, over a model of so many levels."""
    whole = ordinary(config)
    if config.rounds is None:
        return [whole]
    attention = f"levels.{levels - 1}.pooling.*"  # of the top level: what lies below it is its encoder
    bottleneck = (f"levels.{levels - 1}.pooling.mean.*", f"levels.{levels - 1}.pooling.deviation.*", "other_heads.*")
    rounds, each, beta = config.rounds, config.phase_epochs or 1, config.beta or 0.0
    phases = [
        Phase("attention", freezes=bottleneck, epochs=whole.epochs, patience=whole.patience, round=0, rounds=rounds)
    ]
    for number in range(1, rounds + 1):
        told: dict[str, Any] = {"epochs": each, "round": number, "rounds": rounds}
        phases += [
            Phase("learner", freezes=(attention, "other_heads.*"), counts=False, afresh=number == 1, **told),
            Phase(
                "compressor",
                (attention, "other_heads.*"),
                head=COMPRESSED,
                terms={"kl": beta},
                lr=config.compressor_lr,
                remedy="compressor_lr or beta",
                **told,
            ),
        ]
    return phases


def ordinary(config: Training) -> Phase:
    """Everything learns, until it is over."""
    terms = {"vtw": config.vtw, "vtw_mapped": config.vtw_mapped}
    return Phase(terms=terms, epochs=config.epochs or 1, patience=config.patience or 0)
