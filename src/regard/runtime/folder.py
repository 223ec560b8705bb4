"""The folder that `regard export` writes, and how it is read; a run folder of a flat model can be read as well.

export.json has the format with its version, and facts that every file is checked against. Folders hold data only: JSON, arrays,
and an ONNX graph, which cannot run other code.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from regard.data.tokenizer import Tokenizer
from regard.errors import InputError
from regard.files import check_plain
from regard.models.flat import Tables, check_shapes, finite_tables, is_flat
from regard.models.hub import local_folder
from regard.models.manifest import verified
from regard.models.metrics_file import read_metrics
from regard.models.run_files import (
    FACTS,
    FILES,
    GRAPH,
    MANIFEST,
    TABLES,
    check_agreement,
    check_finished,
    check_finite,
    check_readable,
    read_json,
)
from regard.models.tasks import Task, task_from_dict
from regard.runtime.flat_model import FlatModel
from regard.runtime.model import RuntimeModel
from regard.runtime.onnx_model import OnnxModel
from regard.runtime.safetensors_file import read_floats

FORMAT = "regard export 2"
EXPORTED = (GRAPH, TABLES, "tokenizer.json", "task.json", FACTS)  # the files of an export in its manifest

Part = TypeVar("Part")


def load(folder: str | Path, threads: int = 1, verify: bool = True) -> RuntimeModel:
    """Load what `regard export --format onnx` wrote, or the run folder of a flat model, also from its address on the hub.

    Nothing in it is executed.

    Parameters
    ----------
    folder : path
        The folder, or the address `hf://USER/NAME@REVISION`.
    threads : int
        Threads of onnxruntime; one is fastest for single texts, 0 is one per core.
    verify : bool
        Compare the files with their SHA-256 in manifest.json. False loads a folder whose files were edited on purpose.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise InputError(f"threads: expected a whole number of at least 0 (0: one per core), got {threads!r}")
    folder = local_folder(folder)
    check_plain(folder)
    is_export = (folder / FACTS).is_file()
    try:
        check_readable(folder, (*EXPORTED, MANIFEST)) if is_export else check_readable(folder)
        with nullcontext() if not verify else verified_export(folder) if is_export else verified(folder):
            return load_exported(folder, threads) if is_export else load_run(folder)
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{folder}: damaged, or not a model of regard ({type(error).__name__}: {reason})") from None


def verified_export(folder: Path) -> AbstractContextManager[None]:
    # a model with tables is answered from them, so whoever needs no graph may delete it
    return verified(folder, EXPORTED, {GRAPH} if (folder / TABLES).is_file() else set())


def load_exported(folder: Path, threads: int) -> RuntimeModel:
    manifest = read_json(folder / FACTS)
    if manifest.get("format") != FORMAT:
        raise InputError(
            f"{folder / FACTS}: expected the format {FORMAT!r}, got {str(manifest.get('format'))[:40]!r}; "
            "export the run again with this version of regard"
        )
    tokenizer, task = read_tokenizer(folder), read_task(folder)
    facts = {"ids": len(tokenizer), "levels": tokenizer.levels, "outputs": task.out_dim}
    for name, value in facts.items():
        if manifest.get(name) != value:
            raise InputError(
                f"{folder}: {FACTS} has {name} = {str(manifest.get(name))[:40]}, but its other files {value}; "
                "they belong to different exports"
            )
    label_type = manifest.get("label_type")
    if manifest.get("tables"):
        return RuntimeModel(FlatModel(tokenizer, task, read_tables(folder, tokenizer, task)), label_type)
    if tokenizer.has_units:
        raise InputError(
            f"{folder / 'tokenizer.json'}: expected words only, since {FACTS} promises no tables, got pairs"
        )
    method = manifest.get("method")
    if method not in ("attention", "attention_norm"):
        raise InputError(f"{folder / FACTS}: method: expected attention or attention_norm, got {str(method)[:40]!r}")
    return RuntimeModel(OnnxModel(folder / GRAPH, tokenizer, task, method, threads), label_type)


def read_tables(folder: Path, tokenizer: Tokenizer, task: Task) -> Tables:
    arrays = read_floats(folder / TABLES)
    units, outputs = len(tokenizer), task.out_dim
    members = arrays["scores"].shape[-1]
    expected = {"scores": (units, members), "polarity": (units, members, outputs), "bias": (outputs,)}
    shapes = {name: value.shape for name, value in arrays.items()}
    if shapes != expected:
        raise InputError(f"{folder / TABLES}: expected arrays of the shapes {expected}, got {shapes}")
    if not all(bool(np.isfinite(value).all()) for value in arrays.values()):
        raise InputError(f"{folder / TABLES}: contains numbers that are not finite")
    return Tables(arrays["scores"], arrays["polarity"], arrays["bias"])


def load_run(folder: Path) -> RuntimeModel:
    from regard.config import Config, read_config  # an export does not need it

    check_finished(folder)
    config = Config().override(read_config(folder / "config.toml"))
    if not is_flat(config.model):
        model = config.model.filled()
        raise InputError(
            f"{folder}: expected a run of the fast engine (embeddings, attention, one level), got {model.encoder}, "
            f"{model.pooling} pooling, {model.levels} level{'s' * (model.levels > 1)}; "
            f"write an ONNX model with `regard export {folder} --format onnx` and load that folder"
        )
    tokenizer, task = read_tokenizer(folder), read_task(folder)
    weights = read_floats(folder / "weights.safetensors")
    try:
        check_shapes(config.model, weights, len(tokenizer), task.out_dim)
        check_agreement(config, tokenizer)
        check_finite(weights)
    except InputError as error:
        raise InputError(f"{folder}: damaged run ({error})") from None
    model = config.model.filled()
    lookup = finite_tables(weights, model.scale or 1.0, model.members)
    return RuntimeModel(FlatModel(tokenizer, task, lookup), read_metrics(folder / FILES[-1]).get("label_type"))


def read_tokenizer(folder: Path) -> Tokenizer:
    return parsed(folder / "tokenizer.json", Tokenizer.from_dict)


def read_task(folder: Path) -> Task:
    return parsed(folder / "task.json", task_from_dict)


def parsed(path: Path, make: Callable[[Any], Part]) -> Part:
    try:
        return make(read_json(path))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the export is incomplete") from None
    except (LookupError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: damaged ({type(error).__name__}: {reason})") from None
