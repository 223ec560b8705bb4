"""The kind "train": a model is trained on a corpus, chosen by dev and scored on test, once a seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.recording import Recorder
from regard.report.text.numbers import short
from regard_lab.kinds.trainings import trainings

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

LEVELS = {"words": "norm", "sentences": "norm_sentences", "parts": "norm_parts"}


def check(cell: Cell) -> None:
    from regard.runs import check_options

    check_options(Config().override({**cell.options, "device": "cpu"}))


def run(cell: Cell, seeds: Sequence[int], device: str, recorder: Recorder) -> Iterator[dict[str, Any]]:
    from regard_lab.tables.corpora import prepare

    prepared = prepare(cell.corpus, cell.options)
    config = Config().override({**cell.options, "device": device})
    for result, facts in trainings(config, prepared.parts, seeds, device, recorder):
        yield facts | ({"error": str(result)} if isinstance(result, InputError) else told(result, prepared))


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
            found.setdefault(name, []).append(short(value, 6))
    return found
