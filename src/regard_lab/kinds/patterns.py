"""Whether a model shows Sun & Lu's patterns, each as 1 or 0: the mean over seeds is the share of seeds that show it.

Of two classes and of more: polarity is that of a token's own class, what is said for it beside the mean of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard_lab.measures import Measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.analysis.token_scores import TokenScores
    from regard.analysis.token_types import TokenTypes

TENTH = 0.1

MEASURES = {
    "signs_right": Measure("% seeds, polarity of every token its class's", 100, 0, 1),
    "neutral_within_tenth": Measure("% seeds, neutral polarity within a tenth", 100, 0, 1),
    "attention_above": Measure("% seeds, attention above neutral", 100, 0, 1),
    "omega_like": Measure("% seeds, Ω of like pairs larger", 100, 0, 1),
    "neutral_size": Measure("size of neutral polarity as a share of the others'", 1, 3, -1),
}


def patterns(
    types: TokenTypes, scores: TokenScores, products: Sequence[Mapping[str, Any]], classes: Sequence[str]
) -> dict[str, float]:
    """`products`: mean Ω by pair of types, as `analyse` tells them. None where a class has no tokens."""
    from regard.analysis.token_scores import lead, said_for

    own = [said_for(seen(scores.polarity[types.codes == k]), k) for k in range(len(classes))]
    if not all(map(len, own)):
        return {}
    attention = [mean_of(scores.attention[types.codes == k]) for k in range(len(classes))]
    neutral = types.codes == len(classes)
    weakest = min(mean_of(values) for values in own)
    size = mean_of(abs(lead(scores.polarity[neutral])))
    found = {"signs_right": float(all(bool((values > 0).all()) for values in own))}
    if size == size:  # NaN where there are no neutral tokens
        found["attention_above"] = float(min(attention) > mean_of(scores.attention[neutral]))
        found["neutral_within_tenth"] = float(size < TENTH * weakest)
        found |= {"neutral_size": size / weakest} if weakest > 0 else {}
    omega = {tuple(one["pair"]): one["mean"] for one in products}
    like = [omega[name, name] for name in classes if (name, name) in omega]
    unlike = [value for (a, b), value in omega.items() if a != b and {a, b} <= set(classes)]
    if len(like) == len(classes) and unlike:
        found["omega_like"] = float(min(like) > max(0.0, *(larger(value, len(classes)) for value in unlike)))
    return found


def seen(polarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of tokens that were."""
    import numpy as np

    return polarity[np.isfinite(polarity).all(1)]


def larger(value: float, classes: int) -> float:
    """What Ω of like pairs must exceed: of two classes the size of that of unlike ones, of more that one itself."""
    return abs(value) if classes == 2 else value


def mean_of(values: NDArray[np.float64]) -> float:
    """Of tokens that were seen; NaN where there are none."""
    kept = values[values == values]
    return float(kept.mean()) if len(kept) else float("nan")
