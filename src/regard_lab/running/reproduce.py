"""Reproduce a table: keep existing results, run what is missing, render everything."""

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
from regard_lab.running.plan import Job, Queue, RunTimes, decisive_first, make_jobs, select_cells
from regard_lab.running.progress import ProgressDisplay
from regard_lab.running.workers import run_in_workers, run_inline
from regard_lab.tables.corpora import check_corpora
from regard_lab.tables.table import Cell, Table


@dataclass(frozen=True)
class RunOptions:
    """Options of the command line."""

    seeds: int | None = None
    device: str = "auto"
    only: Sequence[str] = ()
    budget: float | None = None
    jobs: int | None = None
    out: Path | None = None
    retry_failed: bool = False


def reproduce(name: str, options: RunOptions) -> list[Path]:
    """Run the missing cells of a table and render all of it. Returns the files that were written."""
    check_run_options(options)
    table = find_table(name)
    cells = select_cells(table, options.only)
    check_corpora(cells, table.name)
    check_cells(table, cells)
    device = device_type(options.device)
    folder = results_folder(table, options.out)
    check_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = results_file(table, folder)
    with Lock(path):
        run_missing(table, cells, path, device, options)
        return render(table, folder)


def render_only(name: str, out: Path | None) -> list[Path]:
    table = find_table(name)
    folder = results_folder(table, out)
    path = results_file(table, folder)
    if not path.exists():
        raise InputError(f"{path}: no results to render yet; leave out --render to run the cells")
    progress = ProgressDisplay(table, 0)
    for note in read_results(table, path).notes:
        progress.note(note)
    note_mixed_files(progress, path, table)
    return render(table, folder)


def run_missing(table: Table, cells: Sequence[Cell], path: Path, device: str, options: RunOptions) -> None:
    repaired = repair(path)
    results = read_results(table, path)
    done = {run for run, row in results.rows.items() if not (options.retry_failed and "error" in row)}
    jobs = make_jobs(cells, options.seeds, done, together=device != "cpu")
    if options.budget is not None:
        jobs = decisive_first(jobs, table.first)
    times = RunTimes(device)
    times.add(results.good)
    workers, threads = worker_counts(device, options.jobs)
    runs = sum(len(job.seeds) for job in jobs)
    queue = Queue(jobs, times, options.budget)
    with ProgressDisplay(table, runs) as progress:
        for note in (*([repaired] if repaired else []), *results.notes):
            progress.note(note)
        kept = sum(1 for cell in cells for seed in range(seeds_of(cell, options)) if (*cell.key, seed) in done)
        where = f" on {device}" + (f", {workers} at a time" if workers > 1 else "")
        progress.note(
            f"{table.name}: {several(runs, 'run')} to do{where if runs else ''}, {kept} of the requested runs exist already"
        )
        note_failed(progress, [row for run, row in results.rows.items() if "error" in row and run in done])
        try:
            run_queue(queue, table, path, device, workers, threads, progress)
        except KeyboardInterrupt:
            progress.note(
                f"stopped: {progress.done} runs done, {runs - progress.done} left; the same command continues"
            )
            raise
        if queue.jobs:
            left = sum(len(job.seeds) for job in queue.jobs)
            progress.note(
                f"the budget of {options.budget:g} minutes is used up: {left} runs left; the same command continues"
            )
        if progress.failed:
            progress.note(f"{progress.failed} of {progress.done} runs failed; --retry-failed runs them again")
        note_mixed_files(progress, path, table)


def run_queue(
    queue: Queue, table: Table, path: Path, device: str, workers: int, threads: int, progress: ProgressDisplay
) -> None:
    running: dict[str, tuple[Job, float]] = {}
    shown_notes: set[str] = set()
    events = (
        run_in_workers(queue, table.name, device, workers, threads)
        if workers
        else run_inline(queue, table.name, device)
    )
    for event in events:
        if event is None:
            continue
        name = event.job.name
        if event.kind == "begun":
            running[name] = (event.job, time.monotonic())
            progress.begun(name)
        elif event.kind == "epoch":
            progress.epoch(name, event.content)
        elif event.kind == "halved":
            progress.note(f"{name}: {event.content}")
        elif event.kind == "note" and (text := f"{event.job.cell.corpus.name}: {event.content}") not in shown_notes:
            shown_notes.add(text)  # every cell of a corpus repeats it
            progress.note(text)
        elif event.kind == "row":
            append(path, event.content)
            queue.times.add([event.content])
            running_seconds = [queue.times.seconds(job) or 0.0 for job, _ in running.values() if job is not event.job]
            left = queue.times.left(queue.jobs, workers)
            progress.row(
                event.content,
                event.job.cell.name,
                None if left is None else left + sum(running_seconds) / max(workers, 1) / 2,
            )
        elif event.kind == "done":
            running.pop(name, None)
            progress.ended(name)


def note_failed(progress: ProgressDisplay, rows: Sequence[object]) -> None:
    if rows:
        progress.note(
            f"{several(len(rows), 'run')} failed earlier and {'is' if len(rows) == 1 else 'are'} not repeated; use --retry-failed"
        )


def note_mixed_files(progress: ProgressDisplay, path: Path, table: Table) -> None:
    """Warn if a corpus has changed since the first runs; the rendered table lists the checksums."""
    mixed = [file for file, sums in sorted(checksums(read_results(table, path).good).items()) if len(sums) > 1]
    if mixed:
        progress.note(
            f"{path}: runs used different versions of these files, and means are over all of them: {', '.join(mixed)}; "
            "if this is not intended, choose another folder with --out"
        )


def seeds_of(cell: Cell, options: RunOptions) -> int:
    return cell.seeds if options.seeds is None else options.seeds


def check_run_options(options: RunOptions) -> None:
    for name, value, least in (("seeds", options.seeds, 1), ("jobs", options.jobs, 0)):
        if value is not None and not least <= value <= 1000:
            raise InputError(f"--{name}: expected {least} to 1000, got {value}")
    if options.budget is not None and not 0 < options.budget < float("inf"):
        raise InputError(f"--budget: expected a number of minutes above 0, got {options.budget:g}")


def check_cells(table: Table, cells: Sequence[Cell]) -> None:
    """Reject models that cannot be built before anything is read."""
    if table.implementation.check is None:
        return
    seen: list[Options] = []
    for cell in cells:
        if cell.options not in seen:
            seen.append(cell.options)
            try:
                table.implementation.check(cell)
            except InputError as error:
                raise InputError(f"{table.path}: {cell.name}: {error}") from None


def device_type(device: str) -> str:
    """cpu or cuda; auto takes CUDA if available."""
    from regard.models.device import choose_device

    return choose_device(device).type


def worker_counts(device: str, jobs: int | None) -> tuple[int, int]:
    """(processes, threads per process): one process on CUDA; on a CPU one process per two cores."""
    if device != "cpu":
        return (1 if jobs is None else jobs), 0
    cores = len(os.sched_getaffinity(0)) if "sched_getaffinity" in dir(os) else os.cpu_count() or 1
    workers = max(1, cores // 2) if jobs is None else jobs
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return workers, int(limit) if limit.isdecimal() and int(limit) else max(1, cores // max(workers, 1))
