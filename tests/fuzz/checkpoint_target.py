"""Any bytes as the checkpoint of a killed run: resumed to finite weights, or refused with one sentence."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import safetensors.numpy
from damaged import Damage, config, copied, harmless, killed

from mutations import Mutation, checkpoint_mutations
from regard.errors import InputError
from regard.models.run_files import CHECKPOINT
from regard.recorder import Silent
from regard.runs import train_run


@cache
def mutations() -> list[Mutation]:
    return harmless(checkpoint_mutations(killed(), most=400))


def run(data: bytes) -> None:
    """The meaning of the bytes: `damaged.Damage`."""
    folder, known = copied(killed()), mutations()  # also made by the first, empty input, which no time limit stops
    if len(data) < 2:
        return
    Damage(data).apply(folder, [CHECKPOINT], known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            train_run(config(), folder, True, False, Silent())
        except InputError:  # one sentence
            return
    weights = safetensors.numpy.load_file(folder / "weights.safetensors")
    assert all(np.isfinite(value).all() for value in weights.values())
