"""Interpret the numbers of an analysis in one sentence each, without overstating them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard.analysis.separation import FEWEST, Separation
from regard.facts.analysis import Flow

CLEAR = 0.7  # area from which groups count as clearly separated


def of_separation(found: Separation, by_type: Mapping[str, Separation], tied: int, neutral: int) -> str:
    """`tied` words of a class were compared with `neutral` ones."""
    if found.low is None or found.high is None:
        return f"Too few words to decide whether attention scores can be read as importance: {too_few(tied, neutral)}."
    below = [name for name, one in by_type.items() if one.high is not None and one.high < 0.5]
    if found.low > 0.5 and not below:
        strength = "clearly" if found.low >= CLEAR else "but not by much"
        return (
            f"Attention scores rank words of a class above neutral words, {strength}: they can be read as importance."
        )
    if found.low > 0.5:
        return (
            f"Attention scores rank words of a class above neutral words on the whole, but those of {listed(below)} below "
            "them: read attention together with polarity."
        )
    if found.high < 0.5:
        return (
            "Attention scores rank words of a class below neutral words: they cannot be read as importance here. A "
            "smaller λ, or a penalty on VᵀW (--vtw), makes them readable in most cases."
        )
    return (
        "Attention scores do not separate words of a class from neutral words: they cannot be read as importance here."
    )


def too_few(tied: int, neutral: int) -> str:
    """Why their separation has no interval."""
    counts = {"of a class": tied, "neutral": neutral}
    few = " and ".join(f"{count} {kind}" for kind, count in counts.items() if count < FEWEST)
    return f"only {few}, at least {FEWEST} of each are needed"


def of_vtw(products: Sequence[float], classes: Sequence[str], terms: Flow | None) -> str:
    """VᵀW·λ scales term D, which pulls the classes apart; it is compared with the other terms of the flow of attention."""
    pulls = terms.attention if terms else {}
    if not pulls:
        return "The larger its absolute value, the further it pulls the classes' attention scores apart."
    apart, up = (
        sum(
            abs(sum(means[name] or 0.0 for term, means in pulls.items() if (term[0] == "D") == of_d))
            for name in classes
        )
        for of_d in (True, False)
    )
    if up == 0:
        return "No term moves attention scores any more."
    ratio = apart / up
    times = f"{ratio:.2g}" if ratio >= 1e-3 else "under 0.001"
    start = f"At the end of training, term D, which it scales, is {times} times as large as the other terms together"
    if apart < up:
        return f"{start}: it is not the main influence on attention."
    if len(products) == 1:
        favoured = classes[1] if products[0] > 0 else classes[0]
        effect = f"it raises the attention of {favoured!r} words and lowers that of the others"
    else:
        effect = "it pulls the classes' attention scores apart"
    return f"{start}: {effect}. A smaller λ or a penalty (--vtw) weakens it."


def listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
