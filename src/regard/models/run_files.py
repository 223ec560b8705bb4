"""The files of a run folder, and checks that need neither PyTorch nor numba; `folder` loads the model in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.config import read_config
from regard.errors import InputError
from regard.files import check_plain, contents, temporary_files

if TYPE_CHECKING:
    from regard.config import Config
    from regard.data.wordpieces import AnyTokenizer

FILES = ("config.toml", "tokenizer.json", "task.json", "weights.safetensors", "metrics.json")
CHECKPOINT = "checkpoint.safetensors"  # what an unfinished run has instead
TRACKING = "tracking.json"  # beside it: which logs of tracking tools belong to the unfinished run
FOLDS = "cv.json"  # beside it: the scores of the folds that `regard train --cv` has finished
BEGUN = {TRACKING, FOLDS}  # what a run that was killed before its first checkpoint may leave
OPTIONS = {"config.toml", "tokenizer.json"}
DYNAMICS, ENCODER, CARD = "dynamics.safetensors", "encoder.json", "README.md"
OPTIMIZER = "optimizer.safetensors"  # of the fast engine: Adagrad's sums, from which `regard train --from` continues
KEPT = "kept_texts.jsonl"  # of `regard train --keep-texts`; never pushed, exported or shown
MANIFEST = "manifest.json"  # the SHA-256 of the other files, except the card, which people edit; see `manifest`
OPTIONAL = (DYNAMICS, ENCODER, OPTIMIZER, KEPT)
OURS = {*FILES, *OPTIONAL, CARD, MANIFEST, CHECKPOINT, *BEGUN}  # every file that training writes
SUBFOLDERS = ("audit", "analysis")  # of `regard audit` and `regard analyse`
ADDED = {"report.html", *SUBFOLDERS}  # what other commands write into a run
FACTS, GRAPH, TABLES = "export.json", "model.onnx", "tables.safetensors"  # of an export, which is not a run
MEGABYTE = 1 << 20
# the largest size of each file, in bytes: what is larger is not read. Downloaded in this order: where there are weights, the
# other files are complete
LARGEST = {
    CARD: 4 * MEGABYTE,
    MANIFEST: MEGABYTE,
    "config.toml": MEGABYTE,
    ENCODER: MEGABYTE,
    "task.json": 16 * MEGABYTE,
    "metrics.json": 64 * MEGABYTE,
    "tokenizer.json": 1024 * MEGABYTE,
    DYNAMICS: 2048 * MEGABYTE,
    OPTIMIZER: 8192 * MEGABYTE,
    "weights.safetensors": 8192 * MEGABYTE,
}
LARGEST_EXPORTED = {FACTS: MEGABYTE, GRAPH: 2048 * MEGABYTE, TABLES: 8192 * MEGABYTE}
LARGEST_KEPT = 2048 * MEGABYTE


def is_run(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a checkpoint to resume from. A finished run has none, unless it is being overwritten."""
    return (folder / CHECKPOINT).is_file()


def is_interrupted(folder: Path) -> bool:
    """Whether a run was killed while it was saved: some of its files, and others under temporary names.

    A name with a token is of regard, whatever else lies in the folder. Earlier versions had names without.
    """
    if not folder.is_dir():
        return False
    written, present = temporary_files(folder), set(contents(folder))
    if {FACTS, GRAPH} & {*present, *(file.name for file in written)}:
        return False
    if any(file.token is not None and file.name in OURS - {CARD} for file in written):
        return True
    return present <= OURS | ADDED and any(file.name in OURS for file in written)


def is_part(folder: Path) -> bool:
    """Whether there are only files of a run, but not all: earlier versions left that after Ctrl-C. Options may be a user's."""
    present = set(contents(folder))
    try:
        return OPTIONS < present <= OURS | ADDED and bool(read_config(folder / "config.toml"))
    except InputError:
        return False


def check_run_folder(folder: Path) -> None:
    """Reject a folder with other files in it, so that the README.md of some project is not overwritten."""
    if not folder.is_dir():
        return
    check_plain(folder, SUBFOLDERS)
    if is_run(folder) or has_checkpoint(folder) or is_interrupted(folder) or is_part(folder):
        return
    if others := [name for name in contents(folder) if name not in BEGUN]:
        raise InputError(f"{folder} is not a run of regard (it contains {others[0]!r}); nothing was written")


def check_finished(folder: str | Path) -> None:
    """Reject anything but a finished run, before reading its files."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; a run is a folder that `regard train` wrote")
    check_plain(folder, SUBFOLDERS)
    missing = [name for name in FILES if not (folder / name).is_file()]
    if has_checkpoint(folder) or (missing and is_interrupted(folder)):
        # even if all files exist: they may belong to a run that is being overwritten
        raise InputError(f"{folder}: its training has not finished; resume it with `regard train --resume`")
    if missing:
        raise InputError(f"{folder}: not a finished run of regard: {', '.join(missing)} missing")


def check_readable(folder: Path, names: Iterable[str] = (*FILES, MANIFEST, *OPTIONAL)) -> None:
    """Report missing permissions, since the run is not damaged and safetensors would claim that there is no such file, and
    files that are too large to be of a run."""
    for name in names:
        try:
            with (folder / name).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            continue  # an optional file
        except OSError as error:
            raise InputError(f"{folder / name}: cannot be read ({error.strerror or error})") from None
        check_size(str(folder), name, size)


def check_size(where: str, name: str, size: int | None) -> None:
    most = (LARGEST | LARGEST_EXPORTED).get(name, LARGEST_KEPT)
    if size is None or size > most:
        got = "an unknown size" if size is None else f"{size / MEGABYTE:,.0f} MB"
        raise InputError(f"{where}: {name}: expected at most {most // MEGABYTE:,} MB, got {got}")


def check_agreement(config: Config, tokenizer: AnyTokenizer) -> None:
    tokenizer_options = (tokenizer.levels, tokenizer.lowercase, tokenizer.max_words)
    if tokenizer_options != (config.model.levels, config.data.lowercase, config.data.max_words):
        raise InputError("tokenizer.json and config.toml differ in levels, lowercase or max_words")


def check_finite(weights: Mapping[str, NDArray[Any]]) -> None:
    # a sum of finite numbers is finite, unless it overflows, and takes a fifth of the time
    with np.errstate(over="ignore", invalid="ignore"):
        suspects = [value for value in weights.values() if not np.isfinite(value.sum())]
    if not all(bool(np.isfinite(value).all()) for value in suspects):
        raise InputError("weights.safetensors contains numbers that are not finite")


def read_json(path: Path) -> Any:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise InputError(f"{path.name} is not JSON of regard: it is nested too deeply") from None
    except ValueError as error:  # also a whole number of more than 4,300 digits
        raise InputError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: expected a JSON object, got {type(value).__name__}")
    return value
