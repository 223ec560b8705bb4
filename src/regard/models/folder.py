"""A trained model as a folder that a stranger can read, with nothing in it that runs:

config.toml · tokenizer.json · task.json · weights.safetensors · metrics.json · README.md (its card)

and dynamics.safetensors, where training was recorded; encoder.json, the make of a pretrained encoder, where there is one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from regard.config import Config, config_toml, read_config
from regard.data.wordpieces import tokenizer_from_dict
from regard.errors import InputError
from regard.files import write_all
from regard.models.card import card
from regard.models.flat import EMBEDDING, shapes
from regard.models.recorded import read_recorded
from regard.models.tasks import task_from_dict
from regard.models.trained import Trained

FILES = ("config.toml", "tokenizer.json", "task.json", "weights.safetensors", "metrics.json")
CHECKPOINT = "checkpoint.safetensors"  # what an unfinished run has instead
DYNAMICS, ENCODER = "dynamics.safetensors", "encoder.json"


def save(trained: Trained, folder: str | Path) -> None:
    perhaps = {} if trained.dynamics is None else {DYNAMICS: trained.dynamics.to_bytes()}
    if trained.make is not None:
        perhaps[ENCODER] = json.dumps(trained.make, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    for name in {DYNAMICS, ENCODER} - set(perhaps):
        (Path(folder) / name).unlink(missing_ok=True)  # of the run that this one overwrites
    write_all(
        Path(folder),
        {
            **perhaps,
            "config.toml": config_toml(trained.config).encode("utf-8", "replace"),
            "tokenizer.json": trained.tokenizer.to_json().encode("utf-8", "replace"),
            "task.json": json.dumps(trained.task.as_dict(), ensure_ascii=False, indent=1).encode("utf-8", "replace"),
            "metrics.json": json.dumps(trained.metrics, ensure_ascii=False, indent=1).encode("utf-8", "replace"),
            "README.md": card(trained).encode("utf-8", "replace"),
            "weights.safetensors": safetensors.numpy.save(trained.weights),
        },
    )


def is_run(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def is_begun(folder: Path) -> bool:
    """Whether there is something to go on from. A finished run has no checkpoint; one that is overwritten has both."""
    return (folder / CHECKPOINT).is_file()


def check_own(folder: Path) -> None:
    """Refuse a folder with other things in it: a README.md of somebody's project is not to be overwritten."""
    if not folder.is_dir() or is_run(folder) or is_begun(folder):
        return
    others = sorted(path.name for path in folder.iterdir() if not path.name.endswith(".partial"))  # of a killed run
    if others:
        raise InputError(f"{folder} is not a run of regard (it holds {others[0]!r}), so it is left alone")


def check_finished(folder: str | Path) -> None:
    """Refuse what is no finished run, before anything of it is read."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; a run is a folder that `regard train` wrote")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if is_begun(folder):
        # also where all files are there: they may be those of the run that this one overwrites
        raise InputError(f"{folder}: its training has not finished; `regard train` goes on with --resume")
    if missing:
        raise InputError(f"{folder}: not a finished run of regard: {', '.join(missing)} missing")


def check_readable(folder: Path) -> None:
    """Refuse what this user may not read: it is not damaged, and safetensors would say that there is no such file."""
    for name in (*FILES, DYNAMICS, ENCODER):
        try:
            (folder / name).open("rb").close()
        except FileNotFoundError:
            continue  # of those that not every run has
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
        recorded = read_recorded(folder / DYNAMICS) if (folder / DYNAMICS).exists() else None
        metrics = read_json(folder / "metrics.json")
        make = read_json(folder / ENCODER) if config.model.reads_pieces else None
        beside: dict[str, Any] = {"weights": weights, "device": device, "dynamics": recorded, "make": make}
        trained = Trained(config, tokenizer, task, metrics, **beside)
        check_weights(trained)
        reads = (tokenizer.levels, tokenizer.lowercase, tokenizer.max_words)
        if reads != (config.model.levels, config.data.lowercase, config.data.max_words):
            raise InputError("tokenizer.json and config.toml differ in levels, lowercase or max_words")
        if not all(bool(np.isfinite(value).all()) for value in weights.values()):
            raise InputError("weights.safetensors holds numbers that are not finite")
    except InputError as error:
        raise InputError(f"{folder}: damaged run ({error})") from None
    except Exception as error:  # nothing narrower: the package tokenizers raises no class of its own
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{folder}: damaged run, or one of another program ({type(error).__name__}: {reason})"
        ) from None
    return trained


def check_weights(trained: Trained) -> None:
    """Every weight there and of the right shape: known of a flat model, and found out of another by building it."""
    if not trained.is_flat:
        _ = trained.model
        return
    model = trained.config.model.filled()
    found = {name: value.shape for name, value in trained.weights.items()}
    width = trained.weights[EMBEDDING].shape[1]
    expected = shapes(replace(model, embedding=width), len(trained.tokenizer), trained.task.out_dim)
    if found != expected:
        wrong = next(name for name in {**expected, **found} if found.get(name) != expected.get(name))
        raise InputError(
            f"weights.safetensors: {wrong} has the shape {found.get(wrong)}; {expected.get(wrong)} is expected"
        )


def read_json(path: Path) -> Any:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path.name} holds a {type(value).__name__} instead of an object")
    return value
