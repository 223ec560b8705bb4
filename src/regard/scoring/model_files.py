"""A model on its way to other machines: the files of a run travel, models of other libraries have to be there already."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from pathlib import Path

from regard.adapters.sources import load_wrapped
from regard.errors import InputError
from regard.models.folder import load
from regard.models.hub import local_folder
from regard.models.model import Model
from regard.models.run_files import ENCODER, FILES

ModelFiles = dict[str, bytes]


def files_of(folder: str | Path) -> ModelFiles:
    """What predicting needs of a run: never the texts that it keeps."""
    home = Path(local_folder(folder))
    names = [*FILES, *[ENCODER] * (home / ENCODER).is_file()]
    try:
        return {name: (home / name).read_bytes() for name in names}
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror or error})") from None


def digest(files: ModelFiles) -> str:
    """Equal for runs that predict the same; their scores and paths are left out."""
    hashed = sha256()
    for name in sorted(files.keys() - {"metrics.json", "config.toml"}):
        hashed.update(name.encode() + b"\0" + files[name])
    return hashed.hexdigest()[:16]


def load_files(files: ModelFiles, device: str) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        trained = load(folder, device)
        trained.answers(["a"])  # builds what is built on demand, while the files are there
    return trained


def load_there(model: ModelFiles | str, device: str) -> Model:
    """On the machine that predicts. A string is a model of another library, such as fasttext:FILE."""
    return load_wrapped(model, device) if isinstance(model, str) else load_files(model, device)
