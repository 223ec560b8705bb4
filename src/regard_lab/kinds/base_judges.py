"""Base models as judges: trained once for a corpus and seed, and kept for all methods that a process then measures.

A judge has the options of the method that it judges, but for the pooling (max over an LSTM's states, BERT's [CLS]), maybe a
dropout and a rate of its own, and what belongs to a bottleneck or makes the head deeper. It has the method's seed, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from regard.config import Config
from regard.errors import InputError
from regard_lab.kinds.train import placed, trainings
from regard_lab.rows import Options
from regard_lab.tables.context import Context, Judges

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

NOT_A_JUDGES = ("beta", "rounds", "phase_epochs", "compressor_lr", "head_hidden")


def judge_options(options: Options, own: Options) -> Options:
    """`own` says the judge's pooling, and maybe a dropout and a rate."""
    kept = {name: value for name, value in options.items() if name not in NOT_A_JUDGES}
    given = {name: own[f"judge_{name}"] for name in ("dropout", "lr") if f"judge_{name}" in own}
    return {**kept, "pooling": own["judge"], **given}


def judges_of(cell: Cell, config: Config, prepared: Prepared, context: Context) -> Judges:
    """The judges of these texts and options; those of another corpus are given up."""
    key = json.dumps([cell.corpus.definition(), config.identity_text(), prepared.data], sort_keys=True)
    if key != context.judges.key:
        context.judges = Judges(key)
    return context.judges


def train_judges(judges: Judges, config: Config, prepared: Prepared, seeds: Sequence[int], context: Context) -> None:
    """Those that are missing."""
    missing = [seed for seed in seeds if seed not in judges.trained]
    if missing:
        made = trainings(config, prepared.parts, missing, context)
        judges.trained |= {training.facts["seed"]: placed(training, context.device) for training in made}


def judge_of(judges: Judges, seed: int) -> Trained:
    found = judges.trained[seed].result
    if isinstance(found, InputError):
        raise InputError(f"the judge of seed {seed} could not be trained: {found}")
    return found
