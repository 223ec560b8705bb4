"""Static vectors from a sentence-transformers model: what its encoder says about each of its word pieces alone (model2vec)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from regard.data.static_folders import StaticFolder
from regard.errors import InputError
from regard.extras import import_extra
from regard.files import contents

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")  # a pytorch_model.bin would be a pickle


def distill(model: Path, out: Path, width: int = 256) -> StaticFolder:
    """Write a folder that `--vectors` reads. `out` must not exist, or be empty; it appears complete or not at all."""
    if width < 1:
        raise InputError(f"width: expected 1 or more, got {width}")
    if not model.is_dir():
        raise InputError(f"{model}: expected the folder of a sentence-transformers model, got no folder")
    if not (model / "config.json").is_file() or not any((model / name).is_file() for name in WEIGHTS):
        raise InputError(
            f"{model}: expected the folder of a sentence-transformers model with config.json and model.safetensors, "
            "got one without"
        )
    if out.exists() and (not out.is_dir() or contents(out)):
        raise InputError(f"{out}: expected a new folder, got one that exists; nothing was written")
    library = import_extra("model2vec.distill", "regard vectors distill")
    try:
        static = library.distill(model_name=str(model), pca_dims=width)
    except Exception as error:  # whatever transformers says about a folder that it cannot load
        raise InputError(f"{model}: cannot be distilled ({' '.join(str(error).split())[:200]})") from None
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}") as temporary:
        made = Path(temporary) / "vectors"
        static.save_pretrained(str(made))
        StaticFolder(made)  # before it gets its name
        if out.exists():
            out.rmdir()
        made.rename(out)
    return StaticFolder(out)
