"""Which runs to make, in which order, and which no longer fit into the budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from regard.errors import InputError
from regard_lab.running import plan
from regard_lab.running.plan import Job, Queue, RunTimes, decisive_first, make_jobs, select_cells
from regard_lab.tables.table import Table

Make = Callable[[Table, int], list[dict[str, object]]]


def names(jobs: list[Job]) -> list[str]:
    return [f"{job.cell.name} {','.join(map(str, job.seeds))}" for job in jobs]


def test_only_accepts_names_pairs_and_wildcards(toy: Table) -> None:
    def only(*texts: str) -> list[str]:
        return [cell.name for cell in select_cells(toy, texts)]

    assert only("meals") == ["meals/plain", "meals/shallow"]
    assert only("films/plain") == only("plain/films") == ["films/plain"]
    assert only("affine", "meals/shallow") == ["films/affine", "meals/shallow"]
    assert only("*a*e") == ["films/affine"]
    assert len(only()) == 5


def test_only_without_a_match_suggests_a_name(toy: Table) -> None:
    with pytest.raises(InputError, match=r"--only mels: no cell of toy/table matches; did you mean 'meals'\?"):
        select_cells(toy, ["mels"])
    with pytest.raises(InputError, match=r"--only meals/affine: no cell"):
        select_cells(toy, ["films", "meals/affine"])


def test_seed_by_seed_on_a_cpu_and_all_at_once_on_a_gpu(toy: Table) -> None:
    cells = select_cells(toy, ["films"])
    done = {("plain", "films", "", 0)}
    assert names(make_jobs(cells, 2, done, together=False)) == [
        "films/shallow 0",
        "films/affine 0",
        "films/plain 1",
        "films/shallow 1",
        "films/affine 1",
    ]
    assert names(make_jobs(cells, 3, done, together=True)) == [
        "films/plain 1,2",
        "films/shallow 0,1,2",
        "films/affine 0,1,2",
    ]
    assert len(make_jobs(cells, None, set(), together=False)) == 6


def test_first_methods_go_first_under_a_budget(toy: Table) -> None:
    jobs = decisive_first(make_jobs(select_cells(toy, []), 1, set(), together=False), ["shallow"])
    assert names(jobs)[:3] == ["films/shallow 0", "meals/shallow 0", "films/plain 0"]


def test_a_budget_starts_nothing_that_would_end_long_after_it(
    toy: Table, rows_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(plan.time, "monotonic", lambda: now)
    times = RunTimes("cpu")
    rows = rows_of(toy, 1)
    for row in rows:
        row["seconds"] = 100.0 if row["method"] == "plain" else 10.0
    times.add(rows)
    queue = Queue(make_jobs(select_cells(toy, []), 1, set(), together=False), times, 1.0)  # a minute
    taken = queue.take()
    assert taken is not None
    assert taken.cell.name == "films/shallow"  # plain takes 100 s of the 60
    now = 61.0
    assert queue.take() is None
    assert len(queue.jobs) == 4


def test_time_left_is_by_cell_then_by_corpus(toy: Table, rows_of: Make) -> None:
    times = RunTimes("cpu")
    assert times.left(make_jobs(select_cells(toy, []), 1, set(), together=False), 1) is None
    rows = rows_of(toy, 1)
    times.add([{**rows[0], "seconds": 10.0}, {**rows[1], "seconds": 20.0}, {**rows[1], "seconds": 40.0}])
    times.add([{**rows[3], "device": "cuda", "seconds": 1e9}])
    (plain,), (affine,) = (
        make_jobs(select_cells(toy, [x]), 1, set(), together=False) for x in ("films/plain", "films/affine")
    )
    assert times.seconds(plain) == 10
    assert times.seconds(affine) == (10 + 30) / 2
    assert times.left([plain, affine], 2) == (10 + 20) / 2
    assert times.seconds(Job(plain.cell, (0, 1, 2))) == 30
    assert times.left([], 2) == 0
