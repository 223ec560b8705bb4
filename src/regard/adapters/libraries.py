"""Libraries that adapters need, which regard does not require."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from regard.errors import InputError


def imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise InputError(f"{package} cannot be imported: {error}") from None
        raise InputError(f"{package} is not installed; `pip install {package}` adds it") from None
