"""Any bytes as a file of a run folder: loaded and used, or refused with one sentence."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache
from itertools import chain

import numpy as np
from damaged import Damage, copied, finished, harmless

from mutations import Mutation, manifest_mutations, run_mutations
from regard import runtime
from regard.errors import InputError
from regard.explain.explain import explain
from regard.models.folder import load
from regard.models.run_files import CARD

TEXTS = ["good film, but the food was bad", "é 好 <br>"]


@cache
def mutations() -> list[Mutation]:
    return harmless(chain(run_mutations(finished(), most=200), manifest_mutations(finished(), most=200)))


@cache
def names() -> list[str]:
    return sorted(path.name for path in finished().iterdir() if path.name != CARD)


def run(data: bytes) -> None:
    """The meaning of the bytes: `damaged.Damage`."""
    folder, known = copied(finished()), mutations()  # also made by the first, empty input, which no time limit stops
    if len(data) < 2:
        return
    Damage(data).apply(folder, names(), known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with suppress(InputError):  # one sentence
            trained = load(folder)
            assert np.isfinite(trained.answers(TEXTS)).all()
            assert len([*explain(trained, TEXTS)]) == len(TEXTS)
        with suppress(InputError):
            assert len(runtime.load(folder).predict(TEXTS)) == len(TEXTS)
