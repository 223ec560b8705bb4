"""From options to the best ones that were found: what is read, where trials are kept, and the command that uses them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from regard.arguments import flag
from regard.config import Config
from regard.errors import InputError
from regard.extras import import_extra
from regard.ray_cluster import Needs, connected
from regard.recorder import Recorder
from regard.run_folders import run_name
from regard.run_lock import RunLock
from regard.runs import check_options, read_split, with_named_dev
from regard.training.cross_validation import check_folds
from regard.training.fit import Parts
from regard.tuning.scoring import Splits, split
from regard.tuning.search import Executor, Found, Here, Limits, check_folder, search

FOLDER = Path("tuning")


class Cluster(NamedTuple):
    where: str  # as in --on
    needs: Needs  # of a trial


def tune(
    given: Mapping[str, object],
    out: Path | None,
    limits: Limits,
    folds: int | None,
    select: str | None,
    recorder: Recorder,
    cluster: Cluster | None = None,
) -> tuple[Found, Path]:
    """`given`: the options that stay as they are. Test texts are not read."""
    config = Config().override(given)
    if cluster is not None:
        config = config.override({"device": "cpu"})  # of this machine, which trains nothing
    source = config.data.train
    if source is None:
        raise InputError("no training texts: pass a file, a folder or a named corpus, or set data.train in the config")
    check_limits(limits)
    import_extra("optuna", "regard tune")
    if folds is not None:
        check_folds(folds, config)
    check_options(config)
    if folds is None:
        config = with_named_dev(config, recorder)
    folder = out or FOLDER / run_name(source)
    check_folder(folder)
    train = read_split(config, source, "train", recorder, at_least=2)
    dev = None if config.data.dev is None else read_split(config, config.data.dev, "dev", recorder)
    names = (train.path, "the dev texts" if dev is None else dev.path, "the test texts")
    parts = Parts(train, dev, None, names, train.label_column)
    splits = split(config.override({"record": "no"}), parts, folds, select)
    with executor_for(splits, cluster) as executor, RunLock(folder):
        return search(splits, given.keys(), folder, limits, recorder, executor), folder


@contextmanager
def executor_for(splits: Splits, cluster: Cluster | None) -> Iterator[Executor]:
    if cluster is None:
        yield Here(splits)
        return
    from regard.tuning.ray_trials import RayTrials

    with connected(cluster.where, cluster.needs) as ray:
        yield RayTrials(ray, cluster.needs, splits)


def check_limits(limits: Limits) -> None:
    if limits.trials < 1:
        raise InputError(f"--trials: expected a whole number of at least 1, got {limits.trials}")
    if limits.seconds is not None and not (limits.seconds > 0 and math.isfinite(limits.seconds)):
        raise InputError(f"--seconds: expected a number above 0, got {limits.seconds:g}")


def train_command(given: Mapping[str, object], found: Mapping[str, object]) -> str:
    """The command line that trains with the options given and found, quoted for a shell."""
    words = ["regard", "train", str(given["train"])]
    for name, value in {**given, **found}.items():
        if name == "train" or value is None:
            continue
        if isinstance(value, bool):
            words.append(flag(name if value else f"no_{name}"))
        elif isinstance(value, tuple):
            words += [flag(name), *map(str, value)]
        else:
            words += [flag(name), str(value)]
    return shlex.join(words)
