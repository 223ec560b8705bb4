"""Base models as judges: trained once for a corpus and seed, and kept for all methods that a process then measures.

A judge has the options of the method that it judges, but for the pooling (max over an LSTM's states, BERT's [CLS]), maybe a
dropout and a rate of its own, and what belongs to a bottleneck or makes the head deeper. It has the method's seed, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.recording import Recorder
from regard_lab.kinds.trainings import Training, placed, trainings

if TYPE_CHECKING:
    from regard.faithfulness.judged import Judged
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

NOT_A_JUDGES = ("beta", "rounds", "phase_epochs", "compressor_lr", "head_hidden")


@dataclass
class Bench:
    """The judges of one corpus by seed, and what they said of words by chance."""

    key: str = ""
    trained: dict[int, Training] = field(default_factory=dict)
    chance: dict[int, Judged] = field(default_factory=dict)


_BENCH = Bench()


def judge_options(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """`own` says the judge's pooling, and maybe a dropout and a rate."""
    kept = {name: value for name, value in options.items() if name not in NOT_A_JUDGES}
    given = {name: own[f"judge_{name}"] for name in ("dropout", "lr") if f"judge_{name}" in own}
    return {**kept, "pooling": own["judge"], **given}


def bench_of(cell: Cell, config: Config, prepared: Prepared) -> Bench:
    """Where the judges of these texts and options stand; those of another corpus are given up."""
    global _BENCH
    key = json.dumps([cell.corpus.definition(), config.identity_text(), prepared.data], sort_keys=True)
    if key != _BENCH.key:
        _BENCH = Bench(key)
    return _BENCH


def train_judges(
    bench: Bench, config: Config, prepared: Prepared, seeds: Sequence[int], device: str, recorder: Recorder
) -> None:
    """Those that are missing."""
    missing = [seed for seed in seeds if seed not in bench.trained]
    if missing:
        how = trainings(config, prepared.parts, missing, device, recorder)
        bench.trained |= {training.facts["seed"]: placed(training, device) for training in how}


def judge_of(bench: Bench, seed: int) -> Trained:
    found = bench.trained[seed].result
    if isinstance(found, InputError):
        raise InputError(f"the judge of seed {seed} could not be trained: {found}")
    return found
