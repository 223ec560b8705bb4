"""`regard reproduce` for a user: it runs, resumes, stores failures, and rejects invalid input before anything runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from toys import TOML

from command import Regard
from regard_lab.kinds import train
from regard_lab.kinds.kinds import KINDS
from regard_lab.results import Lock
from regard_lab.running import workers
from regard_lab.running.plan import Job
from regard_lab.tables.context import Context
from regard_lab.tables.table import Cell, Kind, Table

HERE = ("--jobs", "0", "--device", "cpu")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "reproduced" / "toy" / "table.jsonl"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Training replaced by constants: accuracy is 0.5 + seed / 100, and films/affine fails. Returns what was run."""
    ran: list[str] = []

    def run(cell: Cell, seeds: list[int], context: Context) -> Iterator[dict[str, Any]]:
        for seed in seeds:
            ran.append(f"{cell.name} {seed}")
            if cell.method == "affine":
                raise ZeroDivisionError("by nothing")
            yield {"seed": seed, "values": {"accuracy": 0.5 + seed / 100, "macro_f": 0.5}, "seconds": 1.0}

    monkeypatch.setitem(KINDS, "train", Kind(run))
    return ran


def test_a_table_runs_from_end_to_end(regard: Regard, experiments: Path, corpora: Path, results: Path) -> None:
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--only", "films/plain", "films/shallow")
    assert result.code == 0
    assert [row["method"] for row in rows(results)] == ["plain", "shallow"]
    assert "2/2 films/shallow, seed 0: accuracy" in result.err
    row = rows(results)[0]
    assert (row["form"], row["table"], row["device"], row["seed"]) == (1, "toy/table", "cpu", 0)
    assert row["options"]["epochs"] == 2
    written = {path.name for path in results.parent.iterdir()}
    assert written == {"table.jsonl", "table.md", "table.tex", "table.html", "table-means.svg", "table-loss.svg"}
    assert {Path(line).name for line in result.out.split()} == written - {"table.jsonl"}


def test_existing_results_are_not_run_again(regard: Regard, experiments: Path, corpora: Path, quick: list[str]) -> None:
    assert regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--only", "meals").code == 0
    assert quick == ["meals/plain 0", "meals/shallow 0"]
    result = regard("reproduce", "toy/table", *HERE, "--only", "meals")
    assert quick[2:] == ["meals/plain 1", "meals/shallow 1"]
    assert "2 runs to do on cpu, 2 of the requested runs exist already" in result.err
    assert "0 runs to do" in regard("reproduce", "toy/table", *HERE, "--only", "meals").err
    assert len(quick) == 4


def test_changed_options_are_run_and_old_rows_kept(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], results: Path
) -> None:
    regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--only", "meals")
    before = results.read_text(encoding="utf-8")
    (experiments / "table.toml").write_text(TOML.replace("epochs = 2", "epochs = 3"), encoding="utf-8")
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--only", "meals")
    assert "2 rows are outdated (their cells were removed from the table or have other options now)" in result.err
    assert len(quick) == 4
    assert results.read_text(encoding="utf-8").startswith(before)


def test_different_texts_of_the_same_name_are_reported(
    regard: Regard, experiments: Path, corpora: Path, results: Path
) -> None:
    warning = (
        "table.jsonl: runs used different versions of these files, and means are over all of them: films/test.jsonl"
    )
    assert warning not in regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--only", "films/plain").err
    (row,) = rows(results)
    row["data"]["films/test.jsonl"] = "0123456789abcdef"  # as if the file had been different then
    results.write_text(json.dumps(row) + "\n", encoding="utf-8")
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "2", "--only", "films/plain")
    assert result.code == 0
    assert warning in result.err
    assert warning in regard("reproduce", "toy/table", "--render").err


def test_a_failed_cell_is_stored_and_the_rest_continues(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], results: Path
) -> None:
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "1")
    assert result.code == 0
    failed = [row for row in rows(results) if "error" in row]
    assert [(row["method"], row["error"]) for row in failed] == [("affine", "ZeroDivisionError: by nothing")]
    assert len(rows(results)) == 5
    assert "1 of 5 runs failed" in result.err
    assert "1 of 1 failed" in (results.parent / "table.md").read_text(encoding="utf-8")
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "1")
    assert "1 run failed earlier and is not repeated" in result.err
    assert len(quick) == 5
    regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--retry-failed")
    assert quick[5:] == ["films/affine 0"]


def test_ctrl_c_reports_what_is_left(
    regard: Regard, experiments: Path, corpora: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(cell: Cell, seeds: list[int], context: Context) -> Iterator[dict[str, Any]]:
        if cell.method == "affine":
            raise KeyboardInterrupt
        yield {"seed": seeds[0], "values": {"accuracy": 0.5}}

    monkeypatch.setitem(KINDS, "train", Kind(run))
    result = regard("reproduce", "toy/table", *HERE)
    assert result.code == 130
    assert "stopped: 2 runs done, 8 left; the same command continues" in result.err
    assert len(rows(results)) == 2


def test_a_budget_runs_first_methods_first(regard: Regard, experiments: Path, corpora: Path, quick: list[str]) -> None:
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--budget", "0.5")
    assert result.code == 0
    assert quick[:2] == ["films/shallow 0", "meals/shallow 0"]
    result = regard("reproduce", "toy/table", *HERE, "--seeds", "2", "--budget", "0.000001")
    assert "the budget of 1e-06 minutes is used up: 5 runs left" in result.err


def test_published_results_are_shown_next_to_new_ones(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], results: Path
) -> None:
    regard("reproduce", "toy/table", *HERE, "--out", experiments)
    assert "published" not in (experiments / "table.md").read_text(encoding="utf-8")
    regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--only", "films/plain")
    shown = results.with_suffix(".md").read_text(encoding="utf-8")
    assert "| Plain | 50.00 | 80.25 | 50.50 ± 6.35 |" in shown  # 0.50 and 0.51: 12.706 · 0.00707 / √2


def test_rendering_alone_runs_nothing(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], results: Path
) -> None:
    result = regard("reproduce", "toy/table", "--render")
    assert result.code == 2
    assert "table.jsonl: no results to render yet" in result.error
    regard("reproduce", "toy/table", *HERE, "--seeds", "1")
    before = len(quick)
    assert regard("reproduce", "toy/table", "--render").code == 0
    assert len(quick) == before
    with open(results, "a", encoding="utf-8") as file:
        file.write('{"form": 1, "tab')
    assert (
        "the last line is incomplete (a run was killed) and is ignored"
        in regard("reproduce", "toy/table", "--render").err
    )


def test_a_path_to_a_toml_works_too(regard: Regard, experiments: Path, corpora: Path, quick: list[str]) -> None:
    assert regard("reproduce", experiments / "table.toml", *HERE, "--seeds", "1", "--only", "meals").code == 0
    assert quick


@pytest.mark.parametrize(
    ("path", "folder", "command"),
    [
        ("../experiments/toy/table.toml", "toy", "`regard reproduce toy/table`"),  # the name leads there, too
        ("other/toy/table.toml", "toy", "`regard reproduce other/toy/table.toml`"),
        ("my tables/table.toml", "my tables", "`regard reproduce 'my tables/table.toml'`"),
        ("a`b/table.toml", "a`b", r"regard reproduce 'a\`b/table.toml'"),  # no code in Markdown can hold a backtick
        ("a\nb/table.toml", "a\nb", "regard reproduce 'a b/table.toml'"),
        ("../toy/table.toml", "toy", "`regard reproduce ../toy/table.toml`"),
        ("sub/../table.toml", "here", "`regard reproduce sub/../table.toml`"),
    ],
)
def test_the_shown_command_finds_the_table_again(
    regard: Regard,
    experiments: Path,
    corpora: Path,
    quick: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    path: str,
    folder: str,
    command: str,
) -> None:
    (tmp_path / "here" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("REGARD_EXPERIMENTS", str(experiments.parent))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(TOML, encoding="utf-8")
    assert regard("reproduce", path, *HERE, "--seeds", "1", "--only", "meals").code == 0
    page = (Path("reproduced") / folder / "table.md").read_text(encoding="utf-8")
    assert f"\n- Command: {command}\n" in page


def test_the_list_shows_size_needs_and_cost(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    regard("reproduce", "toy/table", *HERE, "--seeds", "1", "--out", experiments)
    (experiments / "broken.toml").write_text("nonsense = 1", encoding="utf-8")
    listing = regard("reproduce", "--list").out
    assert "5 cells, 10 runs" in listing
    assert "films, meals" in listing
    assert "5 of 10 runs (1 failed), 4 s" in listing
    assert "missing" not in listing
    assert "cannot be read" in listing
    monkeypatch.delenv("REGARD_DATA")
    assert "films, meals" in regard("reproduce", "--list").out.partition("missing")[2]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["toy/tabel"], "toy/tabel: no such table in experiments; did you mean 'toy/table'?"),
        (["none.toml"], "none.toml: no such file"),
        (["toy/table", "--seeds", "0"], "--seeds: expected 1 to 1000, got 0"),
        (["toy/table", "--jobs", "-1"], "--jobs: expected 0 to 1000, got -1"),
        (["toy/table", "--budget", "0"], "--budget: expected a number of minutes above 0, got 0"),
        (["toy/table", "--budget", "nan"], "--budget: expected a number of minutes above 0, got nan"),
        (["toy/table", "--render", "--seeds", "1"], "--seeds: cannot be combined with --render, which runs nothing"),
        (["toy/table", "--only", "film"], "--only film: no cell of toy/table matches; did you mean 'films'?"),
        (["toy/table", "--device", "tpu"], "device: expected cpu, cuda, cuda:N or auto, got 'tpu'"),
        (["toy/table", "--device", "cuda:99"], "device = 'cuda:99': PyTorch sees"),
        (["toy/table", "--out", "experiments/toy/table.toml"], "cannot be a folder"),
    ],
)
def test_invalid_arguments_are_errors(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], argv: list[str], message: str, tmp_path: Path
) -> None:
    result = regard("reproduce", *argv)
    assert result.code == 2
    assert message in result.error
    assert not quick
    assert not (tmp_path / "reproduced").exists()


def test_missing_corpora_are_reported_before_anything_runs(
    regard: Regard, experiments: Path, tmp_path: Path, quick: list[str]
) -> None:
    result = regard("reproduce", "toy/table", *HERE)
    assert result.code == 2
    assert "toy/table needs films, meals, not found because REGARD_DATA is not set" in result.error
    text = TOML.replace('train = "films"', 'train = "my/films.csv"').replace('"films/dev"', '"/my/films.csv"')
    (experiments / "table.toml").write_text(text, encoding="utf-8")
    result = regard("reproduce", "toy/table", *HERE)
    assert "toy/table needs my/films.csv, /my/films.csv, films, meals, not found" in result.error
    assert not (tmp_path / "reproduced").exists()


def test_a_model_that_cannot_be_built_is_reported_before_anything_runs(
    regard: Regard, experiments: Path, corpora: Path, tmp_path: Path
) -> None:
    path = experiments / "table.toml"
    path.write_text(TOML.replace('encoder = "affine"', 'encoder = "afine"'), encoding="utf-8")
    result = regard("reproduce", "toy/table", *HERE)
    assert result.code == 2
    assert "table.toml: films/affine: encoder = 'afine'" in result.error.replace(
        "'afine' is unknown", "encoder = 'afine'"
    )
    assert not (tmp_path / "reproduced").exists()


def test_two_runs_on_one_file_and_results_of_an_older_form(
    regard: Regard, experiments: Path, corpora: Path, quick: list[str], results: Path
) -> None:
    results.parent.mkdir(parents=True)
    with Lock(results):
        result = regard("reproduce", "toy/table", *HERE)
    assert result.code == 2
    assert "another run is writing to it" in result.error
    results.write_text('{"config": "old.toml", "seed": 0}\n', encoding="utf-8")
    result = regard("reproduce", "toy/table", *HERE)
    assert result.code == 2
    assert "table.jsonl, line 1: expected a result of form 1, got no form" in result.error
    assert results.read_text(encoding="utf-8") == '{"config": "old.toml", "seed": 0}\n'
    assert not quick


def test_experiments_are_found_through_the_variable(
    regard: Regard, experiments: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("REGARD_EXPERIMENTS", str(experiments.parent))
    assert "toy/table" in regard("reproduce", "--list").out
    monkeypatch.setenv("REGARD_EXPERIMENTS", "nowhere")
    assert (
        "REGARD_EXPERIMENTS: expected a folder of PAPER/TABLE.toml, got 'nowhere'"
        in regard("reproduce", "--list").error
    )


def test_a_worker_that_died_while_waiting_does_not_raise(toy: Table) -> None:
    def send(job: Job) -> None:
        raise BrokenPipeError

    idle: Any = SimpleNamespace(connection=SimpleNamespace(send=send))
    job = Job(next(toy.cells()), (0, 1))
    workers.Worker.begin(idle, job)
    assert (idle.job, idle.left) == (job, [0, 1])  # so that its end is received and its seeds are stored as failed


def test_a_worker_that_dies_fails_its_seeds_only(toy: Table) -> None:
    def recv() -> None:
        raise EOFError

    dead: Any = SimpleNamespace(job=Job(next(toy.cells()), (0, 1, 2)), left=[1, 2], stopped=False)
    dead.connection = SimpleNamespace(recv=recv)
    dead.process = SimpleNamespace(exitcode=-9, join=lambda seconds: None)
    dead.stop = lambda: setattr(dead, "stopped", True)
    events = list(workers.receive(dead, "toy/table", "cpu"))
    assert [one.kind for one in events] == ["row", "row", "done"]
    assert [one.content["seed"] for one in events[:2]] == [1, 2]
    assert "its worker process ended by signal 9 (out of memory?)" in events[0].content["error"]
    assert dead.stopped
    assert dead.job is None


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc for the processes")
def test_a_killed_run_resumes_without_repeating(
    regard: Regard, experiments: Path, corpora: Path, results: Path
) -> None:
    text = TOML.replace("epochs = 2", "epochs = 20000\npatience = 0\nengine = 'sparse'", 1)
    quick_first = text.replace("embedding = 2", "embedding = 2\nepochs = 1", 1).replace("seeds = 2", "seeds = 1")
    (experiments / "table.toml").write_text(quick_first, encoding="utf-8")
    command = [sys.executable, "-m", "regard.cli", "reproduce", "toy/table", "--device", "cpu", "--jobs", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = [*command, "--only", "shallow", "films/plain", "--budget", "60"]
    with subprocess.Popen(first, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not (results.exists() and results.read_bytes().count(b"\n") >= 2) and time.monotonic() < deadline:
                time.sleep(0.05)
            mine = children(process.pid)
            busy = regard("reproduce", "toy/table", *HERE)
        finally:
            process.send_signal(signal.SIGKILL)
    assert "another run is writing to it" in busy.error
    before = results.read_bytes()
    assert [row["method"] for row in rows(results)] == ["shallow", "shallow"]
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}/stat").exists() for pid in mine) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert mine
    assert not [pid for pid in mine if Path(f"/proc/{pid}/stat").exists()], "a killed run leaves no process behind"
    with open(results, "ab") as file:
        file.write(before.splitlines()[0][:50])  # as if it had been killed while it wrote
    result = regard("reproduce", "toy/table", *HERE, "--only", "shallow")
    assert result.code == 0
    assert "the last line is incomplete because a run was killed" in result.err
    assert "0 runs to do, 2 of the requested runs" in result.err
    assert results.read_bytes() == before
    assert train.run is KINDS["train"].run
