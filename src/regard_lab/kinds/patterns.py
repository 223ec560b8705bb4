"""Patterns of attention described by Sun & Lu: their measures, whether a model shows them, and values during training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regard.report.pages.analysis import frames
from regard.report.text.numbers import short
from regard_lab.measures import Measure
from regard_lab.rows import History

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.analysis.token_scores import TokenScores
    from regard.analysis.token_types import TokenTypes
    from regard.facts.analysis import DotProducts, Recording


TENTH = 0.1

PATTERNS = {
    "signs_right": Measure("% seeds, all tokens with the polarity of their class", 100, 0, 1),
    "neutral_within_tenth": Measure("% seeds, neutral polarity below a tenth", 100, 0, 1),
    "attention_above": Measure("% seeds, attention above neutral", 100, 0, 1),
    "omega_like": Measure("% seeds, Ω larger within classes", 100, 0, 1),
    "neutral_size": Measure("mean |neutral polarity| / that of other tokens", 1, 3, -1),
}
TYPES = ("negative", "positive", "neutral", "1", "2", "3")  # names for two classes; more classes have numbers


def short_names(classes: Sequence[str]) -> list[str]:
    """The names of the types in a row: the second of two classes is positive."""
    return ["negative", "positive"] if len(classes) == 2 else [str(number) for number in range(1, len(classes) + 1)]


MEASURES: dict[str, Measure] = {
    **{f"polarity_{name}": Measure(f"polarity, {name}", 1, 2) for name in TYPES},
    **{f"attention_{name}": Measure(f"attention, {name}", 1, 3) for name in TYPES},
    **{f"weight_{name}": Measure(f"% weight, {name}", 100, 2) for name in TYPES},
    **{
        f"share_{name}": Measure(f"% of {name} tokens with matching polarity", 100, 1, 1)
        for name in TYPES
        if name != "neutral"
    },
    **{f"auc_{name}": Measure(f"AUC, {name} against neutral", 1, 3, 1) for name in TYPES if name != "neutral"},
    **{f"local_attention_{name}": Measure(f"local attention, {name}", 1, 3) for name in TYPES},
    **{f"local_polarity_{name}": Measure(f"local polarity, {name}", 1, 2) for name in TYPES},
    "auc": Measure("AUC of attention", 1, 3, 1),
    "attention_size": Measure("mean |attention score|", 1, 3),
    "polarity_size": Measure("mean |polarity score| of tokens of a class", 1, 2),
    "omega_beside": Measure("Ω with neutral / Ω within a class", 1, 3, -1),
    "local_auc": Measure("AUC of local attention", 1, 3, 1),
    "neutral_ratio": Measure("neutral polarity / that of other tokens", 1, 3, -1),
    "gap": Measure("attention of positive minus negative", 1, 3),
    "gap_size": Measure("gap between positive and negative attention", 1, 4, -1),
    "gap_follows": Measure("% seeds, gap has the sign of VᵀW", 100, 0),
    "opposite": Measure("% seeds, opposite signs of positive and negative attention", 100, 0),
    "omega_same": Measure("Ω, same class", 1, 3),
    "omega_other": Measure("Ω, other class", 1, 3),
    "omega_neutral": Measure("Ω with neutral", 1, 3),
    "omega_epoch": Measure("epoch from which the signs of Ω are right", 1, 1, -1),
    "omega_like_mapped": Measure("% seeds, Ω larger within classes, affine representations", 100, 0, 1),
    "vtw": Measure("VᵀW", 1, 3),
    "vtw_size": Measure("|VᵀW|", 1, 3),
    "vtw_scaled": Measure("VᵀW·λ", 1, 2),
    "vtw_cosine": Measure("cosine of V and W", 1, 3),
    "vtw_mapped": Measure("W'ᵀV'", 1, 3),
    "norm_v": Measure("‖V‖", 1, 2),
    "norm_w": Measure("‖W‖", 1, 2),
    "scale": Measure("λ", 1, 1),
    "tokens_tied": Measure("tokens of a class", 1, 0),
    "tokens_neutral": Measure("neutral tokens", 1, 0),
    **PATTERNS,
}


def patterns(
    types: TokenTypes, scores: TokenScores, products: Sequence[DotProducts], classes: Sequence[str]
) -> dict[str, float]:
    """`products`: Ω by pair of types, of which the means are compared. Empty if a class has no tokens."""
    from regard.analysis.token_scores import lead, support_for

    polarities = [support_for(occurring(scores.polarity[types.codes == k]), k) for k in range(len(classes))]
    if not all(map(len, polarities)):
        return {}
    attention = [mean_of(scores.attention[types.codes == k]) for k in range(len(classes))]
    neutral = types.codes == len(classes)
    weakest = min(mean_of(values) for values in polarities)
    size = mean_of(abs(lead(scores.polarity[neutral])))
    results = {"signs_right": float(all(bool((values > 0).all()) for values in polarities))}
    if size == size:  # NaN where there are no neutral tokens
        results["attention_above"] = float(min(attention) > mean_of(scores.attention[neutral]))
        results["neutral_within_tenth"] = float(size < TENTH * weakest)
        results |= {"neutral_size": size / weakest} if weakest > 0 else {}
    omega = {product.pair: product.mean for product in products}
    within = [omega[name, name] for name in classes if (name, name) in omega]
    between = [value for (a, b), value in omega.items() if a != b and {a, b} <= set(classes)]
    if len(within) == len(classes) and between:
        results["omega_like"] = float(min(within) > max(0.0, *(threshold(value, len(classes)) for value in between)))
    return results


def occurring(polarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows of tokens that occurred."""
    import numpy as np

    return polarity[np.isfinite(polarity).all(1)]


def threshold(value: float, classes: int) -> float:
    """What Ω within classes must exceed: |Ω| between classes if there are two, Ω itself if there are more."""
    return abs(value) if classes == 2 else value


def mean_of(values: NDArray[np.float64]) -> float:
    """Mean over tokens that occurred; NaN without any."""
    kept = values[values == values]
    return float(kept.mean()) if len(kept) else float("nan")


MOMENTS = "moments"  # epochs at which the paths below were recorded; the first is 0, before the first step
MOST = 31  # moments that a row keeps
TERM = "term_"  # prefix of the names of a term's paths


def history_of(recording: Recording | None, names: Mapping[str, str]) -> History:
    """The paths that a row keeps; `names`: class -> name of the type in a row."""
    if recording is None:
        return {}
    paths: dict[str, Sequence[float | None]] = {MOMENTS: recording.moments}
    for name, scores in recording.by_type.items():
        for kind, path in (("polarity", scores.polarity), ("attention", scores.attention)):
            paths[f"{kind}.{names.get(name, name)}"] = [None if marks is None else marks[0] for marks in path]
    for product in recording.dot_products:
        paths["omega." + "-".join(names.get(name, name) for name in product.pair)] = product.mean
    paths |= by_output("vtw", recording.vtw) | by_output("norm_w", recording.norms_w)
    paths |= {"norm_v": recording.norm_v} if recording.norm_v else {}
    for term, by_type in recording.terms.items():
        paths |= {f"{TERM}{term}.{names.get(name, name)}": path for name, path in by_type.items()}
    kept = frames(len(recording.moments), MOST)
    return {name: [rounded(path[index]) for index in kept] for name, path in paths.items()}


def by_output(name: str, path: Sequence[Sequence[float | None]]) -> dict[str, list[float | None]]:
    """One path, or one per class."""
    outputs = len(path[0]) if path else 0
    if outputs == 1:
        return {name: [values[0] for values in path]}
    return {f"{name}.{k + 1}": [values[k] for values in path] for k in range(outputs)}


def rounded(value: float | None) -> float | None:
    return None if value is None else short(value, 4)


def separation_epoch(recording: Recording | None, classes: Sequence[str]) -> float | None:
    """The epoch from which mean Ω stays above 0 within classes and below 0 between classes; None if there is none."""
    if recording is None:
        return None
    paths = {product.pair: product.mean for product in recording.dot_products}
    sides = {pair: 1 if pair[0] == pair[1] else -1 for pair in paths if set(pair) <= set(classes)}
    right = [
        all((mean := paths[pair][moment]) is not None and side * mean > 0 for pair, side in sides.items())
        for moment in range(len(recording.moments))
    ]
    wrong = [moment for moment, is_right in enumerate(right) if not is_right]
    first = wrong[-1] + 1 if wrong else 0
    return float(recording.moments[first]) if sides and first < len(right) else None
