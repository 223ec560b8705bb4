"""Every fuzz target with its seeds, and with a few mutations of them. `make fuzz` runs them for minutes."""

from __future__ import annotations

import random

import pytest
import targets
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", targets.TARGETS)
def test_seeds_and_inputs_that_once_failed(name: str) -> None:
    for data in targets.seeds(name):
        targets.run(name, data)


@pytest.mark.parametrize("name", targets.TARGETS)
@settings(max_examples=60)
@given(number=st.integers(0, 2**32 - 1))
def test_mutations_of_the_seeds(name: str, number: int) -> None:
    targets.run(name, targets.mutated(name, random.Random(number)))


@pytest.mark.parametrize("name", targets.TARGETS)
@settings(max_examples=60)
@given(data=st.binary(max_size=200))
def test_any_bytes(name: str, data: bytes) -> None:
    targets.run(name, data)
