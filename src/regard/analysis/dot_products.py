"""Dot products of embeddings, Ω_ik = e_iᵀe_k: their size by types of tokens, and how training changes them (supplement B).

    dΩ_ik/dτ = (A_ik + B_ik) + (A_ki + B_ki)        A_ik = (1/m) ρ(e_i) a_k        B_ik = (1/m) π(e_i)ᵀs_k

(43 and 44; as printed, 44 has one 1/λ too many.) This holds for any flat model, with h = e or h = M e, except that with
additive attention v_iᵀh_k / λ replaces a_k: the score of e_k with the slope of e_i's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.flat_rows import AnyState, Doubles, Numbers, Rows, Weights
from regard.analysis.gradient_flow import Pulls, pulls_at
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.facts.analysis import DotProducts
from regard.models.flat import CHUNK

SAMPLE = 20_000  # most pairs from which quartiles are computed
MARKS = {"min": 0.0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1.0}


class Drift(NamedTuple):
    """dΩ/dτ of pairs (i, k), by term."""

    a: Doubles  # A_ik: e_i moves along what raises its attention
    b: Doubles  # B_ik: e_i moves along what raises its polarity
    a_back: Doubles  # A_ki, the same of e_k
    b_back: Doubles  # B_ki

    @property
    def total(self) -> Doubles:
        return np.asarray(self.a + self.b + self.a_back + self.b_back)


def group_means(vectors: NDArray[Any], groups: Sequence[Numbers]) -> Doubles:
    """(G, G) mean Ω of pairs of different tokens, for disjoint groups."""
    return mean_products([vectors[group] for group in groups])


def mean_products(groups: Sequence[NDArray[Any]]) -> Doubles:
    """The same from the groups' vectors, computed from sums; NaN if there is no pair."""
    if not len(groups):
        return np.empty((0, 0))
    wide = [group.astype(np.float64) for group in groups]
    sums = np.array([np.ones(len(group)) @ group for group in wide])  # (G, E)
    counts = np.array([len(group) for group in wide], dtype=np.float64)
    squares = np.array([np.vdot(group, group) for group in wide])
    pairs = np.outer(counts, counts) - np.diag(counts)
    means: Doubles = np.full_like(pairs, np.nan)
    np.divide(sums @ sums.T - np.diag(squares), pairs, where=pairs > 0, out=means)
    return means


def pair_quartiles(
    vectors: NDArray[Any], groups: Mapping[str, Numbers], sample: int = SAMPLE, seed: int = 0
) -> list[DotProducts]:
    """Ω of pairs of different tokens for every two types, including a type with itself.

    The mean is over all pairs; quartiles and extremes are those of `sample` random pairs if there are more. Types without
    a pair are left out.
    """
    names = list(groups)
    members = [np.unique(np.asarray(groups[name], dtype=np.int64)) for name in names]
    means, rng = group_means(vectors, members), np.random.default_rng(seed)
    products = []
    for i in range(len(members)):
        for k in range(i, len(members)):
            if np.isnan(means[i, k]):
                continue
            left, right = sample_pairs(members[i], members[k], i == k, sample, rng)
            values = (vectors[left].astype(np.float64) * vectors[right]).sum(1)
            products.append(DotProducts((names[i], names[k]), float(means[i, k]), **quartiles(values)))
    return products


def quartiles(values: Doubles) -> dict[str, float]:
    """Minimum, quartiles and maximum by name."""
    return dict(zip(MARKS, np.quantile(values, list(MARKS.values())).tolist(), strict=True))


def sample_pairs(
    left: NDArray[np.int64], right: NDArray[np.int64], same: bool, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of different tokens: all of them, or `most` random ones if there are many more."""
    if len(left) * len(right) <= 2 * most:
        first, second = (side.ravel() for side in np.meshgrid(left, right, indexing="ij"))
        kept = first < second if same else first != second
        return first[kept], second[kept]
    first, second = rng.choice(left, 2 * most), rng.choice(right, 2 * most)
    kept = np.flatnonzero(first != second)[:most]  # in groups of this size, more than half are different
    return first[kept], second[kept]


def drift(state: AnyState, scale: float, texts: UnitTexts, kind: str, i: Numbers, k: Numbers) -> Drift:
    """dΩ/dτ of the pairs (i[0], k[0]), (i[1], k[1]), …"""
    weights = Weights.of(state, scale)
    pulls = pulls_at(weights, texts, kind)
    left, right = np.asarray(i, dtype=np.int64), np.asarray(k, dtype=np.int64)
    if left.shape != right.shape or left.ndim != 1:
        raise InputError(f"i, k: expected two lists of equal length, got the shapes {left.shape} and {right.shape}")
    parts = []
    for start in range(0, max(len(left), 1), CHUNK):
        one, other = (weights.look(side[start : start + CHUNK]) for side in (left, right))
        parts.append(np.stack([*by_pairs(weights, pulls, one, other), *by_pairs(weights, pulls, other, one)]))
    return Drift(*np.concatenate(parts, axis=1))


def by_pairs(weights: Weights, pulls: Pulls, one: Rows, other: Rows) -> tuple[Doubles, Doubles]:
    """A and B of corresponding rows: (R,) each."""
    pi, polarity = pulls.pi[one.numbers], other.states @ weights.head.T
    along = (one.slopes * other.states).sum(1) / weights.scale
    return pulls.rho[one.numbers] * along / pulls.texts, (pi * polarity).sum(1) / pulls.texts


def by_all(weights: Weights, pulls: Pulls, one: Rows, other: Rows) -> tuple[Doubles, Doubles]:
    """A and B of every row with every other: (R, S) each."""
    pi, polarity = pulls.pi[one.numbers], other.states @ weights.head.T
    along = one.slopes @ other.states.T / weights.scale
    return pulls.rho[one.numbers, None] * along / pulls.texts, pi @ polarity.T / pulls.texts


def inequalities(
    state: AnyState, scale: float, texts: UnitTexts, kind: str, positive: Numbers, negative: Numbers
) -> dict[str, float]:
    """For each of (48)–(55) the share of the cases in which it holds: a token e_* with a pair e_+, e_−.

    The paper's pairs are mirror images: positive[r] and negative[r] are a pair. In (48)–(54) e_* is positive, in (55)
    negative; a token is not compared with itself. Of the chains (54) and (55) the ends are compared, dΩ of tokens of one class
    against −dΩ of tokens of two: the equality between them holds for perfectly symmetric texts.
    """
    if kind != "binary":
        raise InputError(f"kind: expected 'binary', because the inequalities are for two classes, got {kind!r}")
    if len(positive) != len(negative):
        raise InputError(f"positive, negative: expected pairs of tokens, got {len(positive)} and {len(negative)}")
    weights = Weights.of(state, scale)
    pulls = pulls_at(weights, texts, kind)
    plus, minus = (weights.look(np.asarray(side, dtype=np.int64)) for side in (positive, negative))
    others = ~np.eye(len(positive), dtype=bool)
    shares = dict(of_positive(weights, pulls, plus, minus, others))
    shares["55"] = share(omega(weights, pulls, minus, minus) > -omega(weights, pulls, minus, plus), others)
    return shares


def of_positive(
    weights: Weights, pulls: Pulls, plus: Rows, minus: Rows, others: NDArray[np.bool_]
) -> Iterator[tuple[str, float]]:
    a, b = by_all(weights, pulls, plus, plus)  # A_*+, B_*+
    yield "48", share((a + b > b) & (b > 0), others)
    yield "49", share((a + b > b).T & (b > 0).T, others)
    like = a + b + a.T + b.T  # dΩ_*+
    yield "50", share((like > b + b.T) & (b + b.T > 0), others)
    a, b = by_all(weights, pulls, plus, minus)  # A_*−, B_*−
    a_back, b_back = (side.T for side in by_all(weights, pulls, minus, plus))  # A_−*, B_−*
    yield "51", share((a + b < 0) & (a + b > b))
    yield "52", share((a_back + b_back < 0) & (a_back + b_back > b_back))
    unlike = a + b + a_back + b_back  # dΩ_*−
    yield "53", share((unlike < 0) & (unlike > b + b_back))
    yield "54", share(like > -unlike, others)


def omega(weights: Weights, pulls: Pulls, one: Rows, other: Rows) -> Doubles:
    """dΩ/dτ of every row with every other."""
    a, b = by_all(weights, pulls, one, other)
    a_back, b_back = by_all(weights, pulls, other, one)
    return np.asarray(a + b + a_back.T + b_back.T)


def share(holds: NDArray[np.bool_], among: NDArray[np.bool_] | None = None) -> float:
    cases = holds if among is None else holds[among]
    return float(cases.mean()) if cases.size else float("nan")
