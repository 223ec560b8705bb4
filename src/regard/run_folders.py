"""Where a run is saved: the folder that is given, or the next free one, or the one to resume; and whether it may be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.errors import InputError
from regard.files import contents
from regard.models.run_files import BEGUN, FOLDS, check_run_folder, has_checkpoint, is_interrupted, is_run

FOLDER = Path("runs")


def folders(train: str, out: Path | None, resume: bool, overwrite: bool) -> Iterator[Path]:
    """Folders to try for the run: the one given, or runs/NAME, or the free ones among runs/NAME-2, runs/NAME-3, …"""
    if out is not None:
        yield out
        return
    stem = run_name(train)
    names = [FOLDER / stem, *(FOLDER / f"{stem}-{number}" for number in range(2, 10_000))]
    if resume:
        unfinished = [folder for folder in names if is_unfinished(folder)]
        begun = unfinished or [folder for folder in names if is_run(folder)]
        yield begun[-1] if begun else names[0]
    elif overwrite:
        yield names[0]
    else:
        yield from (folder for folder in names if is_empty(folder))


def is_unfinished(folder: Path) -> bool:
    return has_checkpoint(folder) or (folder / FOLDS).is_file() or is_interrupted(folder)


def run_name(train: str) -> str:
    """Of the training texts; that of their folder if the file's own says nothing."""
    stem = Path(train).name.split(".")[0] or "run"
    return Path(train).parent.name if stem in ("train", "data") and Path(train).parent.name else stem


def is_empty(folder: Path) -> bool:
    """Whether the folder does not exist or has no files of a run, as after one that was killed at its start."""
    return not folder.exists() or (folder.is_dir() and set(contents(folder)) <= BEGUN)


def check_free(folder: Path, resume: bool, overwrite: bool) -> None:
    if not resume and not overwrite and not is_empty(folder):
        raise InputError(
            f"{folder} already exists; use another --out, --resume to continue it, or --overwrite to replace it"
        )
    check_run_folder(folder)
