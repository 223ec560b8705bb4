"""The options of a run that continues another one: those of the old run, with what was asked for on top.

What the model looks like and how it reads a text cannot change, because its weights would have no place. What depends on the
texts of a run is open again.
"""

from __future__ import annotations

from collections.abc import Mapping

from regard.config.config import Config
from regard.config.fields import Data, Training
from regard.config.option_table import options
from regard.errors import InputError

# and all options of the model
FIXED = {"lowercase", "max_words", "pairs", "beginnings", "vectors", "positive", "engine", "optimizer"}
OPEN = ("train", "dev", "test", "text", "label", "weight", "encoding", "skip_bad_rows")  # about the files of one run
CHOSEN = ("epochs", "patience", "select", "deterministic")  # by the number of new texts
ONCE = {"record": "no"}  # what is not repeated


def continued(old: Config, given: Mapping[str, object], name: str) -> Config:
    """`given` are the options asked for; `name` is what the old run is called in errors."""
    for option in options():
        before = getattr(getattr(old, option.section), option.name)
        if option.name not in given or given[option.name] == before:
            continue
        if option.section == "model" or option.name in FIXED:
            if option.name == "engine" and given["engine"] == "auto":
                continue
            raise InputError(
                f"{option.name}: expected {before!r}, with which {name} was trained, got {given[option.name]!r}; "
                "leave it out, or train a new run on all texts"
            )
    check_task(old.data.task, given.get("task", "auto"), name)
    if given.get("record", "no") != "no":
        raise InputError(f"record: expected 'no' for training that continues {name}, got {given['record']!r}")
    first = {**vars(Data()), **vars(Training())}
    reopened = {option: first[option] for option in (*OPEN, *CHOSEN)}
    kept = {key: value for key, value in given.items() if key not in ("task", "engine")}
    return old.override({**reopened, **ONCE, **kept})


def check_task(old: str, task: object, name: str) -> None:
    """Two classes may become more; nothing else changes."""
    if task not in ("auto", old) and (old, task) != ("binary", "multiclass"):
        raise InputError(f"task: expected {old!r}, for which {name} was trained, got {task!r}; leave it out")
