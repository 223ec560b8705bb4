"""Files of a run as they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from regard.models.saving import tensor_file

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "tensors",
    [
        {"b": RNG.normal(size=(3, 2)).astype(np.float32), "a": np.zeros(5, np.float32), "0/é": np.ones((), np.float32)},
        {"a": np.zeros((0, 4), np.float32), "b": RNG.normal(size=(4, 6)).astype(np.float32)[:, ::2]},
        {"a": np.ones(3, np.float32), "b": np.ones(3, np.int64)},
        {},
    ],
)
def test_tensors_are_written_as_the_library_writes_them(tensors: dict[str, Any]) -> None:
    pieces = tensor_file(tensors)
    contiguous = {name: np.array(value, order="C") for name, value in tensors.items()}
    assert (pieces if isinstance(pieces, bytes) else b"".join(pieces)) == safetensors.numpy.save(contiguous)
