"""A folder is used by one run at a time."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import filelock
import pytest

from command import TINY, Regard
from regard.errors import InputError
from regard.run_folders import check_free, is_empty
from regard.run_lock import Locked, RunLock, lock_first

HOLD = """
import sys, time
from pathlib import Path
from regard.run_lock import RunLock
with RunLock(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""
# enters the folder a number of times; two processes at once would find each other's file
TAKE_TURNS = """
import os, sys
from pathlib import Path
from regard.run_lock import Locked, RunLock
folder, turns = Path(sys.argv[1]), 0
while turns < 100:
    try:
        lock = RunLock(folder)
    except Locked:
        continue
    with lock:
        os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))
        os.unlink(folder / "inside")
    turns += 1
"""


def test_a_folder_is_locked_once(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "a"
    with RunLock(folder):
        with pytest.raises(
            Locked, match="runs/a: another run is writing to it; wait until it ends, or choose another --out"
        ):
            RunLock(folder)
        (folder / "weights").touch()
    with RunLock(folder):
        assert (folder / "weights").is_file()


def test_a_folder_that_stays_empty_is_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with RunLock(tmp_path / "kept" / "runs" / "a"):
        assert (tmp_path / "kept" / "runs" / "a").is_dir()
    assert [*(tmp_path / "kept").iterdir()] == []
    with RunLock(tmp_path / "kept"):
        pass
    assert (tmp_path / "kept").is_dir(), "it was there before"


def test_the_first_free_name_is_used(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "a-2"
    with RunLock(first), lock_first([first, second]) as lock:
        assert lock.folder == second
        with pytest.raises(Locked, match="a: another run"):
            lock_first([first, second])


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(InputError, match="cannot be a folder"):
        RunLock(tmp_path / "a" / "b")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP])
def test_runs_continue_on_disks_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    refuse_locks(monkeypatch, number)
    with RunLock(tmp_path / "a") as lock:
        assert lock.file is None
        assert [*(tmp_path / "a").iterdir()] == []
    assert not (tmp_path / "a").exists()


def test_a_lock_of_another_user_is_not_mistaken_for_a_disk_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_locks(monkeypatch, errno.EPERM)
    with pytest.raises(InputError, match="a: cannot be created or opened"):
        RunLock(tmp_path / "a")


def refuse_locks(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    fcntl = pytest.importorskip("fcntl", reason="simulated for Unix only")

    def refuse(*_: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(fcntl, "flock", refuse)


def test_a_killed_run_leaves_no_lock(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with subprocess.Popen([sys.executable, "-c", HOLD, folder], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "locked\n"
        with pytest.raises(Locked):
            RunLock(folder)
        run.kill()
    assert is_empty(folder), "its lock file does not count"
    check_free(folder, resume=False, overwrite=False)
    with RunLock(folder):
        (folder / "weights").touch()
    assert [path.name for path in folder.iterdir()] == ["weights"]


def test_processes_that_take_turns_never_meet_and_leave_no_file(tmp_path: Path) -> None:
    """Each of them creates and removes the lock file every time."""
    processes = [subprocess.Popen([sys.executable, "-c", TAKE_TURNS, tmp_path]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_vanishes_before_it_is_locked_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire = filelock.FileLock.acquire

    def fail_once(lock: filelock.FileLock) -> object:
        monkeypatch.setattr(filelock.FileLock, "acquire", acquire)
        Path(lock.lock_file).parent.rmdir()
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(filelock.FileLock, "acquire", fail_once)
    (tmp_path / "a").mkdir()
    with RunLock(tmp_path / "a"), pytest.raises(Locked):
        RunLock(tmp_path / "a")
    assert not (tmp_path / "a").exists(), "this time the lock created it"


def test_two_runs_at_once_take_two_folders(
    regard: Regard, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = table.stem
    with RunLock(Path("runs") / name):
        assert regard("train", table, *TINY).code == 0
        assert (tmp_path / "runs" / f"{name}-2" / "weights.safetensors").is_file()
        result = regard("train", table, *TINY, "--out", f"runs/{name}")
        assert result.code == 2
        assert result.error.startswith(f"runs/{name}: another run is writing to it")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [f"{name}-2"]


def test_a_run_killed_at_its_beginning_leaves_its_name_free(
    regard: Regard, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / table.stem).mkdir(parents=True)
    assert regard("train", table, *TINY).code == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [table.stem]
