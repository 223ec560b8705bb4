"""The epochs of a training run, and the rounds of purified attention (VAT), as metrics.json holds them.

Round 0 is plain attention. Each round counts with its best epoch, as training compares them, among those that could have
been kept: in later rounds those of the compressor, the last phase of a round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Scores = dict[str, float]
ENDS = ("attention", "compressor")  # phases whose epochs may be the best of their round


class Spread(NamedTuple):
    mean: float
    std: float = 0.0


@dataclass(frozen=True)
class Epoch:
    number: float
    loss: float | None
    phase: str | None  # None: training has no phases
    round: int | None
    scores: dict[str, Scores]  # by split: train, dev, test
    norms: dict[str, Spread]  # learned norm p, by level
    attention: dict[str, Spread]  # attention scores, by level
    compressed: Scores  # scores of the head behind the bottleneck
    divergence: float | None  # KL

    @classmethod
    def of(cls, record: Mapping[str, object]) -> Epoch | None:
        """None for a record without a number."""
        number = finite(record.get("epoch"))
        if number is None:
            return None
        phase, round_number = record.get("phase"), record.get("round")
        return cls(
            number,
            finite(record.get("loss")),
            None if phase is None else str(phase),
            round_number if isinstance(round_number, int) else None,
            {split: numbers(record[split]) for split in ("train", "dev", "test") if split in record},
            spreads(record.get("norms")),
            spreads(record.get("scores")),
            numbers(mapping(record.get("heads")).get("compressed")),
            finite(mapping(record.get("terms")).get("kl")),
        )


def history(records: Iterable[Mapping[str, object]]) -> tuple[Epoch, ...]:
    return tuple(epoch for epoch in map(Epoch.of, records) if epoch is not None)


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def finite(value: object) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None  # type: ignore[arg-type]


def numbers(value: object) -> Scores:
    return {name: known for name, one in mapping(value).items() if (known := finite(one)) is not None}


def spreads(value: object) -> dict[str, Spread]:
    """Of means with deviations, or of plain numbers."""
    spread: dict[str, Spread] = {}
    for name, one in mapping(value).items():
        mean = finite(mapping(one).get("mean") if isinstance(one, Mapping) else one)
        if mean is not None:
            spread[name] = Spread(mean, finite(mapping(one).get("std")) or 0.0)
    return spread


class Round(NamedTuple):
    number: int
    epoch: int
    learner: float  # score of the head that makes the prediction
    compressor: float  # score of the head that reads through the channel; untrained in round 0
    divergence: float  # of that channel; also untrained in round 0


class Rounds(NamedTuple):
    listed: list[Round]
    kept: Round
    measure: str  # what the scores are: accuracy or rmse
    held_out: bool  # whether they are measured on dev texts; otherwise on training texts

    @property
    def texts(self) -> str:
        return "dev texts" if self.held_out else "training texts"


def rounds(epochs: Sequence[Epoch], best_epoch: int | None) -> Rounds | None:
    """None if training had no rounds."""
    ended: dict[int, list[Epoch]] = {}
    for epoch in epochs:
        if epoch.phase in ENDS and epoch.round is not None:
            ended.setdefault(epoch.round, []).append(epoch)
    if len(ended) < 2:
        return None
    split = "dev" if "dev" in ended[0][0].scores else "train"
    measure = main_measure(ended[0][0].scores[split])
    chosen = [min(epochs, key=selection_key) if split == "dev" else epochs[-1] for _, epochs in sorted(ended.items())]
    listed = [
        Round(
            one.round or 0, int(one.number), one.scores[split][measure], one.compressed[measure], one.divergence or 0.0
        )
        for one in chosen
    ]
    kept = next(one for one in listed if one.epoch == best_epoch)
    return Rounds(listed, kept, measure, split == "dev")


def selection_key(epoch: Epoch) -> tuple[float, float]:
    """What training compares epochs by, smaller is better: accuracy (or micro F1) and, where equal, log loss; or RMSE."""
    scores = epoch.scores["dev"]
    measure = main_measure(scores)
    return (scores["rmse"], 0.0) if measure == "rmse" else (-scores[measure], scores["log_loss"])


def main_measure(scores: Mapping[str, float]) -> str:
    """The measure that stands for all: accuracy, micro F1 of several labels per text, or RMSE."""
    return next(name for name in ("accuracy", "micro_f1", "rmse") if name in scores)
