"""Score Parquet files: plan the partitions, leave out those that are finished, and let an executor score the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from regard import __version__
from regard.errors import InputError
from regard.files import PARTIAL
from regard.models.model import Model
from regard.run_lock import RunLock
from regard.scoring.job import Job, Outcome, PartitionScorer
from regard.scoring.locations import Place, SourceFile, WritingFailed, is_address, locate, remove
from regard.scoring.partitions import Partition, check_settings, finished, outdated, plan

Executor = Callable[[list[Partition]], Iterator[Outcome | None]]  # None from time to time: the display can be updated


class Summary(NamedTuple):
    rows: int
    bad: int
    partitions: int
    skipped: int  # partitions that were finished before


def here(job: Job, trained: Model) -> Executor:
    """In this process, one partition after the other."""

    def run(partitions: list[Partition]) -> Iterator[Outcome]:
        score = PartitionScorer(job, trained)
        for partition in partitions:
            try:
                yield Outcome(partition, score(partition))
            except WritingFailed:
                raise
            except InputError as error:
                yield Outcome(partition, None, str(error))

    return run


def score_files(
    job: Job,
    files: list[SourceFile],
    model: str,
    executor: Executor,
    note: Callable[[str], None],
    show: Callable[[int], None],
) -> Summary:
    """`model` identifies the model; `show` is called with the number of rows so far."""
    target = locate(job.target)
    with nullcontext() if is_address(job.target) else RunLock(Path(job.target)):
        check_settings(target, settings(job, model))
        if not is_address(job.target):
            remove_partial(job.target)
        partitions, unreadable = plan(locate(job.source), files)
        if stale := outdated(target, partitions):
            note(f"{len(stale):,} files of predictions are of texts that have changed since: removed")
            for path in stale:
                remove(target, path)
        done, changed = finished(target, partitions)
        if done:
            note(f"{len(done):,} of {len(partitions):,} partitions are finished already")
        if changed:
            note(f"{changed:,} partitions have predictions of texts that have changed since: scored again")
        left = [one for one in partitions if one.target not in done]
        summary = gather(executor(left), unreadable, len(left), len(done), show)
        check_shared(target, left)
        return summary


def check_shared(target: Place, partitions: list[Partition]) -> None:
    """Actors of other machines write to their own disks if the folder is not on one that all share."""
    if is_address(target.address):
        return
    missing = [one.target for one in partitions if not os.path.exists(target.inside(one.target))]
    if missing:
        raise InputError(
            f"{target.path}: {len(missing):,} files of predictions, such as {missing[0]}, are on other machines; "
            "expected a folder on a disk that all machines of the cluster share, or in object storage"
        )


def gather(
    outcomes: Iterable[Outcome | None],
    unreadable: Sequence[str],
    partitions: int,
    skipped: int,
    show: Callable[[int], None],
) -> Summary:
    """`unreadable`: why files have no partitions; each counts as one that failed."""
    rows = bad = 0
    failed = list(unreadable)
    partitions += len(unreadable)
    for outcome in outcomes:
        if outcome is not None and outcome.counts is not None:
            rows, bad = rows + outcome.counts.rows, bad + outcome.counts.bad
        elif outcome is not None:
            failed.append(outcome.reason)
        show(rows)
    if failed:
        count = f"{len(failed):,} of {partitions:,} partition{'s' * (partitions != 1)}"
        raise InputError(f"{count} could not be scored, the others were; the first: {failed[0]}")
    return Summary(rows, bad, partitions, skipped)


def settings(job: Job, model: str) -> dict[str, object]:
    """What the predictions in a folder have in common."""
    layout = job.layout
    return {
        "regard": __version__,
        "model": model,
        "source": locate(job.source).path,  # without what an address may have besides, such as a password
        "text": job.columns.text,
        "columns": list(job.columns.kept),
        "top": layout.top,
        "digits": layout.digits,
        "novelty": layout.novelty,
        "explain": job.words,
    }


def remove_partial(folder: str) -> None:
    """What killed processes have left, now that the folder is locked."""
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.startswith(".") and name.endswith(PARTIAL):
                with suppress(OSError):
                    os.unlink(os.path.join(parent, name))


def source_of(place: Place) -> str:
    """The address from which another machine finds the same folder."""
    return place.address if is_address(place.address) else place.path
