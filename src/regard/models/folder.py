"""A trained model as a folder of readable files, without executable content:

config.toml · tokenizer.json · task.json · weights.safetensors · metrics.json · README.md (the model card)

plus dynamics.safetensors if training was recorded, and encoder.json, the configuration of a pretrained encoder.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from regard.config import Config, read_config
from regard.data.wordpieces import tokenizer_from_dict
from regard.errors import InputError
from regard.extras import missing_extra
from regard.models.flat import EMBEDDING, shapes
from regard.models.tasks import task_from_dict
from regard.models.trained import Trained
from regard.models.training_record import read_training_record

FILES = ("config.toml", "tokenizer.json", "task.json", "weights.safetensors", "metrics.json")
CHECKPOINT = "checkpoint.safetensors"  # what an unfinished run has instead
DYNAMICS, ENCODER = "dynamics.safetensors", "encoder.json"


def is_run(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a checkpoint to resume from. A finished run has none, unless it is being overwritten."""
    return (folder / CHECKPOINT).is_file()


def check_run_folder(folder: Path) -> None:
    """Reject a folder with other files in it, so that the README.md of some project is not overwritten."""
    if not folder.is_dir() or is_run(folder) or has_checkpoint(folder):
        return
    others = sorted(
        path.name for path in folder.iterdir() if not path.name.endswith(".partial")
    )  # left by a killed run
    if others:
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
    for name in (*FILES, DYNAMICS, ENCODER):
        try:
            (folder / name).open("rb").close()
        except FileNotFoundError:
            continue  # an optional file
        except OSError as error:
            raise InputError(f"{folder / name}: cannot be read ({error.strerror or error})") from None


def load(folder: str | Path, device: str = "cpu") -> Trained:
    check_finished(folder)
    folder = Path(folder)
    check_readable(folder)
    try:
        config = Config().override(read_config(folder / "config.toml"))
        tokenizer = tokenizer_from_dict(read_json(folder / "tokenizer.json"))
        task = task_from_dict(read_json(folder / "task.json"))
        weights = safetensors.numpy.load_file(folder / "weights.safetensors")
        record = read_training_record(folder / DYNAMICS) if (folder / DYNAMICS).exists() else None
        metrics = read_json(folder / "metrics.json")
        encoder_config = read_json(folder / ENCODER) if config.model.reads_pieces else None
        trained = Trained(
            config,
            tokenizer,
            task,
            metrics,
            weights=weights,
            device=device,
            dynamics=record,
            encoder_config=encoder_config,
        )
        check_weights(trained)
        tokenizer_options = (tokenizer.levels, tokenizer.lowercase, tokenizer.max_words)
        if tokenizer_options != (config.model.levels, config.data.lowercase, config.data.max_words):
            raise InputError("tokenizer.json and config.toml differ in levels, lowercase or max_words")
        if not all(bool(np.isfinite(value).all()) for value in weights.values()):
            raise InputError("weights.safetensors contains numbers that are not finite")
    except ImportError as error:
        raise missing_extra(error, str(folder)) or error from None
    except InputError as error:
        raise InputError(f"{folder}: damaged run ({error})") from None
    except Exception as error:  # nothing narrower: the package tokenizers raises plain Exception
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{folder}: damaged run, or not a run of regard ({type(error).__name__}: {reason})") from None
    return trained


def check_weights(trained: Trained) -> None:
    """Check the names and shapes of the weights: directly for a flat model, otherwise by building the model."""
    if not trained.is_flat:
        _ = trained.model
        return
    model = trained.config.model.filled()
    actual = {name: value.shape for name, value in trained.weights.items()}
    width = trained.weights[EMBEDDING].shape[1]
    expected = shapes(replace(model, embedding=width), len(trained.tokenizer), trained.task.out_dim)
    if actual != expected:
        mismatch = next(name for name in {**expected, **actual} if actual.get(name) != expected.get(name))
        raise InputError(
            f"weights.safetensors: {mismatch}: expected the shape {expected.get(mismatch)}, got {actual.get(mismatch)}"
        )


def read_json(path: Path) -> Any:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: expected a JSON object, got {type(value).__name__}")
    return value
