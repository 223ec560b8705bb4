"""The files that the options of a run name: texts, word vectors, weights of classes, a pretrained model.

A run may come from somebody else, and its options may name any file of this machine. So a file is used only if the user has
named it, or if its content is what the run was trained with, by the SHA-256 in its manifest: who knows that already learns
nothing from it.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.errors import InputError
from regard.models.manifest import Digests, of_data
from regard.models.model import Model
from regard.models.trained import Trained
from regard.training.vector_files import VectorFiles
from regard.training.weighting import names_file

SPLITS = ("train", "dev", "test")
OTHERS = ("vectors", "class_weight", "pretrained")  # what training reads besides texts


def data_digests(config: Config) -> Digests:
    """By option; without those that cannot be read twice, such as a pipe."""
    values = {name: named(config, name) for name in (*SPLITS, *OTHERS)}
    each = {name: digest(name, value) for name, value in values.items() if value is not None}
    return {name: one for name, one in each.items() if one is not None}


def named(config: Config, option: str) -> str | None:
    section = config.training if option == "class_weight" else config.model if option == "pretrained" else config.data
    value: str | None = getattr(section, option)
    return value


def paths(option: str, value: str) -> list[Path]:
    """None for what is not a file: weights written out, or the name of a model on the hub. InputError if there is no file."""
    if option == "vectors":
        return VectorFiles(value).paths
    if option == "class_weight":
        return [Path(value)] if names_file(value) else []
    if option == "pretrained":
        folder = Path(os.path.expanduser(value))
        return [folder] if folder.exists() else []
    return [resolve(value, option)]


def digest(option: str, value: str) -> str | None:
    try:
        each = [of_data(path) for path in paths(option, value)]
    except InputError:
        return None
    known = [one for one in each if one is not None]
    if not known or len(known) < len(each):
        return None
    return known[0] if len(known) == 1 else sha256("".join(known).encode()).hexdigest()


def verified(trained: Model, split: str) -> Path:
    """The file of texts that a run names, if it is what the run was trained or scored on."""
    value = getattr(trained.data, split)
    if value is None:
        raise InputError(f"the run does not say what its {split} texts were")
    path = resolve(value, split)
    if trained.digests is None:
        return path  # its options are those of the user
    if (known := trained.digests.get(split)) is None:
        raise InputError(
            f"the run names {value} as its {split} texts, but does not say what they were; pass --data {value} to use them"
        )
    if of_data(path) != known:
        raise InputError(
            f"{value} is not the file that the run had as its {split} texts; pass --data {value} to use it as it is now"
        )
    return path


def check_named(trained: Trained, given: Collection[str] = ()) -> None:
    """Refuse files other than texts that training would read because a run names them; `given`: options that
    the user names."""
    if trained.digests is None:
        return  # its options are those of the user
    for option in OTHERS:
        value = named(trained.config, option)
        if value is None or option in given:
            continue
        try:
            if not paths(option, value):
                continue
        except InputError:
            continue  # there is no such file, which whoever wants to read it will report
        if (known := trained.digests.get(option)) is None or digest(option, value) != known:
            raise InputError(
                f"{option}: the run names {value}, which is not the same as when it was trained, or unknown; "
                f"pass --{option.replace('_', '-')} {value} to use it as it is now"
            )
