"""Training that went astray is told in one sentence, whichever engine it was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError

HIGHEST = 1e6  # losses begin near 1; one like this has no way back, even where it is still a number


def checked_loss(loss: float, where: str, remedy: str = "lr") -> float:
    """`remedy` names the options that are too large."""
    if not loss < HIGHEST:
        raise InputError(f"training diverged: the loss is {loss:.3g} in {where}; try a smaller {remedy}")
    return loss


def checked_answers(answers: NDArray[np.float64], remedy: str = "lr") -> NDArray[np.float64]:
    if not np.isfinite(answers).all():
        raise InputError(f"training diverged: the model's answers are not finite; try a smaller {remedy}")
    return answers
