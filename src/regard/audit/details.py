"""Some of the texts as they are, with the scores of every attribution: what a page shows one text at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.faithfulness.scored import Scored
from regard.report.text.numbers import short

SHOWN = 100  # texts


def details(
    attributions: Mapping[str, Sequence[Scored]],
    answers: NDArray[np.float64],
    seed: int,
    lacking: Mapping[str, NDArray[np.bool_]],
) -> list[dict[str, Any]]:
    """By the place that a text has among all; drawn where there are more than are shown."""
    first = next(iter(attributions.values()))
    places = np.arange(len(first))
    if len(first) > SHOWN:
        places = np.sort(np.random.default_rng((seed, 1)).choice(len(first), SHOWN, replace=False))
    return [
        {
            "place": place,
            "text": first[place].text,
            "label": first[place].label,
            "decided": int(answers[place].argmax()),
            "probabilities": [short(value, 4) for value in answers[place]],
            "spans": [[int(a), int(b)] for a, b in first[place].spans],
            "scores": {
                name: [short(value, 4) for value in scored[place].scores]
                for name, scored in attributions.items()
                if name not in lacking or not lacking[name][place]
            },
        }
        for place in places.tolist()
    ]
