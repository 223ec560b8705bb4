"""The files of a run folder, and checks that need neither PyTorch nor numba; `folder` loads the model in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.files import contents

if TYPE_CHECKING:
    from regard.config import Config
    from regard.data.wordpieces import AnyTokenizer

FILES = ("config.toml", "tokenizer.json", "task.json", "weights.safetensors", "metrics.json")
CHECKPOINT = "checkpoint.safetensors"  # what an unfinished run has instead
TRACKING = "tracking.json"  # beside it: which logs of tracking tools belong to the unfinished run
FOLDS = "cv.json"  # beside it: the scores of the folds that `regard train --cv` has finished
BEGUN = {TRACKING, FOLDS}  # what a run that was killed before its first checkpoint may leave
DYNAMICS, ENCODER, CARD = "dynamics.safetensors", "encoder.json", "README.md"
OPTIMIZER = "optimizer.safetensors"  # of the fast engine: Adagrad's sums, from which `regard train --from` continues
KEPT = "kept_texts.jsonl"  # of `regard train --keep-texts`; never pushed, exported or shown


def is_run(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a checkpoint to resume from. A finished run has none, unless it is being overwritten."""
    return (folder / CHECKPOINT).is_file()


def check_run_folder(folder: Path) -> None:
    """Reject a folder with other files in it, so that the README.md of some project is not overwritten."""
    if not folder.is_dir() or is_run(folder) or has_checkpoint(folder):
        return
    if others := [name for name in contents(folder) if name not in BEGUN]:
        raise InputError(f"{folder} is not a run of regard (it contains {others[0]!r}); nothing was written")


def check_finished(folder: str | Path) -> None:
    """Reject anything but a finished run, before reading its files."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; a run is a folder that `regard train` wrote")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if has_checkpoint(folder):
        # even if all files exist: they may belong to a run that is being overwritten
        raise InputError(f"{folder}: its training has not finished; resume it with `regard train --resume`")
    if missing:
        raise InputError(f"{folder}: not a finished run of regard: {', '.join(missing)} missing")


def check_readable(folder: Path) -> None:
    """Report missing permissions: the run is not damaged, and safetensors would claim that there is no such file."""
    for name in (*FILES, DYNAMICS, ENCODER, OPTIMIZER, KEPT):
        try:
            (folder / name).open("rb").close()
        except FileNotFoundError:
            continue  # an optional file
        except OSError as error:
            raise InputError(f"{folder / name}: cannot be read ({error.strerror or error})") from None


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
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: expected a JSON object, got {type(value).__name__}")
    return value
