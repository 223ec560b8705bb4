"""One model, several seeds, trained together: what each seed gives is what it would give alone, but for the draw of dropout."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.config import Config, Training
from regard.data.collate import collate, in_order, shuffled_together
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.tasks import Task
from regard.models.trained import Trained, to_device
from regard.recording import Recorder
from regard.training.checkpoint import Progress
from regard.training.divergence import checked_answers, checked_loss
from regard.training.fit import Parts, first_metrics
from regard.training.fit_torch import Learned, Material, digest, environment, gather, index, make_model
from regard.training.graphs import make_step
from regard.training.loop import Texts, make_optimizer
from regard.training.metrics import measure
from regard.training.running import Running
from regard.training.stack import Stack, StackedStep, grouped, masks_of
from regard.training.statistics import Statistics
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
        key = "\0".join((Config(data).to_toml(), str(config.model.levels), str(seed), *given.digests, test))
        if self.kept is None or key != self.key:
            learned, tests = index(given, recorder), None
            if given.test is not None:
                tests = Texts([learned.tokenizer.encode(example.text) for example in given.test], given.truth)
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
        split: [measure(given.task, own, texts.labels) for own in answers(stack, given.task, texts.indexed)[0]]
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
        found.append(Trained(own_config, learned.tokenizer, given.task, metrics, weights=weights))
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
    """Until the last seed is over. A seed that is over, or went astray, is computed on but no longer looked at."""
    take = make_step(StackedStep(stack, task, config, make_optimizer(stack.weights.items(), config)))
    runs: list[Progress | InputError] = [Progress() for _ in seeds]
    epoch = 0
    while active := [
        place
        for place, run in enumerate(runs)
        if isinstance(run, Progress) and not run.is_over(config.epochs, config.patience)
    ]:
        epoch, begun = epoch + 1, time.perf_counter()
        torch.manual_seed(seeds[0] * 100_003 + epoch)
        stack.model.train()
        batches = shuffled_together(texts.indexed, config.batch_size, seeds, epoch)
        recorder.begin(epoch, config.epochs, len(batches))
        running = Running(len(batches), stack.device, (len(seeds),))
        for rows in batches:
            means = running.add(take(side_by_side(texts, rows, len(stack.model.levels))), rows.shape[1])
            recorder.step(None if means is None else float(means[active].mean()))
        losses = running.mean.tolist()
        said, statistics = answers(stack, task, (dev or texts).indexed)
        seconds = (time.perf_counter() - begun) / len(active)
        for place in active:
            run = runs[place]
            assert isinstance(run, Progress)
            try:
                checked_loss(losses[place], f"epoch {epoch}")
                checked_answers(said[place])
            except InputError as error:
                runs[place] = error
                continue
            record = {"epoch": epoch, "loss": losses[place], "seconds": seconds, **statistics[place].as_dict()}
            scores = measure(task, said[place], (dev or texts).labels)
            if run.add(record, scores, chosen_by_dev=dev is not None):
                run.best = stack.state(place)
        if ended := [run.history[-1] for run in runs if isinstance(run, Progress) and run.epoch == epoch]:
            recorder.end(mean(ended))
    return runs


def side_by_side(texts: Texts, rows: NDArray[np.int64], levels: int) -> Batch:
    """(S, B) row numbers -> a batch with the seeds' axis in front."""
    batch = collate([texts.indexed[row] for row in rows.flatten().tolist()], levels, texts.labels[rows.flatten()])
    assert batch.labels is not None
    ids, mask = (value.view(*rows.shape, *value.shape[1:]) for value in (batch.ids, batch.mask))
    return grouped(Batch(ids, mask, batch.labels.view(rows.shape)), levels)


def answers(stack: Stack, task: Task, texts: Sequence[Indexed]) -> tuple[NDArray[np.float64], list[Statistics]]:
    """Every model's answers to every text, (S, texts, …), and what their attention did."""
    levels, statistics = len(stack.model.levels), [Statistics() for _ in range(len(stack))]
    found = np.stack([task.answers(np.zeros((len(texts), task.out_dim)))] * len(stack))
    stack.model.eval()
    for rows in in_order(texts, READ):
        batch = collate([texts[row] for row in rows], levels)
        wide = Batch(batch.ids.expand(len(stack), *batch.ids.shape), batch.mask.expand(len(stack), *batch.mask.shape))
        with torch.no_grad():
            logits, scores, norms = stack.apply(to_device(grouped(wide, levels), stack.device), seen)
        said = logits.double().cpu()
        masks = masks_of(batch.mask, levels)
        for place, own in enumerate(statistics):
            found[place][rows] = task.answers(said[place])
            for level, mask in enumerate(masks):
                norm = norms[level][place] if level in norms else None
                own.see(level, scores[level][place].cpu(), mask, norm)
    return found, statistics


def seen(output: Output, _: Tensor | None) -> tuple[Tensor, list[Tensor], dict[int, Tensor]]:
    pooled = [trace.pooled for trace in output.traces]
    norms = {level: part.norm for level, part in enumerate(pooled) if part.norm is not None}
    return output.logits, [part.scores for part in pooled], norms


def mean(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Number by number, of what all records have."""
    shared = [name for name in records[0] if all(name in record for record in records)]
    return {name: mean_of([record[name] for record in records]) for name in shared}


def mean_of(values: Sequence[Any]) -> Any:
    return mean(values) if isinstance(values[0], dict) else type(values[0])(np.mean(values))
