"""numba's compiler with a cache that is never the reason why a command fails.

numba stores compiled code as an index and one file per signature. If they are damaged, or the disk is full, the code is compiled
without them, and a note says so.

numba numbers these files: two processes that compile the same function for different types at the same time would choose the same
number, and later processes would find the code for other types there. So here a file is named after the types, and after the
version of the source.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import caching
from numba.core import runtime as numba_runtime

FunctionCache: Any = caching.FunctionCache  # numba has no types, or not for all of its options
IndexDataCacheFile: Any = caching.IndexDataCacheFile
njit: Any = numba.njit
runtime: Any = numba_runtime.rtsys  # type: ignore[attr-defined]
Function = TypeVar("Function", bound=Callable[..., Any])

OLDEST, NEWEST = (0, 61), (0, 68)  # numba's versions with which `TolerantCache.stored` was tried
LOADS_ALONE = OLDEST <= tuple(map(int, numba.__version__.split(".")[:2])) <= NEWEST

elsewhere: list[Callable[[str], bool]] = []  # waits for a function that another process compiles (`ahead`): at most one
_noted: list[str] = []  # sentences about the cache, each of which is printed once


def compiled(**options: Any) -> Callable[[Function], Function]:
    """`numba.njit` without the global interpreter lock, and with the cache. An `inner` function is compiled once more, alone."""

    def compile_function(function: Function) -> Function:
        function = getattr(function, "py_func", function)
        dispatcher = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
        try:
            dispatcher._cache = TolerantCache(function)
        except (OSError, RuntimeError) as error:  # numba has no place for a cache
            note(f"compiled code cannot be stored, so every command compiles again ({reason(error)})")
        return cast(Function, dispatcher)

    return compile_function


class CodeFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The index of one function and its files of compiled code, which several processes may write."""

    def save(self, key: Any, data: Any) -> None:
        described = repr((self._source_stamp, key)).encode()
        name = self._data_name_pattern.format(number=int(hashlib.sha256(described).hexdigest()[:12], 16))
        self._save_data(name, data)  # before the index that names it
        self._save_index({**self._load_index(), key: name})


def inner(**options: Any) -> Callable[[Function], Function]:
    """`numba.njit` for functions that only compiled functions call, with which they are cached.

    Python cannot call them: without the code for that, which is about half of a short function's, they compile faster.
    """
    return cast(Callable[[Function], Function], njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options))


class TolerantCache(FunctionCache):  # type: ignore[misc]
    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = CodeFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            stored = self.stored(signature, context)
            if stored is None and elsewhere and elsewhere[0](name_of_function(self._py_func)):
                stored = self.stored(signature, context)
            return stored
        except Exception as error:  # whatever unpickling half a file raises
            note(f"the cache of compiled code in {self.cache_path} is damaged; compiling again ({reason(error)})")
            self.empty()
            return None

    def stored(self, signature: Any, context: Any) -> Any:
        """What numba's `load_overload` returns, without loading the compiler, which only functions that are not stored need.

        numba first imports and registers all that it can compile, 0.2 s of the start of every command. Stored code needs its
        memory management alone.
        """
        if not LOADS_ALONE:
            return super().load_overload(signature, context)
        runtime.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)
        return None  # numba ignored the error

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            super().save_overload(signature, data)
        except Exception as error:  # also of unpickling, because the index is read first
            note(
                f"compiled code cannot be stored in {self.cache_path}; the next command compiles again ({reason(error)})"
            )
            self.disable()

    def empty(self) -> None:
        """Forget what is stored, so that it is replaced."""
        try:
            self.flush()
        except OSError:
            self.disable()


def reason(error: Exception) -> str:
    described = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return f"{type(error).__name__}: {described}"[:200]


def note(sentence: str) -> None:
    if sentence not in _noted and sys.stderr is not None:
        _noted.append(sentence)
        print(f"· {sentence}", file=sys.stderr)


def name_of(kernel: Any) -> str:
    return name_of_function(kernel.py_func)


def name_of_function(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def is_compiled(kernel: Any) -> bool:
    """Whether a compiled function is stored from an earlier run on this machine, and its source has not changed since."""
    try:
        return isinstance(kernel._cache, TolerantCache) and bool(kernel._cache._cache_file._load_index())
    except Exception:  # whatever unpickling a damaged index raises; the file is replaced when the function is used
        return False
