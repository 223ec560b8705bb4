"""Errors for training that diverged, the same for all engines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError

MAX_LOSS = 1e6  # losses begin near 1; training does not recover from one this large, even if it is finite


def checked_loss(loss: float, where: str, remedy: str = "lr") -> float:
    """Return the loss, or raise an error if it is too large; `remedy` names the options to reduce."""
    if not loss < MAX_LOSS:
        raise InputError(f"training diverged: the loss is {loss:.3g} in {where}; try a smaller {remedy}")
    return loss


def checked_answers(answers: NDArray[np.float64], remedy: str = "lr") -> NDArray[np.float64]:
    if not np.isfinite(answers).all():
        raise InputError(f"training diverged: the model's predictions are not finite; try a smaller {remedy}")
    return answers
