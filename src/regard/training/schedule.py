"""The phases of a training run as data: which weights are trained, with which head and penalties, for how long.

Ordinary training is one phase. Purified attention (VAT) starts with the plain attention model, round 0, followed by
rounds of two phases: the learner, which trains everything but the attention, and the compressor, which trains only the
attention, the bottleneck behind it and the bottleneck's head.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial

from regard.config import Training
from regard.models.tasks import COMPRESSED, LABEL
from regard.run_metrics import PhaseRecord


@dataclass(frozen=True)
class Phase:
    """Patterns match names of weights in the model; * matches anything. Phases with the same name share an optimiser."""

    name: str = "training"
    trains: tuple[str, ...] = ("*",)
    freezes: tuple[str, ...] = ()  # among those that `trains` matches
    head: str = LABEL  # the head whose loss is minimised
    terms: Mapping[str, float] = field(default_factory=dict)  # factors of penalties, by name
    epochs: int = 1
    patience: int = 0  # epochs without a better dev score that end it; 0: no limit
    lr: float | None = None  # instead of the learning rate of the run
    remedy: str = "lr"  # the options to make smaller if it diverges
    may_be_best: bool = True  # whether the best epoch of the run may be one of its epochs
    starts_from_best: bool = False  # whether it starts from the best weights so far, and forgets which epoch that was
    round: int | None = None
    rounds: int = 0

    def updates(self, name: str) -> bool:
        """Whether the weight of this name is trained."""
        return matches(name, self.trains) and not matches(name, self.freezes)

    @property
    def title(self) -> str:
        """Shown to the user; empty if there is only one phase."""
        return "" if self.round is None else f"round {self.round}/{self.rounds} · {self.name}"

    @property
    def facts(self) -> PhaseRecord:
        """The entries of the phase in each record of the history."""
        return {} if self.round is None else {"round": self.round, "phase": self.name}


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def schedule(config: Training, levels: int) -> list[Phase]:
    """The phases of a run with these options, for a model with this number of levels."""
    whole = ordinary(config)
    if config.rounds is None:
        return [whole]
    attention = f"levels.{levels - 1}.pooling.*"  # of the top level
    bottleneck = (f"levels.{levels - 1}.pooling.mean.*", f"levels.{levels - 1}.pooling.deviation.*", "other_heads.*")
    rounds = config.rounds
    phases = [
        Phase("attention", freezes=bottleneck, epochs=whole.epochs, patience=whole.patience, round=0, rounds=rounds)
    ]
    for number in range(1, rounds + 1):
        phase = partial(Phase, epochs=config.phase_epochs, round=number, rounds=rounds)
        phases += [
            phase(
                "learner",
                freezes=(attention, "other_heads.*"),
                may_be_best=False,
                starts_from_best=number == 1,
            ),
            phase(
                "compressor",
                (attention, "other_heads.*"),
                head=COMPRESSED,
                terms={"kl": config.beta},
                lr=config.compressor_lr,
                remedy="compressor_lr or beta",
            ),
        ]
    return phases


def ordinary(config: Training) -> Phase:
    """All weights are trained in one phase."""
    terms = {"vtw": config.vtw, "vtw_mapped": config.vtw_mapped}
    return Phase(terms=terms, epochs=config.epochs, patience=config.patience)
