"""The kind "train", and training for other kinds: one model per seed, one after the other or, on a GPU, side by side."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.report.text.numbers import short
from regard_lab.rows import History, Options, Row
from regard_lab.tables.context import Context, Judges, Training

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell


class TooManySeeds(Exception):
    """More seeds at once than a GPU has room for.

    Whoever runs a job cuts it in two, and begins each half in a fresh process: the memory of this one is full, and what a
    broken-off CUDA graph left behind cannot be told from here.
    """


def trainings(config: Config, parts: Parts, seeds: Sequence[int], context: Context) -> Iterator[Training]:
    # what is recorded along training is one model's, and so is a λ that is tried out: such seeds learn one after the other;
    # so do those of a pretrained encoder, which fills a GPU by itself
    one_by_one = config.training.record != "no" or config.model.is_scale_open or config.model.reads_pieces
    side_by_side = context.device.startswith("cuda") and not one_by_one
    yield from (together if side_by_side else alone)(config, parts, seeds, context)


def alone(config: Config, parts: Parts, seeds: Sequence[int], context: Context) -> Iterator[Training]:
    from regard.training.fit import Run, fit

    for seed in seeds:
        begun = time.perf_counter()
        result: Trained | InputError
        try:
            result = fit(config.override({"seed": seed}), parts, Run(context.recorder))
        except InputError as error:
            result = error
        yield Training(result, {"seed": seed, "seconds": time.perf_counter() - begun})


def together(config: Config, parts: Parts, seeds: Sequence[int], context: Context) -> Iterator[Training]:
    import torch

    from regard_lab.fit_stacked import EncodedCache, fit_stacked

    begun = time.perf_counter()
    context.stacked = context.stacked or EncodedCache()
    try:
        results = fit_stacked(config, parts, seeds, context.recorder, context.stacked)
    except torch.OutOfMemoryError as error:
        raise TooManySeeds from error
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


LEVELS = {"words": "norm", "sentences": "norm_sentences", "parts": "norm_parts"}


def check(cell: Cell) -> None:
    from regard.runs import check_options

    check_options(Config().override({**cell.options, "device": "cpu"}))


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    config = Config().override({**cell.options, "device": context.device})
    for result, facts in trainings(config, prepared.parts, seeds, context):
        yield {**facts, **({"error": str(result)} if isinstance(result, InputError) else measured(result, prepared))}


def measured(trained: Trained, prepared: Prepared) -> Row:
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


def paths(history: Sequence[Mapping[str, Any]]) -> History:
    """What changed along the epochs, to six digits: loss, norms and dev scores."""
    found: History = {}
    for record in history:
        named = {"loss": record["loss"]}
        named |= {f"norms.{level}": norm["mean"] for level, norm in record.get("norms", {}).items()}
        named |= {f"dev.{name}": value for name, value in record.get("dev", {}).items()}
        for name, value in named.items():
            found.setdefault(name, []).append(short(value, 6))
    return found


METHOD_ONLY = ("beta", "rounds", "phase_epochs", "compressor_lr", "head_hidden")


def judge_options(options: Options, own: Options) -> Options:
    """`own` says the judge's pooling, and maybe a dropout and a rate."""
    kept = {name: value for name, value in options.items() if name not in METHOD_ONLY}
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
