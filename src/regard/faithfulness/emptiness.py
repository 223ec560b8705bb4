"""Whether erased texts still are texts to the model: how often its answer is that to an empty text.

A model that has nothing left to read gives the same answer to every text. Drops measured on such texts say how far the
prediction is from that default answer, and not which words matter.
"""

from __future__ import annotations

import numpy as np

from regard.faithfulness.distributions import total_variation
from regard.faithfulness.scored import Doubles

TOLERANCE = 0.01  # total variation distance within which two predictions are the same


def like_empty(answers: Doubles, empty: Doubles) -> Doubles:
    """(draws, texts, cuts, classes), (classes,) -> (texts,) the fraction of erased texts with the answer to an empty one."""
    return np.asarray((total_variation(answers, empty) <= TOLERANCE).mean(axis=(0, 2)))
