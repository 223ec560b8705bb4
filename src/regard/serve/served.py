"""A run that is served: its model, its name, and the turns that requests take at it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.errors import InputError
from regard.explain.explain import explain
from regard.explain.explainers import default_method, methods
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.serve.methods import budget
from regard.serve.refused import Gone, Refused

WAIT = 30.0  # seconds that a request waits for its turn
LOOK = 0.25  # seconds between two looks whether somebody still waits for the answer

Away = Callable[[], bool]  # whether whoever asked has gone


class Served:
    def __init__(self, name: str, trained: Trained) -> None:
        self.name, self.trained = name, trained
        self.methods, self.default_method = methods(trained), default_method(trained)
        self.budget = budget(trained)
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, away: Away) -> Iterator[None]:
        """One request at a time: PyTorch has both cores for it anyway, and some of its switches are everybody's."""
        end = time.monotonic() + WAIT
        while not self._lock.acquire(timeout=LOOK):
            if away():
                raise Gone
            if time.monotonic() > end:
                raise Refused(503, f"{self.name}: the model is busy with other requests; try again later")
        try:
            if away():  # of a reader who types, only the last question needs an answer
                raise Gone
            yield
        finally:
            self._lock.release()

    def warm(self) -> None:
        """The first answer pays for what is compiled and tabulated once."""
        with self.turn(lambda: False):
            list(explain(self.trained, ["a"]))

    def rest(self, seconds: float) -> None:
        """Until the request in hand is done."""
        if self._lock.acquire(timeout=seconds):
            self._lock.release()

    def as_dict(self) -> dict[str, Any]:
        task, model = self.trained.task, self.trained.config.model
        return {
            "name": self.name,
            "model": f"{model.encoder}-{model.pooling}",
            "levels": model.levels,
            "task": task.kind,
            "classes": list(task.classes) if isinstance(task, Classes) else [],
            "max_words": self.trained.tokenizer.max_words,
            "methods": self.methods,
            "default_method": self.default_method,
        }


def run_names(folders: Sequence[str]) -> list[str]:
    """Folders' own names, or their whole paths where two are called the same."""
    whole = [str(Path(folder)) for folder in folders]
    if len(set(whole)) < len(whole):
        raise InputError(f"{folders[0]} is given twice; two different runs are compared")
    own = [Path(folder).resolve().name for folder in folders]
    return own if len(set(own)) == len(own) else whole
