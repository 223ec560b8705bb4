"""One model, several seeds, trained together: what each seed gives is what it would give alone, but for the draw of dropout."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import Config, Training
from regard.data.collate import collate, in_order, shuffled_together
from regard.errors import InputError
from regard.models.classifier import LABEL
from regard.models.tasks import Task
from regard.models.trained import Trained, to_device
from regard.recording import Recorder
from regard.training.checkpoint import Progress
from regard.training.divergence import checked_loss
from regard.training.fit import Parts, first_metrics
from regard.training.fit_torch import Learned, Material, digest, environment, gather, index, make_model
from regard.training.graphs import make_step
from regard.training.loop import Texts, Turn
from regard.training.metrics import measure
from regard.training.passes import Pass
from regard.training.running import Running
from regard.training.schedule import Phase, comes_again, schedule
from regard.training.stack import Stack, StackedStep, grouped, masks_of
from regard.training.stage import make_stages, set_modes
from regard.values import Batch, Output

READ = 256  # texts that are answered together, by each model


class Shelf:
    """The texts that were last read, in numbers: the next model over the same ones need not number them again."""

    def __init__(self) -> None:
        self.key = ""
        self.kept: tuple[Learned, Texts | None] | None = None

    def numbered(self, given: Material, recorder: Recorder) -> tuple[Learned, Texts | None]:
        """Training and dev texts, and those of the test part."""
        config = given.config
        data = replace(config.data, train=None, dev=None, test=None)
        seed = config.training.seed if given.dev is None else None  # of what is held out
        test = "" if given.test is None else digest(given.test)
        key = "\0".join((Config(data).identity_text(), str(config.model.levels), str(seed), *given.digests, test))
        if self.kept is None or key != self.key:
            learned, tests = index(given, recorder), None
            if given.test is not None:
                tests = Texts(learned.tokenizer.encode_each([example.text for example in given.test]), given.truth)
            self.key, self.kept = key, (learned, tests)
        return self.kept


def fit_stacked(
    config: Config, parts: Parts, seeds: Sequence[int], recorder: Recorder, shelf: Shelf | None = None
) -> list[Trained | InputError]:
    """For each seed its trained model, or why there is none. Where no dev part is given, the config's seed holds one out."""
    if config.training.record != "no":
        raise InputError(f"record = {config.training.record!r}: seeds are recorded one by one (`fit`), not together")
    given = gather(config, parts, recorder)
    learned, test = (shelf or Shelf()).numbered(given, recorder)
    stack = Stack([make_model(given, learned, seed) for seed in seeds], given.device)
    runs = train_stacked(stack, given.task, learned.texts, learned.held, given.config.training, seeds, recorder)
    for place, run in enumerate(runs):
        if isinstance(run, Progress):
            stack.load(place, run.best)
    scores = {
        split: [measure(given.task, own.said[LABEL], texts.labels) for own in read_through(stack, given.task, texts)]
        for split, texts in (("dev", learned.held), ("test", test))
        if texts is not None
    }
    found: list[Trained | InputError] = []
    for place, (seed, run) in enumerate(zip(seeds, runs, strict=True)):
        if isinstance(run, InputError):
            found.append(run)
            continue
        metrics = first_metrics(given.task, len(learned.texts.labels), run, "")
        metrics |= {"engine": "torch", "environment": environment(given.device), "stacked": len(seeds)}
        metrics |= {split: own[place] for split, own in scores.items()}
        weights = {name: weight.cpu().numpy() for name, weight in run.best.items()}
        own_config = given.config.override({"seed": seed})
        found.append(Trained(own_config, learned.tokenizer, given.task, metrics, weights=weights, make=given.make))
    return found


def train_stacked(
    stack: Stack,
    task: Task,
    texts: Texts,
    dev: Texts | None,
    config: Training,
    seeds: Sequence[int],
    recorder: Recorder,
) -> list[Progress | InputError]:
    """Phase by phase, until the last seed is over with each. A seed that is over, or went astray, is computed on but no
    longer looked at."""
    phases = schedule(config, len(stack.model.levels))
    stages = make_stages(phases, stack.weights, config)
    takes: dict[str, Callable[[Batch], Tensor]] = {}
    runs: list[Progress | InputError] = [Progress() for _ in seeds]
    for number, phase in enumerate(phases):
        if number:
            for place, run in enumerate(runs):
                if isinstance(run, Progress):
                    if phase.afresh:
                        stack.load(place, run.best)
                    run.go_on(phase.afresh)
        stages[phase.name].enter(stack.weights)
        if phase.name not in takes:
            takes[phase.name] = make_step(StackedStep(stack, task, config, stages[phase.name].optimizer, phase))
        run_phase(stack, task, texts, dev, config, seeds, recorder, runs, phase, number, takes[phase.name])
        if not comes_again(phases, number):
            del takes[phase.name]  # what it captured holds memory
    return runs


def run_phase(
    stack: Stack,
    task: Task,
    texts: Texts,
    dev: Texts | None,
    config: Training,
    seeds: Sequence[int],
    recorder: Recorder,
    runs: list[Progress | InputError],
    phase: Phase,
    number: int,
    take: Callable[[Batch], Tensor],
) -> None:
    """One phase, the how manieth of the schedule `number` says; what comes of it is in `runs`."""
    if phase.title:
        recorder.enter(phase.title)
    within = 0
    while active := [
        place
        for place, run in enumerate(runs)
        if isinstance(run, Progress) and not run.is_over(phase.epochs, phase.patience)
    ]:
        within, begun = within + 1, time.perf_counter()
        turn = Turn(phase, within, number)
        torch.manual_seed(seeds[0] * 100_003 + turn.chance)
        set_modes(phase, stack.model)
        batches = shuffled_together(texts.indexed, config.batch_size, seeds, turn.chance)
        recorder.begin(within, phase.epochs, len(batches))
        running = Running(len(batches), stack.device, (len(seeds),))
        for rows in batches:
            means = running.add(take(side_by_side(texts, rows, len(stack.model.levels))), rows.shape[1])
            recorder.step(None if means is None else float(means[active].mean()))
        losses = running.mean.tolist()
        passes = read_through(stack, task, dev or texts)
        seconds = (time.perf_counter() - begun) / len(active)
        for place in active:
            run = runs[place]
            assert isinstance(run, Progress)
            try:
                checked_loss(losses[place], f"epoch {run.epoch + 1}", phase.remedy)
                scores, statistics = passes[place].result(phase.remedy)
            except InputError as error:
                runs[place] = error
                continue
            record = {"epoch": run.epoch + 1, **phase.facts, "loss": losses[place], "seconds": seconds}
            record |= statistics.as_dict()
            if run.add(record, scores, dev is not None, phase.counts):
                run.best = stack.state(place)
        if ended := [run.history[-1] for run in (runs[place] for place in active) if isinstance(run, Progress)]:
            recorder.end(mean(ended))


def side_by_side(texts: Texts, rows: NDArray[np.int64], levels: int) -> Batch:
    """(S, B) row numbers -> a batch with the seeds' axis in front."""
    batch = collate([texts.indexed[row] for row in rows.flatten().tolist()], levels, texts.labels[rows.flatten()])
    assert batch.labels is not None
    ids, mask = (value.view(*rows.shape, *value.shape[1:]) for value in (batch.ids, batch.mask))
    return grouped(Batch(ids, mask, batch.labels.view(rows.shape)), levels)


def read_through(stack: Stack, task: Task, texts: Texts) -> list[Pass]:
    """What `loop.evaluate` gathers, of every model."""
    levels = len(stack.model.levels)
    passes = [Pass(task, texts.labels) for _ in range(len(stack))]
    stack.model.eval()
    for rows in in_order(texts.indexed, READ):
        batch = collate([texts.indexed[row] for row in rows], levels)
        wide = Batch(batch.ids.expand(len(stack), *batch.ids.shape), batch.mask.expand(len(stack), *batch.mask.shape))
        with torch.no_grad():
            heads, scores, norms, terms = stack.apply(to_device(grouped(wide, levels), stack.device), seen)
        heads = {head: logits.double().cpu() for head, logits in heads.items()}  # (S, B, C), brought over at once
        masks = masks_of(batch.mask, levels)
        for place, own in enumerate(passes):
            own.add(rows, {head: logits[place] for head, logits in heads.items()})
            own.statistics.count(len(rows), {name: value[place] for name, value in terms.items()})
            for level, mask in enumerate(masks):
                norm = norms[level][place] if level in norms else None
                own.statistics.see(level, scores[level][place].cpu(), mask, norm)
    return passes


def seen(
    output: Output, _: Tensor | None
) -> tuple[dict[str, Tensor], list[Tensor], dict[int, Tensor], dict[str, Tensor]]:
    """The logits of every head, scores and norms of every level, and the pooling's own terms."""
    pooled = [trace.pooled for trace in output.traces]
    norms = {level: part.norm for level, part in enumerate(pooled) if part.norm is not None}
    heads = {**output.heads, LABEL: output.logits}
    return heads, [part.scores for part in pooled], norms, dict(pooled[-1].terms)


def mean(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Number by number, of what all records have."""
    shared = [name for name in records[0] if all(name in record for record in records)]
    return {name: mean_of([record[name] for record in records]) for name in shared}


def mean_of(values: Sequence[Any]) -> Any:
    if isinstance(values[0], str):
        return values[0]  # the name of a phase, which they are in together
    return mean(values) if isinstance(values[0], dict) else type(values[0])(np.mean(values))
