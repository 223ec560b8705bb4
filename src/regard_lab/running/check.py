"""Whether a rerun agrees with the published rows: `regard reproduce PAPER/TABLE --out DIR --check`.

Every number of a cell that both have is compared. It is *identical* if all seeds in common have equal values. Otherwise it is
*within noise* unless Welch's t-test between the two sets of seeds (for a single seed: its distance from the published ones)
rejects that after Holm's correction over all numbers of the check. Seeds are not paired: on another device or version the same
seed is another run. Few seeds notice only large differences, so each line has the interval of its difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.errors import InputError
from regard_lab.claims.verdicts import several
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown, signed
from regard_lab.reading.locations import find_table, published_file, results_file, results_folder
from regard_lab.rendering.contents import checksums, grouped
from regard_lab.results import Results, read_results
from regard_lab.rows import CellKey
from regard_lab.statistics import holm
from regard_lab.tables.table import Table

ALPHA = 0.05
NOT_COMPARED = ("seconds",)  # durations depend on the machine
IDENTICAL, WITHIN, DIFFERS, UNKNOWN = "identical", "within noise", "differs", "not comparable"


class Compared(NamedTuple):
    cell: CellKey
    measure: str
    ours: Sequence[float]
    theirs: Sequence[float]
    difference: float
    half: float | None  # of the 95 % interval of the difference
    p: float | None  # None: identical, or not comparable
    result: str


class Check(NamedTuple):
    table: Table
    compared: Sequence[Compared]
    missing: int  # cells with published rows that were not run again
    other_files: Sequence[str]  # data files that are not the published ones

    @property
    def agrees(self) -> bool:
        return all(one.result != DIFFERS for one in self.compared)


def check(name: str, out: Path | None) -> Check:
    table = find_table(name)
    folder = results_folder(table, out)
    own, published = results_file(table, folder), published_file(table, folder)
    if published is None:
        raise InputError(
            f"{table.name}: expected published results next to {table.path.name} and yours in another folder, got none to "
            "compare with; check in a checkout of the repository, with --out naming the folder of your own run"
        )
    if not own.exists():
        raise InputError(f"{own}: expected results of a rerun, got none; run the same command without --check first")
    return compare(table, read_results(table, own), read_results(table, published))


def compare(table: Table, ours: Results, theirs: Results) -> Check:
    own_rows, published_rows = grouped(ours), grouped(theirs)
    numbers = []
    for cell in table.cells():
        for measure in cell.corpus.measures:
            if measure not in NOT_COMPARED:
                pair = (by_seed(rows.get(cell.key, ()), measure) for rows in (own_rows, published_rows))
                first, second = pair
                if first and second:
                    numbers.append(compare_number(cell.key, measure, first, second))
    corrected = holm([one.p for one in numbers])
    judged = [
        one._replace(result=DIFFERS) if p is not None and p < ALPHA else one
        for one, p in zip(numbers, corrected, strict=True)
    ]
    files, published_files = checksums(ours.good), checksums(theirs.good)
    changed = [file for file in files if file in published_files and not files[file] <= published_files[file]]
    return Check(table, judged, len(published_rows.keys() - own_rows.keys()), sorted(changed))


def compare_number(cell: CellKey, measure: str, ours: dict[int, float], theirs: dict[int, float]) -> Compared:
    first, second = list(ours.values()), list(theirs.values())
    difference = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    common = ours.keys() & theirs.keys()
    if common == ours.keys() and all(math.isclose(ours[seed], theirs[seed], rel_tol=1e-9) for seed in common):
        return Compared(cell, measure, first, second, difference, None, None, IDENTICAL)
    if len(second) < 2:
        return Compared(cell, measure, first, second, difference, None, None, UNKNOWN)
    p, half = noise_test(first, second, difference)
    return Compared(cell, measure, first, second, difference, half, p, WITHIN)


def noise_test(first: Sequence[float], second: Sequence[float], difference: float) -> tuple[float, float]:
    """Two-sided p that both come from one distribution of seeds, and half of the 95 % interval of the difference."""
    from scipy.special import stdtr, stdtrit  # type: ignore[import-untyped]

    if len(first) > 1:  # Welch
        parts = [variance(values) / len(values) for values in (first, second)]
        total = math.fsum(parts)
        freedom = (
            total**2
            / math.fsum(part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True))
            if total
            else 1.0
        )
    else:  # one new seed among the published ones
        total, freedom = variance(second) * (1 + 1 / len(second)), len(second) - 1.0
    if not total:
        return (1.0 if math.isclose(difference, 0.0, abs_tol=1e-12) else 0.0), 0.0
    error = math.sqrt(total)
    return float(2 * stdtr(freedom, -abs(difference) / error)), float(stdtrit(freedom, 0.975)) * error


def variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def report(result: Check) -> Iterator[str]:
    """The lines that the command prints, the conclusion last."""
    order = (DIFFERS, UNKNOWN, WITHIN, IDENTICAL)
    for one in sorted(result.compared, key=lambda one: order.index(one.result)):
        yield line(result.table, one)
    for file in result.other_files:
        yield f"{file}: not the file of the published results"
    counts = [(word, sum(one.result == word for one in result.compared)) for word in reversed(order)]
    words = ", ".join(f"{count} {word}" for word, count in counts if count)
    cells = several(len({one.cell for one in result.compared}), "cell")
    missing = f"; {several(result.missing, 'published cell')} not run again" if result.missing else ""
    if not result.compared:
        yield f"{result.table.name}: nothing to compare{missing}"
        return
    verdict = "agrees with the published rows within noise" if result.agrees else "differs from the published rows"
    yield f"{result.table.name}: {verdict} ({several(len(result.compared), 'number')} in {cells}: {words}{missing})"


def line(table: Table, one: Compared) -> str:
    definition: Measure = table.measure(one.measure)
    means = [math.fsum(values) / len(values) for values in (one.ours, one.theirs)]
    seeds = [several(len(values), "seed") for values in (one.ours, one.theirs)]
    half = f" ± {shown(one.half, definition)}" if one.half is not None else ""
    name = f"{table.corpora[one.cell[1]].title}, {table.title_of(one.cell)}, {definition.title}"
    return (
        f"{one.result}: {name}: {shown(means[0], definition)} ({seeds[0]}) against {shown(means[1], definition)} "
        f"({seeds[1]}), {signed(one.difference, definition)}{half}"
    )
