"""A folder is used by one run at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import TINY, Regard
from regard.errors import InputError
from regard.run_lock import Locked, RunLock, lock_first

fcntl = pytest.importorskip("fcntl", reason="folders cannot be locked here")


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


def test_runs_continue_if_folders_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with RunLock(tmp_path / "a") as lock:
        assert lock.handle is None


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
