"""Distances between distributions: total variation and Jensen–Shannon, over the last axis.

    TVD(p, q) = ½ Σ |p_i − q_i|        JSD(p, q) = ½ KL(p‖m) + ½ KL(q‖m),  m = (p + q) / 2

in nats, so that JSD is at most log 2. Jain & Wallace and Wiegreffe & Pinter use the second for attention weights and the
first for predictions. Zero padding changes neither.
"""

from __future__ import annotations

import numpy as np

from regard.faithfulness.scored import Doubles


def total_variation(p: Doubles, q: Doubles) -> Doubles:
    return np.asarray(np.abs(p - q).sum(-1) / 2)


def jensen_shannon(p: Doubles, q: Doubles) -> Doubles:
    middle = (p + q) / 2
    both = (kl_terms(p, middle) + kl_terms(q, middle)).sum(-1) / 2
    return np.asarray(np.maximum(both, 0.0))  # rounding may leave a value slightly below 0


def kl_terms(p: Doubles, middle: Doubles) -> Doubles:
    """p log(p / m), 0 where p = 0."""
    ratio = np.divide(p, middle, out=np.ones_like(p), where=(p > 0) & (middle > 0))
    return np.asarray(p * np.log(ratio))
