"""Fused arithmetic behind one plain function each: eager, Triton on CUDA, numba on a CPU.

numba keeps what it compiled beside the source, or in the user's cache. Where neither can be written (a read-only
container) it is compiled in every run, into a folder of that run alone: what is in there gets executed, so a folder that
others can write to will not do. NUMBA_CACHE_DIR names a better one.

What it kept of a function is used until that function's own file changes, whatever becomes of others that it calls: whoever
changes `error` in sparse_steps.py touches pulls.py too, and with `find_pair` in pairs.py goes units.py.
"""

import os
import tempfile
from pathlib import Path


def _choose_cache() -> tempfile.TemporaryDirectory[str] | None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return None
    beside, cache = Path(__file__).parent, Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    own = beside / "__pycache__"
    above = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if os.access(own if own.exists() else beside, os.W_OK) or os.access(above, os.W_OK):
        return None
    made = tempfile.TemporaryDirectory(prefix="regard-compiled-")
    os.environ["NUMBA_CACHE_DIR"] = made.name
    return made


_cache = _choose_cache()  # removed with the process
