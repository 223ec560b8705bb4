"""Whether compiled kernels were kept by an earlier run, or this one must wait for them."""

from __future__ import annotations

import os
from typing import Any


def is_compiled() -> bool:
    """Whether the kernels of the fast engine were compiled on this machine before."""
    from regard.kernels.sparse_steps import move_rows

    dispatcher: Any = move_rows
    try:
        names = os.listdir(dispatcher._cache.cache_path)
    except OSError:
        return False
    return any(name.startswith("sparse_steps.move_rows-") for name in names)
