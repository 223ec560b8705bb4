"""What the page shows, computed from the cells alone: means, comparisons of time on one machine, and the fastest systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import geometric_mean, median
from typing import NamedTuple

import numpy as np
from cells import DEVELOPMENT, OTHERS
from ranking import Rank, mean_ranks
from storage import Row
from systems import SYSTEMS

from regard.student import t_quantile


class Machine(NamedTuple):
    """Times are compared between cells of the same machine only."""

    device: str
    cpu: str
    threads: str
    is_shared: bool = False  # other processes had priority, so that times are CPU times

    def __str__(self) -> str:
        where = "" if self.device == "cpu" else f"{self.device}, "
        threads = "1 thread" if self.threads == "1" else f"{self.threads} threads"
        return f"{where}{self.cpu}, {threads}{', CPU time' if self.is_shared else ''}"


class Mean(NamedTuple):
    value: float
    half: float | None  # of the 95 % interval over draws; None: one draw
    draws: int


@dataclass(frozen=True)
class Timed:
    """A system on the corpora of a comparison: the mean accuracy, and geometric means of the rest over the corpora."""

    system: str
    accuracy: float
    train: float
    train_cpu: float
    speed: float  # texts predicted per second
    megabytes: float | None  # the largest peak


@dataclass(frozen=True)
class Comparison:
    """Systems that ran on the same machine with the same corpora."""

    machine: Machine
    size: int
    corpora: tuple[str, ...]
    systems: tuple[Timed, ...]

    @property
    def weight(self) -> int:
        """Pairs of systems that are compared, on how many corpora."""
        return len(self.corpora) * len(list(combinations(self.systems, 2)))


class Reached(NamedTuple):
    """A system that reached an accuracy on a corpus, on a machine, at a commit."""

    machine: Machine
    system: str
    setting: str
    texts: int
    seconds: float
    accuracy: float
    draws: int
    commit: str
    date: str


@dataclass(frozen=True)
class Board:
    rows: Sequence[Row]

    @cached_property
    def groups(self) -> dict[tuple[str, str, int], list[Row]]:
        """The draws of each cell, by system, corpus and size."""
        found: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
        for row in sorted(self.rows, key=lambda row: row["draw"]):
            found[row["system"], row["corpus"], row["size"]].append(row)
        return dict(found)

    @cached_property
    def systems(self) -> list[str]:
        """In the order of the table of systems; those that it no longer lists come last."""
        present = {row["system"] for row in self.rows}
        return [name for name in SYSTEMS if name in present] + sorted(present - set(SYSTEMS))

    @cached_property
    def untuned(self) -> list[str]:
        tuned = {row["system"] for row in self.rows if row.get("tuned")}
        return [name for name in self.systems if name not in tuned]

    @cached_property
    def corpora(self) -> list[str]:
        present = {row["corpus"] for row in self.rows}
        known = [*DEVELOPMENT, *OTHERS]
        return [name for name in known if name in present] + sorted(present - set(known))

    def values(self, system: str, corpus: str, size: int, measure: str) -> list[float]:
        return [row[measure] for row in self.groups.get((system, corpus, size), [])]

    def part(self, system: str, size: int) -> tuple[tuple[str, ...], frozenset[int]]:
        """The corpora on which a system ran with this number of texts, and the draws that all of them have."""
        corpora = tuple(name for name in self.corpora if (system, name, size) in self.groups)
        cells = of_shared_draws([self.groups[system, name, size] for name in corpora])
        return corpora, frozenset(row["draw"] for row in (cells[0] if cells else []))

    def mean(
        self, system: str, corpora: Iterable[str], size: int, measure: str, among: Collection[int] | None = None
    ) -> Mean | None:
        """Over the corpora and the draws that all of them have; None if there is none, or a corpus is missing.

        The interval is that of the means of each draw over the corpora. `among`: over these draws, None if one is missing.
        """
        given = [self.groups.get((system, corpus, size), []) for corpus in corpora]
        cells = of_shared_draws([[row for row in rows if among is None or row["draw"] in among] for rows in given])
        if not cells or not cells[0] or (among is not None and len(cells[0]) < len(among)):
            return None
        draws = np.mean([[row[measure] for row in rows] for rows in cells], axis=0)
        center, count = float(draws.mean()), len(draws)
        if count < 2:
            return Mean(center, None, count)
        return Mean(center, float(t_quantile(count - 1, 0.975) * draws.std(ddof=1) / np.sqrt(count)), count)

    def ranks(self, size: int, measure: str = "accuracy") -> dict[str, Rank]:
        """Of the untuned systems that have all corpora and draws (with all texts also one draw); {} if fewer than two have."""
        scores = {
            name: {corpus: self.values(name, corpus, size, measure) for corpus in self.corpora} for name in self.untuned
        }
        most = max((len(values) for one in scores.values() for values in one.values()), default=0)
        counts = {most} if size else {1, most}
        complete = {name: one for name, one in scores.items() if {len(values) for values in one.values()} <= counts}
        return mean_ranks(complete) if most and len(complete) > 1 else {}

    def comparisons(self, size: int) -> list[Comparison]:
        """One per machine, the one with the most pairs of systems and corpora first."""
        machines = sorted({machine_of(row) for row in self.rows if row["size"] == size})
        found = [self.comparison(machine, size) for machine in machines]
        return sorted((one for one in found if one.weight), key=lambda one: -one.weight)

    def comparison(self, machine: Machine, size: int) -> Comparison:
        """On the corpora that the most systems have on this machine, the systems that have all of them there.

        Systems with less than half of all corpora of this size do not decide which corpora these are.
        """
        groups = {
            (system, corpus): rows
            for (system, corpus, of), rows in self.groups.items()
            if of == size and is_timed(rows) and {machine_of(row) for row in rows} == {machine}
        }
        deciding = {name for name in self.systems if 2 * len(self.part(name, size)[0]) >= len(self.corpora)}
        counts = {
            corpus: sum(corpus == other and name in deciding for name, other in groups) for corpus in self.corpora
        }
        corpora = tuple(name for name in self.corpora if counts[name] == max(counts.values(), default=0) > 0)
        cells = {name: [groups.get((name, corpus), []) for corpus in corpora] for name in self.systems if corpora}
        timed = tuple(timed_system(name, rows) for name, rows in cells.items() if of_shared_draws(rows)[0])
        return Comparison(machine, size, corpora, timed)

    def reached(self, corpus: str, accuracy: float) -> list[Reached]:
        """Systems whose mean accuracy is at least this, machine by machine, the fastest first."""
        groups: dict[tuple[Machine, str, int, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            if row["corpus"] == corpus and is_timed([row]):
                groups[machine_of(row), row["system"], row["size"], row["commit"]].append(row)
        found = [
            Reached(
                machine,
                system,
                rows[0]["setting"],
                rows[0]["texts"],
                median(spent(row, "train") for row in rows),
                float(np.mean([row["accuracy"] for row in rows])),
                len(rows),
                commit,
                max(row["date"] for row in rows),
            )
            for (machine, system, _, commit), rows in groups.items()
        ]
        return sorted(
            (one for one in found if one.accuracy >= accuracy), key=lambda one: (one.machine, one.seconds, one.system)
        )


def machine_of(row: Row) -> Machine:
    """Cells of the first version do not name a device: all of them ran on a CPU."""
    device = row.get("device", "cpu")
    is_shared = row.get("nice", 0) > 0 and device == "cpu"
    return Machine(device, row["environment"]["cpu"], row["environment"]["threads"], is_shared)


def spent(row: Row, step: str) -> float:
    """Seconds of training ("train") or prediction ("predict")."""
    return float(row[f"{step}_cpu_seconds" if machine_of(row).is_shared else f"{step}_seconds"])


def of_shared_draws(cells: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Of each cell the draws that all of them have, in their order: means of unequal sets of draws are not comparable."""
    shared = set.intersection(*({row["draw"] for row in rows} for rows in cells)) if cells else set()
    return [sorted((row for row in rows if row["draw"] in shared), key=lambda row: row["draw"]) for rows in cells]


def is_timed(rows: Sequence[Row]) -> bool:
    """Whether the times contain everything that the system does."""
    return not any(left_out(row) for row in rows)


def left_out(row: Row) -> str:
    """What the times of a cell do not contain; cells of the first version do not say it themselves."""
    system = SYSTEMS.get(row["system"])
    return str(row.get("times_leave_out", system.times_leave_out if system else ""))


def timed_system(name: str, cells: Sequence[Sequence[Row]]) -> Timed:
    """`cells`: the draws of each corpus. The time on a corpus is the median over them; accuracy is over draws that all have."""

    def typical(value: Callable[[Row], float]) -> float:
        return geometric_mean([max(median(value(row) for row in rows), 1e-3) for rows in cells])

    peaks = [row["peak_megabytes"] for rows in cells for row in rows if row["peak_megabytes"]]
    return Timed(
        name,
        float(np.mean([[row["accuracy"] for row in rows] for rows in of_shared_draws(cells)])),
        typical(lambda row: spent(row, "train")),
        typical(lambda row: row["train_cpu_seconds"]),
        typical(lambda row: row["scored_texts"] / max(spent(row, "predict"), 1e-3)),
        max(peaks, default=None),
    )
