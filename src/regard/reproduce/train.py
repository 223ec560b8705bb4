"""The kind "train": a model is trained on a corpus, chosen by dev and scored on test, once a seed.

On CUDA all seeds of a cell learn together (`training/fit_stacked`); where memory runs out, half as many at a time, in
another process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.recording import Recorder
from regard.reproduce.too_many import TooMany

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard.reproduce.corpora import Prepared
    from regard.reproduce.tables import Cell
    from regard.training.fit_stacked import Shelf

FULL = "out of memory on the GPU with one seed alone; a smaller batch_size, max_words or hidden takes less"
LEVELS = {"words": "norm", "sentences": "norm_sentences", "parts": "norm_parts"}


def check(cell: Cell) -> None:
    from regard.runs import check_options

    check_options(Config().override({**cell.options, "device": "cpu"}))


def run(cell: Cell, seeds: Sequence[int], device: str, recorder: Recorder) -> Iterator[dict[str, Any]]:
    from regard.reproduce.corpora import prepare

    prepared = prepare(cell.corpus, cell.options)
    config = Config().override({**cell.options, "device": device})
    if device.startswith("cuda"):
        yield from run_stacked(config, prepared, seeds, recorder)
        return
    from regard.training.fit import Run, fit

    for seed in seeds:
        begun = time.perf_counter()
        try:
            trained = fit(config.override({"seed": seed}), prepared.parts, Run(recorder))
        except InputError as error:
            yield {"seed": seed, "error": str(error), "seconds": time.perf_counter() - begun}
            continue
        yield {"seed": seed, "seconds": time.perf_counter() - begun, **told(trained, prepared)}


def run_stacked(
    config: Config, prepared: Prepared, seeds: Sequence[int], recorder: Recorder
) -> Iterator[dict[str, Any]]:
    import torch

    from regard.training.fit_stacked import fit_stacked

    begun = time.perf_counter()
    try:
        found = fit_stacked(config, prepared.parts, seeds, recorder, kept_texts())
    except torch.OutOfMemoryError as error:
        raise TooMany from error
    share = (time.perf_counter() - begun) / len(seeds)
    for seed, one in zip(seeds, found, strict=True):
        result = {"error": str(one)} if isinstance(one, InputError) else told(one, prepared)
        yield {"seed": seed, "seconds": share, "stacked": len(seeds), **result}


@cache
def kept_texts() -> Shelf:
    """What the cells of a process have in common, one after the other."""
    from regard.training.fit_stacked import Shelf

    return Shelf()


def told(trained: Trained, prepared: Prepared) -> dict[str, Any]:
    """What a row keeps of a trained model: numbers only."""
    from regard import __version__

    metrics = trained.metrics
    history, best = metrics["history"], metrics["best_epoch"]
    values = numbers(metrics["test"] if prepared.parts.test is not None else metrics.get("dev", {}))
    if "rmse" in values and values.get("rmse_of_mean"):
        values["below_mean"] = 1 - values["rmse"] / values["rmse_of_mean"]
    norms = history[best - 1].get("norms", {})
    values |= {LEVELS[level]: norm["mean"] for level, norm in norms.items()}
    if norms.get("words", {}).get("std"):
        values["norm_std"] = norms["words"]["std"]  # a norm a text or a feature
    if "length" in norms.get("words", {}):
        values["norm_length"] = norms["words"]["length"]
    return {
        "values": values,
        "dev": numbers(metrics.get("dev", {})),
        "history": paths(history),
        "best_epoch": best,
        "epochs": metrics["epochs"],
        "data": prepared.data,
        "environment": {**metrics["environment"], "regard": __version__},
    }


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: value
        for name, value in metrics.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def paths(history: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """What changed along the epochs, to six digits: loss, norms and dev scores."""
    found: dict[str, list[float]] = {}
    for record in history:
        named = {"loss": record["loss"]}
        named |= {f"norms.{level}": norm["mean"] for level, norm in record.get("norms", {}).items()}
        named |= {f"dev.{name}": value for name, value in record.get("dev", {}).items()}
        for name, value in named.items():
            found.setdefault(name, []).append(float(f"{value:.6g}"))
    return found
