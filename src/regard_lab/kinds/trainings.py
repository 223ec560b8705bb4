"""A model trained once a seed: on a CPU one after the other, on CUDA all together (`training/fit_stacked`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.config import Config
from regard.errors import InputError
from regard.recording import Recorder
from regard_lab.running.too_many import TooMany

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard.training.fit_stacked import Shelf


class Training(NamedTuple):
    result: Trained | InputError
    facts: dict[str, Any]  # of a row: seed, seconds, and how many seeds learned together


def trainings(
    config: Config, parts: Parts, seeds: Sequence[int], device: str, recorder: Recorder
) -> Iterator[Training]:
    # what is recorded along training is one model's, and so is a λ that is tried out: such seeds learn one after the other;
    # so do those of a pretrained encoder, which fills a GPU by itself
    one_by_one = config.training.record != "no" or config.model.is_scale_open or config.model.reads_pieces
    yield from (together if device.startswith("cuda") and not one_by_one else alone)(config, parts, seeds, recorder)


def alone(config: Config, parts: Parts, seeds: Sequence[int], recorder: Recorder) -> Iterator[Training]:
    from regard.training.fit import Run, fit

    for seed in seeds:
        begun = time.perf_counter()
        result: Trained | InputError
        try:
            result = fit(config.override({"seed": seed}), parts, Run(recorder))
        except InputError as error:
            result = error
        yield Training(result, {"seed": seed, "seconds": time.perf_counter() - begun})


def together(config: Config, parts: Parts, seeds: Sequence[int], recorder: Recorder) -> Iterator[Training]:
    import torch

    from regard.training.fit_stacked import fit_stacked

    begun = time.perf_counter()
    try:
        results = fit_stacked(config, parts, seeds, recorder, kept_texts())
    except torch.OutOfMemoryError as error:
        raise TooMany from error
    share = (time.perf_counter() - begun) / len(seeds)
    for seed, result in zip(seeds, results, strict=True):
        yield Training(result, {"seed": seed, "seconds": share, "stacked": len(seeds)})


def placed(training: Training, device: str) -> Training:
    """The model on the device that it is measured on: seeds that learned together come back on the CPU."""
    trained = training.result
    if device != "cpu" and not isinstance(trained, InputError):
        trained.device = device
        trained.model.to(device)
    return training


@cache
def kept_texts() -> Shelf:
    """What the cells of a process have in common, one after the other."""
    from regard.training.fit_stacked import Shelf

    return Shelf()
