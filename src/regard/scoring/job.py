"""What is scored, and where to: everything that a process needs, here or on another machine, to score a partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from regard.models.model import Model
from regard.report.text.predictions import Layout
from regard.scoring.locations import locate
from regard.scoring.parquet_files import Columns, Counts, score_partition
from regard.scoring.partitions import Partition
from regard.scoring.scorer import Scorer


@dataclass(frozen=True)
class Job:
    source: str  # the address of the folder that the files are in
    target: str
    columns: Columns
    layout: Layout
    words: int = 0  # how many words of each text are written with their contributions


class Outcome(NamedTuple):
    """What became of a partition."""

    partition: Partition
    counts: Counts | None  # None: it failed
    reason: str = ""


class PartitionScorer:
    """A model that scores one partition after another."""

    def __init__(self, job: Job, trained: Model) -> None:
        self.job = job
        self.scorer = Scorer(trained, job.layout, job.words)
        self.source, self.target = locate(job.source), locate(job.target)

    def __call__(self, partition: Partition) -> Counts:
        return score_partition(self.scorer, self.source, self.target, partition, self.job.columns)
