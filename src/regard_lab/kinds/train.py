"""The kind "train", and training for other kinds: one model per seed, one after the other or, on a GPU, together.

Judges are base models that are trained once per corpus and seed, and kept for all methods that a process then measures. A judge
has the seed and the options of the method that it judges, except for the pooling (max over an LSTM's states, BERT's [CLS]),
possibly dropout and learning rate, and options of bottlenecks and hidden layers of the head.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from regard.config import Config
from regard.errors import InputError
from regard.report.text.numbers import short
from regard.run_metrics import EpochRecord
from regard_lab.rows import History, Options, Row
from regard_lab.tables.context import Context, Judges, Training
from regard_lab.tables.table import training_config

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell


class TooManySeeds(Exception):
    """More seeds at once than fit into the memory of the GPU.

    The caller splits the job and starts each half in a new process: the memory of this one is full, and the state after an
    interrupted CUDA graph is unknown.
    """


def trainings(config: Config, parts: Parts, seeds: Sequence[int], context: Context) -> Iterator[Training]:
    # recording and choosing λ work on one model, and a pretrained encoder fills a GPU by itself: such seeds are trained one
    # after the other
    separately = config.training.record != "no" or config.model.is_scale_open or config.model.reads_pieces
    together = context.device.startswith("cuda") and not separately
    yield from (train_stacked if together else train_separately)(config, parts, seeds, context)


def train_separately(config: Config, parts: Parts, seeds: Sequence[int], context: Context) -> Iterator[Training]:
    from regard.training.fit import Run, fit

    for seed in seeds:
        start = time.perf_counter()
        result: Trained | InputError
        try:
            result = fit(config.override({"seed": seed}), parts, Run(context.recorder))
        except InputError as error:
            result = error
        yield Training(result, {"seed": seed, "seconds": time.perf_counter() - start})


@contextmanager
def out_of_memory_as_too_many_seeds() -> Iterator[None]:
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise TooManySeeds from error
    except (
        torch.AcceleratorError
    ) as error:  # memory that other processes hold is missed outside PyTorch's allocator too
        if "out of memory" not in str(error):
            raise
        raise TooManySeeds from error


def train_stacked(config: Config, parts: Parts, seeds: Sequence[int], context: Context) -> Iterator[Training]:
    from regard_lab.fit_stacked import EncodedCache, fit_stacked

    start = time.perf_counter()
    context.stacked = context.stacked or EncodedCache()
    with out_of_memory_as_too_many_seeds():
        results = fit_stacked(config, parts, seeds, context.recorder, context.stacked)
    share = (time.perf_counter() - start) / len(seeds)
    for seed, result in zip(seeds, results, strict=True):
        yield Training(result, {"seed": seed, "seconds": share, "stacked": len(seeds)})


def on_device(training: Training, device: str) -> Training:
    """Move the model to the device on which it is measured: seeds that were trained together are on the CPU."""
    trained = training.result
    if device != "cpu" and not isinstance(trained, InputError):
        trained.device = device
        trained.model.to(device)
    return training


LEVELS = {"words": "norm", "sentences": "norm_sentences", "parts": "norm_parts"}


def check(cell: Cell) -> None:
    from regard.runs import check_options

    check_options(training_config(cell.options, device="cpu"))


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    config = training_config(cell.options, device=context.device)
    for result, facts in trainings(config, prepared.parts, seeds, context):
        yield {**facts, **({"error": str(result)} if isinstance(result, InputError) else measured(result, prepared))}


def measured(trained: Trained, prepared: Prepared) -> Row:
    """The part of a row that describes a trained model: numbers only."""
    from regard import __version__

    metrics = trained.metrics
    history, best = metrics["history"], metrics["best_epoch"]
    values = numbers(metrics["test"] if prepared.parts.test is not None else metrics.get("dev", {}))
    if "rmse" in values and values.get("rmse_of_mean"):
        values["below_mean"] = 1 - values["rmse"] / values["rmse_of_mean"]
    norms = history[best - 1].get("norms", {})
    values |= {LEVELS[level]: norm["mean"] for level, norm in norms.items()}
    words = norms.get("words")
    if words is not None and words["std"]:
        values["norm_std"] = words["std"]  # one norm per text or feature
    if words is not None and "length" in words:
        values["norm_length"] = words["length"]
    return {
        "values": values,
        "dev": numbers(metrics.get("dev", {})),
        **test_predictions(trained, prepared),
        "history": history_paths(history),
        "best_epoch": best,
        "epochs": metrics["epochs"],
        "data": prepared.data,
        "environment": {**metrics["environment"], "regard": __version__},
    }


def test_predictions(trained: Trained, prepared: Prepared) -> Row:
    """The predictions behind the scores on the test split, if there is one."""
    if prepared.parts.test is None:
        return {}
    from regard.data.labels import Labels
    from regard.models.tasks import encoded
    from regard_lab.predictions import checksum, pack

    examples = list(prepared.parts.test)
    labels = encoded(trained.task, Labels.of(examples), prepared.parts.names[2])
    answers = trained.test_answers
    if answers is None:  # the fast engine does not keep them, because its models answer in no time
        answers = trained.answers([example.text for example in examples])
    return {"predictions": pack(trained.task, answers, labels, checksum(examples))}


def numbers(metrics: Mapping[str, object]) -> dict[str, float]:
    return {
        name: value
        for name, value in metrics.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def history_paths(history: Sequence[EpochRecord]) -> History:
    """Loss, norms and dev scores by epoch, with six digits."""
    by_name: History = {}
    for record in history:
        named = {"loss": record["loss"]}
        named |= {f"norms.{level}": norm["mean"] for level, norm in record.get("norms", {}).items()}
        named |= {f"dev.{name}": value for name, value in record.get("dev", {}).items()}
        for name, value in named.items():
            by_name.setdefault(name, []).append(short(value, 6))
    return by_name


METHOD_ONLY = ("beta", "rounds", "phase_epochs", "compressor_lr", "head_hidden", "attention_heads")


def judge_options(options: Options, judge_keys: Options) -> Options:
    """The options of a method's judge; `judge_keys`: its pooling, and possibly its dropout and learning rate."""
    shared = {name: value for name, value in options.items() if name not in METHOD_ONLY}
    overrides = {name: judge_keys[f"judge_{name}"] for name in ("dropout", "lr") if f"judge_{name}" in judge_keys}
    return {**shared, "pooling": judge_keys["judge"], **overrides}


def judges_of(cell: Cell, config: Config, prepared: Prepared, context: Context) -> Judges:
    """The judges for these texts and options; those of another corpus are dropped."""
    key = json.dumps([cell.corpus.definition(), config.identity_text(), prepared.data], sort_keys=True)
    if key != context.judges.key:
        context.judges = Judges(key)
    return context.judges


def train_judges(judges: Judges, config: Config, prepared: Prepared, seeds: Sequence[int], context: Context) -> None:
    """Train the judges that are missing."""
    missing = [seed for seed in seeds if seed not in judges.trained]
    if missing:
        new = trainings(config, prepared.parts, missing, context)
        judges.trained |= {training.facts["seed"]: on_device(training, context.device) for training in new}


def judge_of(judges: Judges, seed: int) -> Trained:
    result = judges.trained[seed].result
    if isinstance(result, InputError):
        raise InputError(f"the judge for seed {seed} could not be trained: {result}")
    return result
