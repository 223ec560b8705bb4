"""How good guessed ratings are: overall, by what there was to read, and beside effects that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.meetings import GROUPS, Meeting, coverage
from regard.data.ratings import Rating
from regard.data.synthetic_ratings import World
from regard.recording import Recorder
from regard.training.metrics import of_numbers
from regard_lab.kinds.rating_rivals import Effects


def scores(said: NDArray[np.float64], ratings: Sequence[Rating], mean: float) -> dict[str, Any]:
    return of_numbers(said, np.array([rating.value for rating in ratings]), mean)


def by_coverage(
    said: NDArray[np.float64], ratings: Sequence[Rating], meetings: Sequence[Meeting], recorder: Recorder
) -> dict[str, float]:
    """RMSE and number of ratings by what is known of them: `meetings` are whole, whichever side was read."""
    counts = coverage(meetings)
    told = ", ".join(f"{group} {count} ({100 * count / len(ratings):.1f} %)" for group, count in counts.items())
    recorder.note(f"of {len(ratings)} test ratings there are other reviews to read of: {told}")
    groups = np.array([meeting.group for meeting in meetings])
    error = said - [rating.value for rating in ratings]
    found: dict[str, float] = {f"n_{group}": count for group, count in counts.items()}
    for group in GROUPS:
        if counts[group]:
            found[f"rmse_{group}"] = float(np.sqrt(np.mean(error[groups == group] ** 2)))
    return found


def recovered(said: Effects, world: World, suffix: str) -> dict[str, float]:
    """How what is said of users and items goes along with the truth (Pearson's r); none where one thing is said of all."""
    found = {}
    for name, effects, truth in (("user", said[0], world.users), ("item", said[1], world.items)):
        names = [key for key in truth if key in effects]
        values = np.array([effects[key] for key in names])
        if values.std() > 1e-9:
            found[f"{name}_r{suffix}"] = float(np.corrcoef(values, [truth[key] for key in names])[0, 1])
    return found
