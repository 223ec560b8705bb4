"""Whether compiled kernels are cached from an earlier run."""

from __future__ import annotations

import os
from typing import Any


def is_compiled() -> bool:
    """Whether the kernels of the fast engine have been compiled on this machine before."""
    from regard.kernels.sparse_steps import update_rows

    dispatcher: Any = update_rows
    try:
        names = os.listdir(dispatcher._cache.cache_path)
    except OSError:
        return False
    return any(name.startswith("sparse_steps.update_rows-") for name in names)
