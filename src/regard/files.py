"""Writing so that a reader, or a killed writer, never meets half a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from regard.errors import InputError


def write_all(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files of a folder together: all are written beside their places first, then moved there one after the other."""
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    waiting: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            waiting.append(folder / f".{name}.partial")
            with open(waiting[-1], "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, name in zip(waiting, contents, strict=True):
            os.replace(path, folder / name)
    except OSError as error:
        for path in waiting:
            path.unlink(missing_ok=True)
        for parent in made:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        raise InputError(
            f"{folder}: could not be written ({error.strerror or error}); nothing was left there half-written"
        ) from None


def write(path: Path, content: str) -> None:
    write_all(path.parent, {path.name: content.encode("utf-8", "replace")})
