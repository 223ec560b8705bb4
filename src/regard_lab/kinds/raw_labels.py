"""The kind "raw_labels": regression on normalised labels, as regard does it, or on raw labels (APLN, footnote 8).

regard has no option for raw labels; here the task is replaced, and everything else is done by `fit_torch`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Recorder
from regard_lab.kinds import train
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import training_config

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

KEYS: Options = {"normalised": bool}
OF_MEAN = ("rmse_of_mean", "below_mean")  # a task with raw labels does not know the training mean


def check(cell: Cell) -> None:
    if cell.options.get("task") != "regression":
        raise InputError(f"{cell.name}: task: expected 'regression', got {cell.options.get('task')!r}")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    options = cell.without(KEYS).options
    for seed in seeds:
        start = time.perf_counter()
        config = training_config(options, device=context.device, seed=seed)
        try:
            row = train.measured(
                fit(config, prepared, cell.options.get("normalised", True), context.recorder), prepared
            )
        except InputError as error:
            yield {"seed": seed, "error": str(error), "seconds": time.perf_counter() - start}
            continue
        row["values"] = {name: value for name, value in row["values"].items() if name not in OF_MEAN}
        yield {"seed": seed, "seconds": time.perf_counter() - start, **row}


def fit(config: Config, prepared: Prepared, normalised: bool, recorder: Recorder) -> Trained:
    from regard.data.labels import Labels
    from regard.models.tasks import Regression, encoded
    from regard.training.fit import Run
    from regard.training.fit_torch import prepare_torch

    inputs = prepare_torch(config, prepared.parts, recorder)
    if not normalised:
        task = Regression(0.0, 1.0)
        inputs = replace(inputs, task=task, truth=encoded(task, Labels.of(inputs.test or ()), inputs.names[2]))
    return inputs.fit(Run(recorder))
