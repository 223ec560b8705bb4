"""Fused arithmetic behind one plain function each: eager, Triton on CUDA, numba on a CPU.

numba keeps what it compiled beside the source, or in the user's cache; where neither can be written (a read-only
container), in the folder for temporary files.
"""

import os
import tempfile
from pathlib import Path


def _choose_cache() -> None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    beside, cache = Path(__file__).parent, Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    own = beside / "__pycache__"
    above = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if not os.access(own if own.exists() else beside, os.W_OK) and not os.access(above, os.W_OK):
        os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"regard-compiled-{os.getuid()}")


_choose_cache()
