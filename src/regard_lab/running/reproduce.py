"""A table from its name to its rendered files: what is there is kept, what is missing is run, all is drawn."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.errors import InputError
from regard.files import check_writable
from regard_lab.claims.verdicts import several
from regard_lab.reading.locations import find_table, results_file, results_folder
from regard_lab.rendering.contents import checksums
from regard_lab.rendering.render import render
from regard_lab.results import Lock, append, read_results, repair
from regard_lab.rows import Options
from regard_lab.running.plan import Job, Queue, RunTimes, deciding_first, make_jobs, wanted
from regard_lab.running.progress import ProgressDisplay
from regard_lab.running.workers import run_in_workers, run_inline
from regard_lab.tables.corpora import check_corpora
from regard_lab.tables.table import Cell, Table


@dataclass(frozen=True)
class RunOptions:
    """What the command line asks for."""

    seeds: int | None = None
    device: str = "auto"
    only: Sequence[str] = ()
    budget: float | None = None
    jobs: int | None = None
    out: Path | None = None
    retry_failed: bool = False


def reproduce(name: str, wish: RunOptions) -> list[Path]:
    """Run what is missing of a table and render all of it; the files that were written."""
    check_run_options(wish)
    table = find_table(name)
    cells = wanted(table, wish.only)
    check_corpora(cells, table.name)
    check_cells(table, cells)
    device = choose(wish.device)
    folder = results_folder(table, wish.out)
    check_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = results_file(table, folder)
    with Lock(path):
        run_missing(table, cells, path, device, wish)
        return render(table, folder)


def render_only(name: str, out: Path | None) -> list[Path]:
    table = find_table(name)
    folder = results_folder(table, out)
    path = results_file(table, folder)
    if not path.exists():
        raise InputError(f"{path}: there are no results to render yet; without --render the cells are run")
    watch = ProgressDisplay(table, 0)
    for told in read_results(table, path).told:
        watch.note(told)
    note_mixed_files(watch, path, table)
    return render(table, folder)


def run_missing(table: Table, cells: Sequence[Cell], path: Path, device: str, wish: RunOptions) -> None:
    mended = repair(path)
    results = read_results(table, path)
    done = {place for place, row in results.rows.items() if not (wish.retry_failed and "error" in row)}
    jobs = make_jobs(cells, wish.seeds, done, together=device != "cpu")
    if wish.budget is not None:
        jobs = deciding_first(jobs, table.first)
    pace = RunTimes(device)
    pace.add(results.good)
    workers, threads = worker_counts(device, wish.jobs)
    runs = sum(len(job.seeds) for job in jobs)
    queue = Queue(jobs, pace, wish.budget)
    with ProgressDisplay(table, runs) as watch:
        for told in (*([mended] if mended else []), *results.told):
            watch.note(told)
        kept = sum(1 for cell in cells for seed in range(seeds_of(cell, wish)) if (*cell.key, seed) in done)
        beside = f" on {device}" + (f", {workers} at a time" if workers > 1 else "")
        watch.note(
            f"{table.name}: {several(runs, 'run')} to do{beside if runs else ''}, {kept} of those asked for are there already"
        )
        note_failed(watch, [row for place, row in results.rows.items() if "error" in row and place in done])
        try:
            run_queue(queue, table, path, device, workers, threads, watch)
        except KeyboardInterrupt:
            watch.note(f"stopped: {watch.done} runs were done, {runs - watch.done} are left; the same command goes on")
            raise
        if queue.jobs:
            left = sum(len(job.seeds) for job in queue.jobs)
            watch.note(f"the budget of {wish.budget:g} minutes is over: {left} runs are left; the same command goes on")
        if watch.failed:
            watch.note(f"{watch.failed} of {watch.done} runs failed; --retry-failed runs them again")
        note_mixed_files(watch, path, table)


def run_queue(
    queue: Queue, table: Table, path: Path, device: str, workers: int, threads: int, watch: ProgressDisplay
) -> None:
    running: dict[str, tuple[Job, float]] = {}
    heard: set[str] = set()
    happening = (
        run_in_workers(queue, table.name, device, workers, threads)
        if workers
        else run_inline(queue, table.name, device)
    )
    for told in happening:
        if told is None:
            continue
        name = told.job.name
        if told.kind == "begun":
            running[name] = (told.job, time.monotonic())
            watch.begun(name)
        elif told.kind == "epoch":
            watch.epoch(name, told.content)
        elif told.kind == "halved":
            watch.note(f"{name}: {told.content}")
        elif told.kind == "note" and (said := f"{told.job.cell.corpus.name}: {told.content}") not in heard:
            heard.add(said)  # every cell of a corpus says it again
            watch.note(said)
        elif told.kind == "row":
            append(path, told.content)
            queue.pace.add([told.content])
            begun = [queue.pace.seconds(job) or 0.0 for job, _ in running.values() if job is not told.job]
            left = queue.pace.left(queue.jobs, workers)
            watch.row(
                told.content, told.job.cell.name, None if left is None else left + sum(begun) / max(workers, 1) / 2
            )
        elif told.kind == "done":
            running.pop(name, None)
            watch.ended(name)


def note_failed(watch: ProgressDisplay, rows: Sequence[object]) -> None:
    if rows:
        watch.note(f"{len(rows)} runs failed before and are not tried again; --retry-failed does")


def note_mixed_files(watch: ProgressDisplay, path: Path, table: Table) -> None:
    """A corpus may have changed since the first runs; the rendered table lists the checksums."""
    mixed = [file for file, sums in sorted(checksums(read_results(table, path).good).items()) if len(sums) > 1]
    if mixed:
        watch.note(
            f"{path}: runs were made with different files of one name, and means are over all of them: {', '.join(mixed)}; "
            "where that is not meant, give another folder by --out"
        )


def seeds_of(cell: Cell, wish: RunOptions) -> int:
    return cell.seeds if wish.seeds is None else wish.seeds


def check_run_options(wish: RunOptions) -> None:
    for name, value, least in (("seeds", wish.seeds, 1), ("jobs", wish.jobs, 0)):
        if value is not None and not least <= value <= 1000:
            raise InputError(f"--{name} {value}: from {least} to 1000 is accepted")
    if wish.budget is not None and not 0 < wish.budget < float("inf"):
        raise InputError(f"--budget {wish.budget:g}: a number of minutes above 0 is accepted")


def check_cells(table: Table, cells: Sequence[Cell]) -> None:
    """Refuse what cannot be built before anything is read."""
    if table.does.check is None:
        return
    seen: list[Options] = []
    for cell in cells:
        if cell.options not in seen:
            seen.append(cell.options)
            try:
                table.does.check(cell)
            except InputError as error:
                raise InputError(f"{table.path}: {cell.name}: {error}") from None


def choose(device: str) -> str:
    """cpu or cuda; auto takes CUDA where there is one."""
    from regard.training.device import choose_device

    return choose_device(device).type


def worker_counts(device: str, jobs: int | None) -> tuple[int, int]:
    """(processes, threads of each): on CUDA one; on a CPU two threads each, as many as there are cores."""
    if device != "cpu":
        return (1 if jobs is None else jobs), 0
    cores = len(os.sched_getaffinity(0)) if "sched_getaffinity" in dir(os) else os.cpu_count() or 1
    workers = max(1, cores // 2) if jobs is None else jobs
    own = os.environ.get("OMP_NUM_THREADS", "")
    return workers, int(own) if own.isdecimal() and int(own) else max(1, cores // max(workers, 1))
