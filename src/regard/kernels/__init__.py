"""Fused kernels, each behind one plain function: eager PyTorch, Triton on CUDA, numba on a CPU.

numba caches compiled code next to the source, or in the user's cache. If neither is writable (a read-only container),
every run compiles again into a private temporary folder: cached code is executed, so a folder that others can write to is
not safe. NUMBA_CACHE_DIR names a better one.

A cached function is reused until its own file changes, even if functions in other files that it calls have changed: when
you change `loss_and_gradient` in sparse_steps.py, touch pulls.py too, and units.py when you change `find_pair` in pairs.py.
`ahead` lists the functions that training uses, with their signatures: a new one needs a line there.
"""

import os
import tempfile
from pathlib import Path


def _choose_cache() -> tempfile.TemporaryDirectory[str] | None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return None
    source, cache = Path(__file__).parent, Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    compiled = source / "__pycache__"
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if os.access(compiled if compiled.exists() else source, os.W_OK) or os.access(existing, os.W_OK):
        return None
    try:
        temporary = tempfile.TemporaryDirectory(prefix="regard-compiled-")
    except OSError:  # a full disk: `compiling` does without
        return None
    os.environ["NUMBA_CACHE_DIR"] = temporary.name
    return temporary


_cache = _choose_cache()  # removed when the process ends
