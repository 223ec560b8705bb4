"""McNemar's exact test of two classifiers on the same texts, without SciPy.

Only texts that exactly one of the two gets right count. If both were equally good, each of these would go either way with
probability 1/2; p is the two-sided binomial probability of a split at least as uneven.
"""

from __future__ import annotations

from regard.student import incomplete_beta


def mcnemar_p(won: int, lost: int) -> float:
    """`won`: texts that only the first gets right; `lost`: texts that only the second does. 1 if there are none."""
    fewer, total = min(won, lost), won + lost
    if 2 * fewer >= total - 1:  # an even split, or the one next to it: both tails together cover everything
        return 1.0
    # P(X ≤ k) of n fair coins is I_½(n − k, k + 1); the other tail is equal
    return min(1.0, 2 * incomplete_beta(total - fewer, fewer + 1, 0.5))
