"""regard: text classifiers that show their work.

Names load when they are used, so that `import regard` and `regard --help` cost next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.encoders import ENCODERS
    from regard.errors import InputError
    from regard.estimators import TextClassifier, TextRegressor, load
    from regard.poolings import POOLINGS
    from regard.records import Explanation

__version__ = "0.1.0"

HOMES = {
    "ENCODERS": "regard.encoders",
    "POOLINGS": "regard.poolings",
    "Explanation": "regard.records",
    "InputError": "regard.errors",
    "TextClassifier": "regard.estimators",
    "TextRegressor": "regard.estimators",
    "load": "regard.estimators",
}

__all__ = ["ENCODERS", "POOLINGS", "Explanation", "InputError", "TextClassifier", "TextRegressor", "load"]


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
