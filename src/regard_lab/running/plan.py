"""Which runs to make, in which order, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from statistics import fmean

from regard.errors import InputError
from regard_lab.reading.checks import suggestion
from regard_lab.rows import Row, RunKey
from regard_lab.tables.table import Cell, Table

TOO_LONG = 1.5  # a cell is not started if it would take more than this times the rest of the budget


@dataclass(frozen=True)
class Job:
    """One cell and the seeds to run together."""

    cell: Cell
    seeds: tuple[int, ...]

    def halves(self) -> list[Job]:
        middle = (len(self.seeds) + 1) // 2
        return [Job(self.cell, self.seeds[:middle]), Job(self.cell, self.seeds[middle:])]

    @property
    def name(self) -> str:
        seeds = f"seed {self.seeds[0]}" if len(self.seeds) == 1 else f"{len(self.seeds)} seeds"
        return f"{self.cell.name}, {seeds}"


def select_cells(table: Table, only: Sequence[str]) -> list[Cell]:
    """The cells that --only selects. `NAME` is a corpus, method or setting, `A/B` means both; * matches anything."""
    cells = list(table.cells())
    if not only:
        return cells
    for text in only:
        if not any(matches(cell, text) for cell in cells):
            names = [*table.corpora, *table.methods, *table.settings]
            names += ["/".join(filter(None, (cell.corpus.name, cell.method))) for cell in cells]
            raise InputError(f"--only {text}: no cell of {table.name} matches{suggestion(text, dict.fromkeys(names))}")
    return [cell for cell in cells if any(matches(cell, text) for text in only)]


def matches(cell: Cell, text: str) -> bool:
    names = (cell.corpus.name, cell.method, cell.setting)
    return all(any(fnmatchcase(name, part) for name in names if name) for part in text.split("/"))


def make_jobs(cells: Sequence[Cell], seeds: int | None, done: Collection[RunKey], together: bool) -> list[Job]:
    """Seed by seed, so that an early stop leaves complete tables of fewer seeds; `together`: one job per cell."""
    jobs = []
    count = {cell.key: cell.seeds if seeds is None else seeds for cell in cells}
    if together:
        for cell in cells:
            left = tuple(seed for seed in range(count[cell.key]) if (*cell.key, seed) not in done)
            jobs += [Job(cell, left)] if left else []
        return jobs
    for seed in range(max(count.values(), default=0)):
        jobs += [Job(cell, (seed,)) for cell in cells if seed < count[cell.key] and (*cell.key, seed) not in done]
    return jobs


def decisive_first(jobs: list[Job], first: Sequence[str]) -> list[Job]:
    """Jobs of the methods that decide a claim first; otherwise in the same order."""
    return sorted(jobs, key=lambda job: job.cell.method not in first)


@dataclass
class RunTimes:
    """Estimates the seconds per run from earlier runs: of the same cell, else of its corpus, else of all."""

    device: str
    cells: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.get("device") == self.device and "error" not in row:
                key = (row["method"], row["corpus"], row["setting"])
                self.cells.setdefault(key, []).append(float(row.get("seconds", 0.0)))

    def seconds(self, job: Job) -> float | None:
        if earlier := self.cells.get(job.cell.key):
            return fmean(earlier) * len(job.seeds)
        of_corpus = [fmean(earlier) for key, earlier in self.cells.items() if key[1] == job.cell.corpus.name]
        every = of_corpus or [fmean(earlier) for earlier in self.cells.values()]
        return fmean(every) * len(job.seeds) if every else None

    def left(self, jobs: Iterable[Job], workers: int) -> float | None:
        estimates = [self.seconds(job) for job in jobs]
        known = [seconds for seconds in estimates if seconds is not None]
        return sum(known) / max(workers, 1) if len(known) == len(estimates) else None


class Queue:
    """The jobs that are still to start; with a budget, none that would end long after it."""

    def __init__(self, jobs: Sequence[Job], times: RunTimes, budget: float | None):
        self.jobs = list(jobs)
        self.times = times
        self.end = None if budget is None else time.monotonic() + 60 * budget

    def halve(self, job: Job) -> str:
        """Put a job back at the front as two jobs of half the seeds. Returns a note for the user."""
        self.jobs[:0] = job.halves()
        return f"out of memory with {len(job.seeds)} seeds at once; continuing with {len(self.jobs[0].seeds)}"

    def take(self) -> Job | None:
        """The next job that fits into the budget; None if there is none."""
        left = None if self.end is None else self.end - time.monotonic()
        for index, job in enumerate(self.jobs):
            if left is None or (left > 0 and (self.times.seconds(job) or 0.0) <= TOO_LONG * left):
                return self.jobs.pop(index)
        return None
