"""The PyTorch engine for the training loop (`training/loop`): one model on one device, in batches of similar length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, optim

from regard.analysis.dynamics import Dynamics
from regard.config import Training
from regard.data.collate import collate, shuffled
from regard.data.stored_examples import StoredExamples
from regard.data.stored_texts import chosen_texts, store_texts
from regard.data.tokenizer import Indexed
from regard.models.classifier import Classifier, Level
from regard.models.flat import State
from regard.models.tasks import LABEL, Task
from regard.models.trained import CHUNK, Trained, logits, outputs
from regard.process_group import ALONE, ProcessGroup
from regard.recorder import Recorder
from regard.run_metrics import Metrics
from regard.training.checkpoint import MODEL, Arrays, add_prefix, strip_prefix
from regard.training.cuda_graphs import GraphPool, make_step
from regard.training.divergence import checked_loss
from regard.training.evaluation import AttentionStatistics, Evaluator
from regard.training.loop import EpochPlan, Evaluation
from regard.training.optimizers import make_phase_optimizers, set_module_modes, set_trainable
from regard.training.schedule import Phase, schedule
from regard.training.state_cache import StateCache
from regard.training.step import RunningLoss, Step
from regard.values import Batch


class Texts(NamedTuple):
    """Indexed texts, their encoded labels, and the weights of their losses."""

    indexed: Sequence[Indexed]
    labels: NDArray[np.float64]
    weights: NDArray[np.float32] | None = None  # 1 on average over the training texts; None: all 1


class StepRunner(NamedTuple):
    """Takes the training steps in all phases of one name."""

    take: Callable[..., Tensor]  # a batch and, in a group of processes, the share that it has in the whole one
    cache: StateCache | None  # what it reads instead of words, if there is one


class TorchEngine:
    """Trains a model in place. As a context manager it leaves the model in evaluation mode with nothing frozen."""

    models = 1

    def __init__(
        self,
        model: Classifier,
        task: Task,
        texts: Texts,
        dev: Texts | None,
        config: Training,
        group: ProcessGroup = ALONE,
    ) -> None:
        self.model, self.task, self.texts, self.dev, self.config = model, task, texts, dev, config
        self.group = group
        self.parameters = dict(model.named_parameters())
        self.learnable = [name for name, weight in self.parameters.items() if weight.requires_grad]
        self.phases = schedule(config, len(model.levels))
        self.optimizers = make_phase_optimizers(self.phases, self.parameters, config)
        self.runners: dict[str, StepRunner] = {}  # by the names of phases
        self.graph_pool = GraphPool()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.runners.clear()  # captured graphs hold memory
        self.graph_pool.release()
        set_trainable(self.parameters, self.learnable)
        self.model.eval()

    def begin_phase(self, index: int, recorder: Recorder) -> None:
        """Freeze weights. Graphs captured in an earlier round are used again, and dropped after the last round."""
        later = {phase.name for phase in self.phases[index:]}
        self.runners = {name: runner for name, runner in self.runners.items() if name in later}
        phase = self.phases[index]
        optimizer, runner = self.optimizers[phase.name], self.runners.get(phase.name)
        optimizer.enter(self.parameters)
        cache = runner.cache if runner else make_state_cache(phase, self.model, self.texts)
        if cache is not None and not cache.fill(self.model, self.texts.indexed, self.config.bf16):
            recorder.note("the encoder's states do not fit into the cache: they are computed in every step")
            cache = None
        if runner is None:
            step = Step(self.model, self.task, self.config, optimizer.optimizer, phase, cache, self.group)
            if self.group.is_joined and step.device.type == "cuda" and index == 0:
                recorder.note("CUDA graphs are off, because the processes of a group add their gradients")
            self.runners[phase.name] = StepRunner(
                step if self.group.is_joined else make_step(step, self.graph_pool), cache
            )

    def run_epoch(self, plan: EpochPlan, recorder: Recorder, dynamics: Dynamics | None) -> list[float]:
        # processes drop other values
        torch.manual_seed(self.config.seed * 100_003 + plan.seed + (self.group.rank << 40))
        set_module_modes(plan.phase, self.model)
        runner = self.runners[plan.phase.name]
        batches = shuffled(self.texts.indexed, self.config.batch_size, self.config.seed, plan.seed)
        recorder.begin(plan.epoch_in_phase, plan.phase.epochs, len(batches))
        running = RunningLoss(len(batches), self.model.embedding.weight.device, group=self.group)
        for number, rows in enumerate(batches, 1):
            own = self.group.share_of(rows)
            share, batch = self.group.weight_of(len(own), len(rows)), self.batch(own, runner.cache)
            loss = runner.take(batch) if share == 1 else runner.take(batch, share)
            mean = running.add(loss, share * len(rows))
            where = f"{plan.where}, step {number}"
            recorder.step(None if mean is None else checked_loss(float(mean), where, plan.phase.remedy))
            if dynamics is not None:
                dynamics.record_within(plan.epoch, number, len(batches))
        return [float(running.mean)]

    def batch(self, rows: NDArray[np.int64], cache: StateCache | None) -> Batch:
        labels, weights = self.texts.labels[rows], self.texts.weights
        chosen = None if weights is None else weights[rows]
        if cache is not None:
            return cache.batch(rows, labels, chosen)
        return collate([self.texts.indexed[row] for row in rows], len(self.model.levels), labels, chosen)

    def evaluate(self, phase: Phase) -> list[Evaluation]:
        scores, statistics = evaluate(self.model, self.task, self.dev or self.texts, phase.remedy, self.group)
        scores = self.group.from_first(lambda: scores)  # which epoch is the best must not differ by a last digit
        return [Evaluation(scores, statistics.as_dict(), self.dev is not None, self.config.select or "accuracy")]

    def weights(self, model: int = 0, copied: bool = True, into: State | None = None) -> State:
        state = self.model.state_dict()
        return {name: value.detach().cpu().clone().numpy() for name, value in state.items()}

    def load(self, weights: State, model: int = 0) -> None:
        self.model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})

    def state(self) -> Arrays:
        tensors = add_prefix(MODEL, self.model.state_dict())
        for name, each in self.optimizers.items():
            for number, state in each.optimizer.state_dict()["state"].items():
                tensors |= add_prefix(f"optimizer/{name}/{number}/", state)
        return {name: value.detach().cpu().contiguous().numpy() for name, value in tensors.items()}

    def restore(self, arrays: Arrays) -> None:
        self.load(strip_prefix(arrays, MODEL))
        for name, each in self.optimizers.items():
            load_optimizer(each.optimizer, strip_prefix(arrays, f"optimizer/{name}/"))


def load_optimizer(optimizer: optim.Optimizer, arrays: Arrays) -> None:
    """ValueError unless every weight has the same entries, of its own shape, and all are finite."""
    state: dict[int, dict[str, Tensor]] = {}
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for name, value in arrays.items():
        number, key = name.split("/")
        tensor = torch.from_numpy(value)
        if not tensor.is_floating_point() or not tensor.isfinite().all():
            raise ValueError(f"{name}: expected finite numbers")
        if not 0 <= int(number) < len(weights):
            raise ValueError(f"{name}: expected the number of a weight")
        if tensor.shape != (() if key == "step" else weights[int(number)].shape):
            raise ValueError(f"{name}: expected the shape of its weight")
        state.setdefault(int(number), {})[key] = tensor
    if len({frozenset(one) for one in state.values()}) > 1:
        raise ValueError("expected the same entries for every weight")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def make_state_cache(phase: Phase, model: Classifier, texts: Texts) -> StateCache | None:
    """A cache for the states of the top level, if a phase trains nothing below them and drops nothing there."""
    if cast(Level, model.levels[-1]).pooling.reads_summary:
        return None
    names = [name for name, _ in model.named_parameters()] + [f"{name}." for name, _ in model.named_modules()]
    changes = any(phase.updates(name) and not model.is_above_states(name) for name in names)
    return None if changes else StateCache(texts.indexed, len(model.levels))


def evaluate(
    model: Classifier, task: Task, texts: Texts, remedy: str = "lr", group: ProcessGroup = ALONE
) -> tuple[Metrics, AttentionStatistics]:
    """Scores on texts, and statistics of the attention; `remedy` names the options to reduce if predictions are not finite.

    Each process of a group reads its share, and all of them get the scores of all texts.
    """
    evaluator = Evaluator(task, texts.labels)
    own = group.share_of(np.arange(len(texts.indexed)))
    for rows, _, output in outputs(model, chosen_texts(texts.indexed, own)):
        evaluator.add(own[rows], {**output.heads, LABEL: output.logits})
        evaluator.statistics.add(output)
    if group.splits(len(texts.indexed)):
        evaluator.combine(group)
    return evaluator.result(remedy)


def answers_together(
    trained: Trained, examples: StoredExamples, where: str, group: ProcessGroup
) -> NDArray[np.float64]:
    """The answers to all texts, of which each process of a group reads its share."""
    own = group.share_of(np.arange(len(examples)))
    answers = answers_to(trained, examples.take(own), where)
    if not group.splits(len(examples)):
        return answers
    every = np.zeros((len(examples), answers.shape[1]))
    every[own] = answers
    return group.add_array(every)


def answers_to(trained: Trained, examples: StoredExamples, where: str) -> NDArray[np.float64]:
    """What `trained.answers` gives, without all texts in memory."""
    if not trained.is_flat:
        texts = store_texts(trained.tokenizer, examples, where)
        return trained.task.answers(logits(trained.model, trained.task, texts))
    blocks = (examples[start : start + CHUNK] for start in range(0, len(examples), CHUNK))
    return np.concatenate([trained.answers([example.text for example in block]) for block in blocks])
