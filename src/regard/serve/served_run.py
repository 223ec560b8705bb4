"""A run that is served: its model, its name, and a lock, because PyTorch models answer one request at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.explainers import default_contribution, default_method, is_fast, methods
from regard.models.model import Model
from regard.models.tasks import Named
from regard.serve.answers import RunDescription
from regard.serve.methods import budget
from regard.serve.request_errors import ClientGone, RequestError

MAX_WAIT = 30.0  # seconds that a request waits for the model
POLL = 0.25  # seconds between checks whether the client still waits

IsGone = Callable[[], bool]  # whether the client has disconnected


class ServedRun:
    def __init__(self, name: str, trained: Model) -> None:
        self.name, self.trained = name, trained
        self.methods, self.default_method = methods(trained), default_method(trained)
        self.default_contribution = default_contribution(trained)
        self.fast_methods = [name for name in self.methods if is_fast(trained, name)]
        self.budget = budget(trained)
        self.is_warm = False  # whether everything is compiled
        self._lock = threading.Lock()

    @contextmanager
    def exclusive(self, is_gone: IsGone) -> Iterator[None]:
        """One request at a time: PyTorch uses all cores for it anyway, and some of its settings are global."""
        end = time.monotonic() + MAX_WAIT
        while not self._lock.acquire(timeout=POLL):
            if is_gone():
                raise ClientGone
            if time.monotonic() > end:
                raise RequestError(503, f"{self.name}: the model is busy with other requests; try again later")
        try:
            if is_gone():  # while a user types, only the last request needs an answer
                raise ClientGone
            yield
        finally:
            self._lock.release()

    def warm_up(self) -> None:
        """Explain a word, so that no user waits for compilation and the first tables."""
        with self.exclusive(lambda: False):
            list(explain(self.trained, ["a"]))
            for method in self.fast_methods:
                attribute(self.trained, ["a"], method)
        self.is_warm = True

    def wait_until_idle(self, seconds: float) -> None:
        """Wait for the current request, at most this long."""
        if self._lock.acquire(timeout=seconds):
            self._lock.release()

    def as_dict(self) -> RunDescription:
        task = self.trained.task
        return {
            "name": self.name,
            "model": self.trained.title,
            "levels": self.trained.levels,
            "task": task.kind,
            "classes": list(task.classes) if isinstance(task, Named) else [],
            "max_words": self.trained.tokenizer.max_words,
            "methods": self.methods,
            "default_method": self.default_method,
            "default_contribution": self.default_contribution,
        }


def run_names(folders: Sequence[str]) -> list[str]:
    """The names of the folders, or their whole paths if two have the same name."""
    paths = [str(Path(folder)) for folder in folders]
    if len(set(paths)) < len(paths):
        raise InputError(f"{folders[0]}: expected two different runs, got the same one twice")
    names = [Path(folder).resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else paths
