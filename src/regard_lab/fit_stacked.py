"""Several seeds of one model, trained together. Except for dropout masks, each seed gives the same as when trained alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.analysis.dynamics import Dynamics
from regard.config import Config, Training
from regard.data.collate import collate, in_order, shuffled_together
from regard.errors import InputError
from regard.models.flat import State
from regard.models.tasks import LABEL, Task
from regard.models.trained import Trained, to_device
from regard.recorder import Recorder
from regard.training.cuda_graphs import GraphPool, make_step
from regard.training.evaluation import Evaluator
from regard.training.fit_torch import (
    PreparedTorch,
    TorchInputs,
    environment,
    make_inputs,
    make_model,
    prepare_torch,
)
from regard.training.loop import EpochPlan, Evaluation, train_side_by_side
from regard.training.metrics import measure
from regard.training.optimizers import make_phase_optimizers, set_module_modes
from regard.training.preparation import Parts, common_metrics, digest
from regard.training.schedule import Phase, schedule
from regard.training.step import RunningLoss
from regard.training.torch_engine import Texts
from regard.values import Batch, Output
from regard_lab.stack import Loss, Stack, StackedStep, grouped, masks_of

EVALUATION_BATCH = 256  # texts per batch and model in evaluation


class EncodedCache:
    """Keeps the encoded texts of the last call, so that the next model does not encode them again."""

    def __init__(self) -> None:
        self.key = ""
        self.encoded: tuple[TorchInputs, Texts | None] | None = None

    def encode(self, prepared: PreparedTorch, recorder: Recorder) -> tuple[TorchInputs, Texts | None]:
        """Encoded training and dev texts, and the encoded test texts."""
        config = prepared.config
        data = replace(config.data, train=None, dev=None, test=None)
        seed = config.training.seed if prepared.dev is None else None  # decides what is held out
        test = "" if prepared.test is None else digest(prepared.test)
        key = "\0".join((Config(data).identity_text(), str(config.model.levels), str(seed), *prepared.digests, test))
        if self.encoded is None or key != self.key:
            inputs, tests = make_inputs(prepared, recorder), None
            if prepared.test is not None:
                tests = Texts(inputs.tokenizer.encode_each([example.text for example in prepared.test]), prepared.truth)
            self.key, self.encoded = key, (inputs, tests)
        return self.encoded


@dataclass(frozen=True)
class StackedRun:
    """Texts and untrained models of several seeds."""

    prepared: PreparedTorch
    inputs: TorchInputs
    test: Texts | None
    stack: Stack
    seeds: Sequence[int]

    def train(self, recorder: Recorder, loss: Loss | None = None) -> list[Trained | InputError]:
        """The trained model of each seed, or the error that ended its training; `loss` replaces that of the task."""
        prepared, inputs, stack, test = self.prepared, self.inputs, self.stack, self.test
        training = prepared.config.training
        engine = StackedEngine(stack, prepared.task, loss or prepared.task.loss, inputs, training, self.seeds)
        runs = train_side_by_side(engine, recorder)
        dev_answers, test_answers = (answers_of(stack, prepared.task, texts) for texts in (inputs.dev, test))
        results: list[Trained | InputError] = []
        for model, (seed, run) in enumerate(zip(self.seeds, runs, strict=True)):
            if isinstance(run, InputError):
                results.append(run)
                continue
            metrics = common_metrics(prepared.task, len(inputs.texts.labels), run, "")
            metrics["engine"], metrics["environment"] = "torch", environment(prepared.device)
            metrics["stacked"] = len(self.seeds)
            if inputs.dev is not None:
                metrics["dev"] = measure(prepared.task, dev_answers[model], inputs.dev.labels)
            if test is not None:
                metrics["test"] = measure(prepared.task, test_answers[model], test.labels)
            trained = Trained(
                prepared.config.override({"seed": seed}),
                inputs.tokenizer,
                prepared.task,
                metrics,
                weights=run.best,
                encoder_config=prepared.encoder_config,
                test_answers=None if test is None else test_answers[model],
            )
            results.append(trained)
        return results


def prepare_stacked(
    config: Config, parts: Parts, seeds: Sequence[int], recorder: Recorder, cache: EncodedCache | None = None
) -> StackedRun:
    """If there is no dev split, one is held out with the seed of the options, the same for all models."""
    if config.training.record != "no":
        raise InputError(f"record = {config.training.record!r}: seeds are recorded one by one (`fit`), not together")
    prepared = prepare_torch(config, parts, recorder)
    inputs, test = (cache or EncodedCache()).encode(prepared, recorder)
    stack = Stack([make_model(prepared, inputs, seed) for seed in seeds], prepared.device)
    return StackedRun(prepared, inputs, test, stack, seeds)


def fit_stacked(
    config: Config, parts: Parts, seeds: Sequence[int], recorder: Recorder, cache: EncodedCache | None = None
) -> list[Trained | InputError]:
    """The trained model of each seed, or the error that ended its training."""
    return prepare_stacked(config, parts, seeds, recorder, cache).train(recorder)


def answers_of(stack: Stack, task: Task, texts: Texts | None) -> list[NDArray[np.float64]]:
    """Of every model; none without texts."""
    return [] if texts is None else [each.answers[LABEL] for each in evaluate_all(stack, task, texts)]


class StackedEngine:
    """Trains several seeds of one model on one device. No checkpoints: together they take little longer than one."""

    def __init__(
        self, stack: Stack, task: Task, loss: Loss, inputs: TorchInputs, config: Training, seeds: Sequence[int]
    ) -> None:
        self.stack, self.task, self.loss, self.config = stack, task, loss, config
        self.texts, self.dev = inputs.texts, inputs.dev
        self.seeds, self.models = seeds, len(seeds)
        self.phases = schedule(config, len(stack.model.levels))
        self.optimizers = make_phase_optimizers(self.phases, stack.weights, config)
        self.steps: dict[str, Callable[[Batch], Tensor]] = {}  # by name of phase
        self.graph_pool = GraphPool()

    def begin_phase(self, index: int, recorder: Recorder) -> None:
        later = {phase.name for phase in self.phases[index:]}
        self.steps = {name: step for name, step in self.steps.items() if name in later}  # captured graphs hold memory
        phase = self.phases[index]
        optimizer = self.optimizers[phase.name]
        optimizer.enter(self.stack.weights)
        if phase.name not in self.steps:
            step = StackedStep(self.stack, self.loss, self.config, optimizer.optimizer, phase)
            self.steps[phase.name] = make_step(step, self.graph_pool)

    def run_epoch(self, plan: EpochPlan, recorder: Recorder, dynamics: Dynamics | None) -> list[float]:
        torch.manual_seed(self.seeds[0] * 100_003 + plan.seed)
        set_module_modes(plan.phase, self.stack.model)
        batches = shuffled_together(self.texts.indexed, self.config.batch_size, self.seeds, plan.seed)
        recorder.begin(plan.epoch_in_phase, plan.phase.epochs, len(batches))
        running, levels = RunningLoss(len(batches), self.stack.device, (self.models,)), len(self.stack.model.levels)
        step, active = self.steps[plan.phase.name], list(plan.active)
        for rows in batches:
            means = running.add(step(side_by_side(self.texts, rows, levels)), rows.shape[1])
            recorder.step(None if means is None else float(means[active].mean()))
        losses: list[float] = running.mean.tolist()
        return losses

    def evaluate(self, phase: Phase) -> list[Evaluation | InputError]:
        evaluations: list[Evaluation | InputError] = []
        for each in evaluate_all(self.stack, self.task, self.dev or self.texts):
            try:
                scores, statistics = each.result(phase.remedy)
            except InputError as error:
                evaluations.append(error)
            else:
                evaluations.append(Evaluation(scores, statistics.as_dict(), self.dev is not None))
        return evaluations

    def weights(self, model: int, copied: bool = True, into: State | None = None) -> State:
        return {name: weight.cpu().numpy() for name, weight in self.stack.state(model).items()}

    def load(self, weights: State, model: int) -> None:
        self.stack.load(model, {name: torch.from_numpy(value) for name, value in weights.items()})


def side_by_side(texts: Texts, rows: NDArray[np.int64], levels: int) -> Batch:
    """(S, B) rows -> a batch whose first axis is the seeds."""
    batch = collate([texts.indexed[row] for row in rows.flatten().tolist()], levels, texts.labels[rows.flatten()])
    assert batch.labels is not None
    ids, mask = (value.view(*rows.shape, *value.shape[1:]) for value in (batch.ids, batch.mask))
    return Batch(ids, mask, batch.labels.view(rows.shape))


def evaluate_all(stack: Stack, task: Task, texts: Texts) -> list[Evaluator]:
    """What `torch_engine.evaluate` collects, for every model."""
    levels = len(stack.model.levels)
    passes = [Evaluator(task, texts.labels) for _ in range(len(stack))]
    stack.model.eval()
    for rows in in_order(texts.indexed, EVALUATION_BATCH):
        batch = collate([texts.indexed[row] for row in rows], levels)
        wide = Batch(batch.ids.expand(len(stack), *batch.ids.shape), batch.mask.expand(len(stack), *batch.mask.shape))
        with torch.no_grad():
            heads, scores, norms, terms = stack.apply(to_device(grouped(wide, levels), stack.device), extract_outputs)
        heads = {head: logits.double().cpu() for head, logits in heads.items()}  # (S, B, C), copied at once
        masks = masks_of(batch.mask, levels)
        for model, each in enumerate(passes):
            each.add(rows, {head: logits[model] for head, logits in heads.items()})
            each.statistics.add_terms(len(rows), {name: value[model] for name, value in terms.items()})
            for level, mask in enumerate(masks):
                norm = norms[level][model] if level in norms else None
                each.statistics.add_level(level, scores[level][model].cpu(), mask, norm)
    return passes


def extract_outputs(
    output: Output, _: Tensor | None
) -> tuple[dict[str, Tensor], list[Tensor], dict[int, Tensor], dict[str, Tensor]]:
    """The logits of every head, scores and norms of every level, and the pooling's penalty terms."""
    pooled = [trace.pooled for trace in output.traces]
    norms = {level: part.norm for level, part in enumerate(pooled) if part.norm is not None}
    heads = {**output.heads, LABEL: output.logits}
    return heads, [part.scores for part in pooled], norms, dict(pooled[-1].terms)
