"""Dot-products of embeddings, Ω_ik = e_iᵀe_k: their size by types of tokens, and where training drives them (supplement B).

    dΩ_ik/dτ = (A_ik + B_ik) + (A_ki + B_ki)        A_ik = (1/m) ρ(e_i) a_k        B_ik = (1/m) π(e_i)ᵀs_k

(43 and 44; as printed, 44 has one 1/λ too many.) It holds for any flat model, h being e or M e, but that with additive
attention v_iᵀh_k / λ stands in the place of a_k: e_k's score if it bent as e_i's does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.flat_rows import Doubles, Given, Numbers, Rows, Weights
from regard.analysis.gradient_flow import Pulls, pulls_at
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.facts.analysis import DotProducts
from regard.models.flat import CHUNK

SAMPLE = 20_000  # pairs that quartiles are taken of, where there are more
MARKS = {"min": 0.0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1.0}


class Drift(NamedTuple):
    """dΩ/dτ of pairs (i, k), in parts."""

    a: Doubles  # A_ik: e_i moves along what raises its attention
    b: Doubles  # B_ik: e_i moves along what raises its polarity
    a_back: Doubles  # A_ki, the same of e_k
    b_back: Doubles  # B_ki

    @property
    def total(self) -> Doubles:
        return np.asarray(self.a + self.b + self.a_back + self.b_back)


def group_means(vectors: NDArray[Any], groups: Sequence[Numbers]) -> Doubles:
    """(G, G) mean Ω of pairs of different tokens, of groups that share none."""
    return mean_products([vectors[group] for group in groups])


def mean_products(groups: Sequence[NDArray[Any]]) -> Doubles:
    """The same of the groups' own vectors, from sums alone; NaN where there is no pair."""
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

    The mean is over all pairs; quartiles and extremes are those of `sample` pairs where there are more. Types without a
    pair are left out.
    """
    names = list(groups)
    own = [np.unique(np.asarray(groups[name], dtype=np.int64)) for name in names]
    means, chance = group_means(vectors, own), np.random.default_rng(seed)
    found = []
    for i in range(len(own)):
        for k in range(i, len(own)):
            if np.isnan(means[i, k]):
                continue
            left, right = drawn(own[i], own[k], i == k, sample, chance)
            values = (vectors[left].astype(np.float64) * vectors[right]).sum(1)
            found.append(DotProducts((names[i], names[k]), float(means[i, k]), **quartiles(values)))
    return found


def quartiles(values: Doubles) -> dict[str, float]:
    """With both ends, by name."""
    return dict(zip(MARKS, np.quantile(values, list(MARKS.values())).tolist(), strict=True))


def drawn(
    left: NDArray[np.int64], right: NDArray[np.int64], same: bool, most: int, chance: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of different tokens: all of them, or `most` by chance where there are many more."""
    if len(left) * len(right) <= 2 * most:
        first, second = (side.ravel() for side in np.meshgrid(left, right, indexing="ij"))
        kept = first < second if same else first != second
        return first[kept], second[kept]
    first, second = chance.choice(left, 2 * most), chance.choice(right, 2 * most)
    kept = np.flatnonzero(first != second)[:most]  # more than half are, in groups of this size
    return first[kept], second[kept]


def drift(state: Given, scale: float, texts: UnitTexts, kind: str, i: Numbers, k: Numbers) -> Drift:
    """dΩ/dτ of the pairs (i[0], k[0]), (i[1], k[1]), …"""
    weights = Weights.of(state, scale)
    found = pulls_at(weights, texts, kind)
    left, right = np.asarray(i, dtype=np.int64), np.asarray(k, dtype=np.int64)
    if left.shape != right.shape or left.ndim != 1:
        raise InputError(f"i, k: {left.shape} and {right.shape} numbers; two lists of one length are accepted")
    parts = []
    for start in range(0, max(len(left), 1), CHUNK):
        one, other = (weights.look(side[start : start + CHUNK]) for side in (left, right))
        parts.append(np.stack([*by_pairs(weights, found, one, other), *by_pairs(weights, found, other, one)]))
    return Drift(*np.concatenate(parts, axis=1))


def by_pairs(weights: Weights, found: Pulls, one: Rows, other: Rows) -> tuple[Doubles, Doubles]:
    """A and B of row with row: (R,) each."""
    pulled, said = found.pi[one.numbers], other.states @ weights.head.T
    along = (one.slopes * other.states).sum(1) / weights.scale
    return found.rho[one.numbers] * along / found.texts, (pulled * said).sum(1) / found.texts


def by_all(weights: Weights, found: Pulls, one: Rows, other: Rows) -> tuple[Doubles, Doubles]:
    """A and B of every row with every other: (R, S) each."""
    pulled, said = found.pi[one.numbers], other.states @ weights.head.T
    along = one.slopes @ other.states.T / weights.scale
    return found.rho[one.numbers, None] * along / found.texts, pulled @ said.T / found.texts


def inequalities(
    state: Given, scale: float, texts: UnitTexts, kind: str, positive: Numbers, negative: Numbers
) -> dict[str, float]:
    """For each of (48)–(55) the share of the cases in which it holds: a token e_* with a pair e_+, e_−.

    The paper's pairs are mirror images: positive[r] and negative[r] are one. Of (48)–(54) e_* is positive, of (55)
    negative; a token is not compared with itself. Of the chains (54) and (55) the ends are compared, dΩ of like tokens
    against −dΩ of unlike ones: the equality between them is one of perfectly symmetric texts.
    """
    if kind != "binary":
        raise InputError(f"kind = {kind!r}: the inequalities are of two classes; 'binary' is accepted")
    if len(positive) != len(negative):
        raise InputError(
            f"positive, negative: {len(positive)} and {len(negative)} tokens; pairs, and so as many of each, are accepted"
        )
    weights = Weights.of(state, scale)
    found = pulls_at(weights, texts, kind)
    plus, minus = (weights.look(np.asarray(side, dtype=np.int64)) for side in (positive, negative))
    others = ~np.eye(len(positive), dtype=bool)
    shares = dict(of_positive(weights, found, plus, minus, others))
    shares["55"] = share(omega(weights, found, minus, minus) > -omega(weights, found, minus, plus), others)
    return shares


def of_positive(
    weights: Weights, found: Pulls, plus: Rows, minus: Rows, others: NDArray[np.bool_]
) -> Iterator[tuple[str, float]]:
    a, b = by_all(weights, found, plus, plus)  # A_*+, B_*+
    yield "48", share((a + b > b) & (b > 0), others)
    yield "49", share((a + b > b).T & (b > 0).T, others)
    like = a + b + a.T + b.T  # dΩ_*+
    yield "50", share((like > b + b.T) & (b + b.T > 0), others)
    a, b = by_all(weights, found, plus, minus)  # A_*−, B_*−
    a_back, b_back = (side.T for side in by_all(weights, found, minus, plus))  # A_−*, B_−*
    yield "51", share((a + b < 0) & (a + b > b))
    yield "52", share((a_back + b_back < 0) & (a_back + b_back > b_back))
    unlike = a + b + a_back + b_back  # dΩ_*−
    yield "53", share((unlike < 0) & (unlike > b + b_back))
    yield "54", share(like > -unlike, others)


def omega(weights: Weights, found: Pulls, one: Rows, other: Rows) -> Doubles:
    """dΩ/dτ of every row with every other."""
    a, b = by_all(weights, found, one, other)
    a_back, b_back = by_all(weights, found, other, one)
    return np.asarray(a + b + a_back.T + b_back.T)


def share(holds: NDArray[np.bool_], among: NDArray[np.bool_] | None = None) -> float:
    asked = holds if among is None else holds[among]
    return float(asked.mean()) if asked.size else float("nan")
