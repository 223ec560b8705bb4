"""Small runs that are made once per process and damaged in copies: what the targets of folders have in common."""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))  # when no pytest has done so

from command import write_csv
from killed import Kill, Killed
from mutations import Mutation
from regard.config import Config
from regard.data.reviews import reviews
from regard.models.run_files import MANIFEST
from regard.recorder import Silent
from regard.runs import train_run
from regard.training import fit_sparse

PLACE = tempfile.TemporaryDirectory(prefix="regard-fuzz-")
HANGING = ("a pipe", "a link to zeros", "a terabyte")  # tests/test_received_folders.py has them
OPTIONS = {"hidden": 4, "embedding": 4, "query": 4, "epochs": 3, "batch_size": 16, "device": "cpu", "engine": "sparse"}


class Damage(NamedTuple):
    """What the bytes of an input mean.

    The first byte is a set of bits: 1, the second byte chooses a file, which the rest replaces; otherwise the rest chooses
    one of the mutations of tests/mutations.py. 2: the manifest is left out, so that nothing notices beforehand.
    """

    data: bytes

    def apply(self, folder: Path, names: list[str], mutations: list[Mutation]) -> None:
        bits, rest = self.data[0], self.data[1:]
        if bits & 2:
            (folder / MANIFEST).unlink(missing_ok=True)
        if bits & 1:
            (folder / names[rest[0] % len(names)]).write_bytes(rest[1:])
        else:
            random.Random(rest).choice(mutations).apply(folder)


@cache
def config() -> Config:
    table = write_csv(Path(PLACE.name) / "texts.csv", [(one.text, one.label) for one in reviews(30)])
    return Config().override({**OPTIONS, "train": str(table)})


@cache
def finished() -> Path:
    folder = Path(PLACE.name) / "finished"
    train_run(config().override({"keep_texts": 3}), folder, False, False, Silent())
    return folder


@cache
def killed() -> Path:
    """With a checkpoint after the first epoch."""
    folder, before = Path(PLACE.name) / "killed", fit_sparse.SAVED_EVERY
    fit_sparse.SAVED_EVERY = 0
    try:
        train_run(config(), folder, False, False, Kill(begin=2))
    except Killed:
        pass
    finally:
        fit_sparse.SAVED_EVERY = before
    return folder


def copied(folder: Path) -> Path:
    to = Path(PLACE.name) / "copy"
    shutil.rmtree(to, ignore_errors=True)
    return shutil.copytree(folder, to)


def harmless(mutations: Iterator[Mutation]) -> list[Mutation]:
    """Without those that would hang a reader."""
    return [one for one in mutations if not one.name.endswith(HANGING)]
