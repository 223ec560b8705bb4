"""Evaluation of a model during training: scores of every head, and statistics of every level's attention."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.models.tasks import LABEL, Task
from regard.process_group import ProcessGroup
from regard.run_metrics import EvaluationRecord, Metrics, Scores, SpreadRecord
from regard.training.divergence import checked_answers
from regard.training.metrics import measure, scalar_metrics
from regard.values import Output


@dataclass
class Spread:
    """Count, mean, standard deviation and range of numbers that are added in parts."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    def add(self, values: Tensor) -> None:
        values = values.detach().double().flatten()
        if values.numel():
            self.count += values.numel()
            self.total += values.sum().item()
            self.squares += values.square().sum().item()
            self.low = min(self.low, values.min().item())
            self.high = max(self.high, values.max().item())

    def join(self, other: Spread) -> None:
        """Add the numbers of another one."""
        self.count, self.total, self.squares = (
            self.count + other.count,
            self.total + other.total,
            self.squares + other.squares,
        )
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    def as_dict(self) -> SpreadRecord:
        mean = self.total / self.count
        deviation = math.sqrt(max(self.squares / self.count - mean**2, 0.0))
        return {"mean": mean, "std": deviation, "min": self.low, "max": self.high}


LEVELS = ("words", "sentences", "parts")


class AttentionStatistics:
    """Attention scores (already divided by λ), norms p and penalties over the texts of one evaluation."""

    def __init__(self) -> None:
        self.scores: dict[str, Spread] = {}  # by level
        self.norms: dict[str, Spread] = {}
        # number of words and norm of each text, for models of one level with one norm per text
        self.text_lengths: list[Tensor] = []
        self.text_norms: list[Tensor] = []
        self.texts = 0
        self.terms: Scores = {}  # penalties of the top level's pooling, summed over texts
        self.heads: dict[str, Scores] = {}  # scores of heads other than the label's; set by the caller

    def add(self, output: Output) -> None:
        self.add_terms(len(output.logits), output.traces[-1].pooled.terms)
        for level, trace in enumerate(output.traces):
            self.add_level(level, trace.pooled.scores, trace.mask, trace.pooled.norm)

    def add_terms(self, texts: int, terms: Mapping[str, Tensor]) -> None:
        """Add the means of the penalties over a batch of texts."""
        self.texts += texts
        for name, value in terms.items():
            self.terms[name] = self.terms.get(name, 0.0) + texts * value.item()

    def add_level(self, level: int, scores: Tensor, mask: Tensor, norm: Tensor | None) -> None:
        self.scores.setdefault(LEVELS[level], Spread()).add(scores[mask])
        if norm is None:
            return
        self.norms.setdefault(LEVELS[level], Spread()).add(norm)
        # below the top, only rows with words have a norm, and their order is not that of the mask
        if norm.ndim == mask.ndim == 2:
            self.text_lengths.append(mask.sum(-1).cpu())
            self.text_norms.append(norm[:, 0].detach().cpu())

    def message(self) -> dict[str, Any]:
        """Everything as JSON can hold it, for the other processes of a group."""
        return {
            "scores": {name: astuple(spread) for name, spread in self.scores.items()},
            "norms": {name: astuple(spread) for name, spread in self.norms.items()},
            "lengths": torch.cat(self.text_lengths).tolist() if self.text_lengths else [],
            "text_norms": torch.cat(self.text_norms).tolist() if self.text_norms else [],
            "texts": self.texts,
            "terms": self.terms,
        }

    def join(self, message: Mapping[str, Any]) -> None:
        """Add the texts of another process."""
        for spreads, others in ((self.scores, message["scores"]), (self.norms, message["norms"])):
            for name, values in others.items():
                spreads.setdefault(name, Spread()).join(Spread(*values))
        self.text_lengths.append(torch.tensor(message["lengths"], dtype=torch.int64))
        self.text_norms.append(torch.tensor(message["text_norms"]))
        self.texts += message["texts"]
        for name, total in message["terms"].items():
            self.terms[name] = self.terms.get(name, 0.0) + total

    def as_dict(self) -> EvaluationRecord:
        record: EvaluationRecord = {}
        if self.terms:
            record["terms"] = {name: total / self.texts for name, total in self.terms.items()}
        if self.heads:
            record["heads"] = self.heads
        record["scores"] = {name: spread.as_dict() for name, spread in self.scores.items() if spread.count}
        record["norms"] = {name: spread.as_dict() for name, spread in self.norms.items() if spread.count}
        if LEVELS[0] in record["norms"] and (correlation := self.length_correlation()) is not None:
            record["norms"][LEVELS[0]]["length"] = correlation
        return record

    def length_correlation(self) -> float | None:
        """The correlation of log norm and log length over texts; None if one of them does not vary."""
        if not self.text_norms:
            return None
        lengths, norms = torch.cat(self.text_lengths).double(), torch.cat(self.text_norms).double()
        both = torch.stack((lengths, norms))[:, lengths > 0].log()
        if both.size(1) < 2 or both.std(1).min() < 1e-9:
            return None
        return float(torch.corrcoef(both)[0, 1])


class Evaluator:
    """Collects the answers of every head to labelled texts, batch by batch in any order, and scores them."""

    def __init__(self, task: Task, labels: NDArray[np.float64]) -> None:
        self.task, self.labels, self.statistics = task, labels, AttentionStatistics()
        self.answers = {LABEL: task.answers(np.zeros((len(labels), task.out_dim)))}  # by head, in the texts' order
        self.is_read = np.zeros(len(labels), dtype=bool)

    def add(self, rows: NDArray[np.int64], heads: Mapping[str, Tensor]) -> None:
        """Add the logits of every head, (B, C), for the texts with these indices."""
        self.is_read[rows] = True
        for head, logits in heads.items():
            answers = self.answers.setdefault(head, np.empty_like(self.answers[LABEL]))
            answers[rows] = self.task.answers(logits.double().cpu())

    def combine(self, group: ProcessGroup) -> None:
        """Put the shares of all processes together. Every text was read by one of them."""
        for head, answers in self.answers.items():  # in the same order everywhere
            answers[~self.is_read] = 0
            self.answers[head] = group.add_array(answers)
        messages = group.gathered(self.statistics.message())
        self.statistics = AttentionStatistics()
        for message in messages:
            self.statistics.join(message)

    def result(self, remedy: str = "lr") -> tuple[Metrics, AttentionStatistics]:
        """Scores of the label's head, and statistics with the scores of other heads. An error if a head diverged."""
        finite = {head: checked_answers(answers, remedy) for head, answers in self.answers.items()}
        scores = {head: measure(self.task, answers, self.labels) for head, answers in finite.items()}
        self.statistics.heads = {head: scalar_metrics(each) for head, each in scores.items() if head != LABEL}
        return scores[LABEL], self.statistics
