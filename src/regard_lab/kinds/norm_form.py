"""The kind "norm_form": training that records log p after every update, to find out what makes the norm of APLN rise or fall.

In addition to the results of training, a row has log p after a fixed number of updates and after the last one, and its path,
thinned. A method may also replace the loss (label smoothing; cross-entropy of 5·tanh(z/5)), and read and begin as a usual Keras
implementation without masks does: texts padded with zeros to a fixed length, weights and query drawn as by Keras's defaults.
Scores, also those that choose the best epoch, are of the logits without the cap.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from regard.errors import InputError
from regard.recorder import Recorder
from regard.report.text.numbers import short
from regard.run_metrics import EpochRecord
from regard_lab.kinds import train
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import training_config

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from regard.models.tasks import Task
    from regard.training.torch_engine import Texts
    from regard_lab.fit_stacked import StackedRun
    from regard_lab.stack import Loss
    from regard_lab.tables.table import Cell

KEYS: Options = {
    "updates": int,  # the number of updates after which log p is compared
    "loss": Literal["plain", "smoothed", "capped"],  # of a method
    "start": Literal["default", "keras"],  # of a method: its initial weights
    "padded": int,  # of a method: texts are padded to this many words, and padding is not masked
}
MEASURES = {
    "log_norm": Measure("log p"),
    "log_norm_end": Measure("log p at the end"),
    "log_norm_sentences": Measure("log p of sentences"),
    "log_norm_sentences_end": Measure("log p of sentences at the end"),
}
POINTS = 100  # of a path that a row keeps
SMOOTHING, CAP = 0.1, 5.0
QUERY_DEVIATION = 0.05  # of Keras's RandomNormal


def check(cell: Cell) -> None:
    options = cell.options
    train.check(cell.without(KEYS))
    if options.get("norm", "scalar") != "scalar":
        raise InputError(f"norm: expected 'scalar', whose path is recorded, got {options['norm']!r}")
    if options.get("loss", "plain") != "plain" and options.get("task") == "regression":
        raise InputError(f"loss = {options['loss']!r}: expected a classification task, got regression")
    if "padded" in options and (options["padded"] < 1 or options.get("levels", 1) != 1):
        raise InputError(f"padded = {options['padded']}: expected 1 or more, and levels = 1")
    if options.get("updates", 1) < 1:
        raise InputError(f"updates: expected 1 or more, got {options['updates']}")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    from regard_lab.fit_stacked import EncodedCache, prepare_stacked

    start, plain = time.perf_counter(), cell.without(KEYS)
    prepared = context.corpora.prepare(cell.corpus, plain.options)
    config = training_config(plain.options, device=context.device)
    context.stacked = context.stacked or EncodedCache()
    with train.out_of_memory_as_too_many_seeds():
        stacked = changed(
            prepare_stacked(config, prepared.parts, seeds, context.recorder, context.stacked), cell.options
        )
        recorder = NormRecorder(context.recorder, stacked.stack.weights)
        results = stacked.train(recorder, loss_of(stacked.prepared.task, cell.options.get("loss", "plain")))
    paths, share = recorder.paths(), (time.perf_counter() - start) / len(seeds)
    for model, (seed, result) in enumerate(zip(seeds, results, strict=True)):
        facts: Row = {"seed": seed, "seconds": share, "stacked": len(seeds)}
        if isinstance(result, InputError):
            yield {**facts, "error": str(result)}
            continue
        row = train.measured(result, prepared)
        of_seed = {level: path[:, model] for level, path in paths.items()}
        row["values"] |= norm_values(of_seed, cell.options.get("updates"))
        yield {**facts, **row, **thinned(of_seed, cell.options.get("updates"))}


class NormRecorder:
    """Keeps log p of every level after each update, and passes everything on to another recorder."""

    def __init__(self, recorder: Recorder, weights: Mapping[str, Tensor]) -> None:
        from regard.training.evaluation import LEVELS

        self.recorder = recorder
        names = {level: f"levels.{number}.pooling.log_norm" for number, level in enumerate(LEVELS)}
        self.norms = {level: weights[name] for level, name in names.items() if name in weights}  # (models,) each
        self.taken: dict[str, list[Tensor]] = {level: [] for level in self.norms}

    def note(self, sentence: str) -> None:
        self.recorder.note(sentence)

    def enter(self, phase: str) -> None:
        self.recorder.enter(phase)

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.recorder.begin(epoch, epochs, steps)

    def step(self, loss: float | None) -> None:
        for level, norm in self.norms.items():
            self.taken[level].append(norm.detach().clone())  # stays on its device: nothing waits for it
        self.recorder.step(loss)

    def end(self, record: EpochRecord) -> None:
        self.recorder.end(record)

    def paths(self) -> dict[str, NDArray[np.float64]]:
        """(updates, models) by level."""
        import torch

        return {level: torch.stack(taken).double().cpu().numpy() for level, taken in self.taken.items() if taken}


SUFFIXES = {"words": "", "sentences": "_sentences"}


def norm_values(paths: Mapping[str, NDArray[np.float64]], updates: int | None) -> dict[str, float]:
    """log p after `updates` updates, which a shorter run does not have, and after the last."""
    values = {}
    for level, path in paths.items():
        if updates is not None and updates <= len(path):
            values[f"log_norm{SUFFIXES[level]}"] = float(path[updates - 1])
        values[f"log_norm{SUFFIXES[level]}_end"] = float(path[-1])
    return values


def thinned(paths: Mapping[str, NDArray[np.float64]], updates: int | None) -> Row:
    """About `POINTS` points of each path, always with the update that is compared and the last."""
    if not paths:
        return {}
    total = max(map(len, paths.values()))
    every = -(-total // POINTS)
    compared = {updates} if updates is not None and updates <= total else set()
    cuts = sorted({1, *range(every, total + 1, every), *compared, total})
    curves = {f"log_norm.{level}": [short(path[cut - 1], 5) or 0.0 for cut in cuts] for level, path in paths.items()}
    return {"cuts": cuts, "curves": curves}


def loss_of(task: Task, name: str) -> Loss:
    """The loss of a task with smoothed labels, or with logits z capped to 5·tanh(z/5)."""
    import torch
    from torch.nn import functional

    def smoothed(logits: Tensor, labels: Tensor) -> Tensor:
        if task.kind == "binary":
            return task.loss(logits, labels * (1 - SMOOTHING) + SMOOTHING / 2)
        return functional.cross_entropy(logits.float(), labels.long(), label_smoothing=SMOOTHING)

    def capped(logits: Tensor, labels: Tensor) -> Tensor:
        return task.loss(CAP * torch.tanh(logits / CAP), labels)

    losses: dict[str, Loss] = {"plain": task.loss, "smoothed": smoothed, "capped": capped}
    return losses[name]


def changed(run: StackedRun, options: Options) -> StackedRun:
    """With the texts and initial weights that the options ask for."""
    from regard.training.fit_torch import make_model

    if options.get("start", "default") == "keras":
        for index, seed in enumerate(run.seeds):
            model = make_model(run.prepared, run.inputs, seed)
            draw_like_keras(model)
            run.stack.load(index, dict(model.named_parameters()))
    if "padded" not in options:
        return run
    length, inputs = options["padded"], run.inputs
    dev, test = (None if texts is None else unmasked(texts, length) for texts in (inputs.dev, run.test))
    return replace(run, inputs=inputs._replace(texts=unmasked(inputs.texts, length), dev=dev), test=test)


def unmasked(texts: Texts, length: int) -> Texts:
    """Texts cut or padded with the id 0 to one length. The ids count as words, so that nothing is masked.

    As with a trainable Keras embedding, the vector of id 0 starts at zero and is trained.
    """
    import numpy as np

    def fixed(ids: NDArray[Any]) -> NDArray[Any]:
        return np.pad(ids[:length], (0, max(length - len(ids), 0)))

    return texts._replace(indexed=[text._replace(ids=fixed(text.ids)) for text in texts.indexed])


def draw_like_keras(model: nn.Module) -> None:
    """Draw initial weights as Keras does by default, except for word vectors, which are left alone.

    Glorot's uniform distribution, orthogonal recurrent weights, biases of 0, and of 1 at the forget gates of an LSTM; the
    attention's query is drawn from N(0, 0.05²).
    """
    import torch
    from torch import nn

    from regard.poolings.scorer import Scorer

    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv1d)):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    module.bias.zero_()
            elif isinstance(module, nn.LSTM):
                weights, forget = dict(module.named_parameters()), slice(module.hidden_size, 2 * module.hidden_size)
                nn.init.xavier_uniform_(weights["weight_ih_l0"])
                nn.init.orthogonal_(weights["weight_hh_l0"])
                weights["bias_ih_l0"].zero_()[forget] = 1  # the order of gates is input, forget, cell, output
                weights["bias_hh_l0"].zero_()
            elif isinstance(module, Scorer):
                module.query.normal_(0, QUERY_DEVIATION)
