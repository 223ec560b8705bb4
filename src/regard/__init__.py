"""regard: text classifiers that show their work.

Names load when they are used, so that `import regard` and `regard --help` cost next to nothing. Names that the documentation
once showed in other modules still load from there, with a warning.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.encoders import ENCODERS
    from regard.errors import InputError
    from regard.estimators import TextClassifier, TextRegressor, load
    from regard.poolings import POOLINGS
    from regard.records import Explanation
    from regard.wrapping import wrap

__version__ = "0.1.0"

HOMES = {
    "ENCODERS": "regard.encoders",
    "POOLINGS": "regard.poolings",
    "Explanation": "regard.records",
    "InputError": "regard.errors",
    "TextClassifier": "regard.estimators",
    "TextRegressor": "regard.estimators",
    "load": "regard.estimators",
    "wrap": "regard.wrapping",
}

MOVED = {
    "regard.data.ratings.read_ratings": "regard_lab.towers.ratings.read_ratings",
    **{
        f"regard.faithfulness.erasing.{name}": f"regard.data.erasing.{name}"
        for name in ("delete", "keep", "only", "replace", "without")
    },
    "regard.recording.Silent": "regard.recorder.Silent",
    "regard.report.run_writing.write_report": "regard.report.pages.run.write_report",
    "regard.reporting.gather.gather": "regard.run_facts.gather",
    "regard.training.fit_pairs.fit_pairs": "regard_lab.towers.fit_pairs.fit_pairs",
}

__all__ = ["ENCODERS", "POOLINGS", "Explanation", "InputError", "TextClassifier", "TextRegressor", "load", "wrap"]


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class MovedModule(ModuleType):
    """A module that no longer exists, with the names in `MOVED`."""

    def __getattr__(self, name: str) -> Any:
        old = f"{self.__name__}.{name}"
        if old not in MOVED:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        warnings.warn(f"{old} has moved to {MOVED[old]}", DeprecationWarning, stacklevel=2)
        module, _, new_name = MOVED[old].rpartition(".")
        return getattr(import_module(module), new_name)


for _name in {"regard.reporting", *(old.rpartition(".")[0] for old in MOVED)}:
    sys.modules[_name] = MovedModule(_name)
