"""Reproduce a table: keep existing results, run what is missing, render everything."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from regard.errors import InputError
from regard.files import check_writable
from regard.ray_cluster import ONE_CORE, Needs, connected
from regard_lab.claims.verdicts import several
from regard_lab.reading.locations import find_table, results_file, results_folder
from regard_lab.rendering.contents import checksums
from regard_lab.rendering.render import render
from regard_lab.results import Lock, append, read_results, repair
from regard_lab.rows import Options
from regard_lab.running.executor import Executor, Inline, WorkerProcesses
from regard_lab.running.parts import merge_parts, other_parts, part_file, part_files
from regard_lab.running.plan import Job, Queue, RunTimes, decisive_first, make_jobs, select_cells
from regard_lab.running.progress import ProgressDisplay
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
    on: str | None = None  # ray or ray:HOST:PORT
    needs: Needs = ONE_CORE  # of a job there
    part: tuple[int, int] | None = None  # (K, N): the K-th of N parts of the runs, counted from 1
    out: Path | None = None
    retry_failed: bool = False


def reproduce(name: str, options: RunOptions) -> list[Path]:
    """Run the missing cells of a table and render all of it. Returns the files that were written."""
    check_run_options(options)
    table = find_table(name)
    cells = select_cells(table, options.only)
    check_corpora(cells, table.name)
    check_cells(table, cells)
    device = device_type(options.device) if options.on is None else "cuda" if options.needs.gpus else "cpu"
    folder = results_folder(table, options.out)
    check_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = results_file(table, folder)
    own = path if options.part is None else part_file(path, options.part)
    with Lock(own), executor_for(options, device) as executor:
        run_missing(table, cells, path, own, device, options, executor)
        return render(table, folder) if options.part is None else [own]


def render_only(name: str, out: Path | None) -> list[Path]:
    table = find_table(name)
    folder = results_folder(table, out)
    path = results_file(table, folder)
    if not path.exists() and not part_files(path):
        raise InputError(f"{path}: no results to render yet; leave out --render to run the cells")
    progress = ProgressDisplay(table, 0)
    for note in (*merge_parts(path), *read_results(table, path).notes):
        progress.note(note)
    note_mixed_files(progress, path, table)
    return render(table, folder)


def run_missing(
    table: Table, cells: Sequence[Cell], path: Path, own: Path, device: str, options: RunOptions, executor: Executor
) -> None:
    """`path` has all results, `own` those that this command adds to: the same file, or that of a part."""
    repaired = repair(own)
    results = read_results(table, path, *([own] if own != path else []))
    done = {run for run, row in results.rows.items() if not (options.retry_failed and "error" in row)}
    skipped = other_parts(cells, options.seeds, options.part) if options.part else set()
    jobs = make_jobs(cells, options.seeds, done | skipped, together=device != "cpu")
    if options.budget is not None:
        jobs = decisive_first(jobs, table.first)
    times = RunTimes(device)
    times.add(results.good)
    runs = sum(len(job.seeds) for job in jobs)
    queue = Queue(jobs, times, options.budget)
    with ProgressDisplay(table, runs) as progress:
        for note in (*([repaired] if repaired else []), *results.notes):
            progress.note(note)
        wanted = {(*cell.key, seed) for cell in cells for seed in range(seeds_of(cell, options))} - skipped
        kept = len(wanted & done)
        where = f" on {device}" + (f", {executor.slots} at a time" if executor.slots > 1 else "")
        progress.note(
            f"{table.name}: {several(runs, 'run')} to do{where if runs else ''}, {kept} of the requested runs exist already"
        )
        note_failed(progress, [row for run, row in results.rows.items() if "error" in row and run in done])
        try:
            run_queue(queue, table, own, device, executor, progress)
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
        note_mixed_files(progress, own, table)


@contextmanager
def executor_for(options: RunOptions, device: str) -> Iterator[Executor]:
    if options.on is not None:
        with connected(options.on, options.needs) as ray:
            from regard_lab.running.ray_jobs import RayJobs

            yield RayJobs(ray, options.needs)
        return
    workers, threads = worker_counts(device, options.jobs)
    yield WorkerProcesses(workers, threads) if workers else Inline()


def run_queue(
    queue: Queue, table: Table, path: Path, device: str, executor: Executor, progress: ProgressDisplay
) -> None:
    running: dict[str, tuple[Job, float]] = {}
    shown_notes: set[str] = set()
    for event in executor.run(queue, table.name, device):
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
            left = queue.times.left(queue.jobs, executor.slots)
            progress.row(
                event.content,
                event.job.cell.name,
                None if left is None else left + sum(running_seconds) / executor.slots / 2,
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
