"""Dot products by type are those of all pairs, and drift as autograd computes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flowing import FORMS, OUTPUTS, UNITS, WORDS, Case, assert_same, downhill, make_case, make_classifier
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.analysis.dot_products import drift, group_means, inequalities, pair_quartiles
from regard.errors import InputError
from regard.models.flat import EMBEDDING, HEAD, QUERY

EXAMPLE = [[2, 3, 2, 2, 5], [3], [4, 1, 4, 7], [], [6, 2, 3]]
GROUPS = st.lists(st.integers(0, 4), min_size=12, max_size=12)  # which of four groups each token is in, or none
VECTORS = np.random.default_rng(0).normal(size=(12, 5))


@given(GROUPS)
def test_means_are_those_of_all_pairs_of_different_tokens(placed: list[int]) -> None:
    groups = [[token for token, token_group in enumerate(placed) if token_group == group] for group in range(4)]
    means = group_means(VECTORS, [np.array(group, dtype=np.int64) for group in groups])
    assert means.shape == (len(groups), len(groups))
    for (i, left), (k, right) in product(enumerate(groups), repeat=2):
        pairs = [VECTORS[a] @ VECTORS[b] for a, b in product(left, right) if a != b]
        assert means[i, k] == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)


def test_quartiles_of_few_pairs_are_exact() -> None:
    groups = {"up": np.array([1, 2, 3]), "down": np.array([4, 5]), "alone": np.array([6])}
    quartiles = pair_quartiles(VECTORS, groups)
    assert [row.pair for row in quartiles] == [
        ("up", "up"),
        ("up", "down"),
        ("up", "alone"),
        ("down", "down"),
        ("down", "alone"),
    ]
    values = np.array([VECTORS[a] @ VECTORS[b] for a, b in ((1, 2), (1, 3), (2, 3))])
    marks = np.quantile(values, (0, 0.25, 0.5, 0.75, 1))
    assert [getattr(quartiles[0], name) for name in ("min", "q1", "median", "q3", "max")] == pytest.approx(
        marks.tolist()
    )
    assert quartiles[0].mean == pytest.approx(values.mean())


def test_quartiles_of_many_pairs_are_a_samples_that_follows_the_seed() -> None:
    vectors = np.random.default_rng(1).normal(size=(600, 3)).astype(np.float32)
    groups = {"one": np.arange(300), "other": np.arange(300, 600)}
    first, again, another = (pair_quartiles(vectors, groups, 5000, seed) for seed in (0, 0, 1))
    assert first == again != another
    exact = vectors[:300].astype(np.float64) @ vectors[300:].T
    row = next(row for row in first if row.pair == ("one", "other"))
    assert row.mean == pytest.approx(exact.mean(), rel=1e-6)
    for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75)):
        below = (exact < getattr(row, name)).mean()
        assert abs(below - share) < 0.05, "seven deviations of a share in 5,000"


def autograds_drift(case: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """−(∂ℓ/∂e_i)ᵀe_k for all i and k, and dΩ/dτ."""
    moved = downhill(case, make_classifier(case))[EMBEDDING].numpy() @ case.state[EMBEDDING].T
    return moved, moved + moved.T


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(WORDS, st.integers(0, 1000), st.sampled_from([0.5, 1.0, 10.0]))
def test_drift_is_autograds(form: str, kind: str, words: list[list[int]], seed: int, scale: float) -> None:
    case = make_case(form, kind, words, seed, scale)
    i, k = (side.ravel() for side in np.meshgrid(np.arange(UNITS), np.arange(UNITS), indexing="ij"))
    parts, (moved, total) = drift(*case.given, i, k), autograds_drift(case)
    assert_same(parts.a + parts.b, moved.ravel())
    assert_same(parts.a_back + parts.b_back, moved.T.ravel())
    assert_same(parts.total, total.ravel())


def mirrored(negative_attention: float) -> Case:
    """Two positive tokens (1, 1), two negative ones (−1, ±1), a neutral one; W = (1, 0), V = (0, 1)."""
    case = make_case("DP", "binary", [[1, 5], [2, 5], [3, 5], [4, 5]], scale=10.0, head_bias=False)
    embedding = np.zeros((UNITS, 2))
    embedding[[1, 2]], embedding[[3, 4]] = (1, 1), (-1, negative_attention)
    state = {EMBEDDING: embedding, HEAD: np.array([[1.0, 0.0]]), QUERY: np.array([0.0, 1.0])}
    return case._replace(state=state, texts=case.texts._replace(labels=np.array([1.0, 1.0, 0.0, 0.0])))


def test_inequalities_hold_under_their_assumptions() -> None:
    shares = inequalities(*mirrored(1.0).given, np.array([1, 2]), np.array([3, 4]))
    assert shares == {str(number): 1.0 for number in range(48, 56)}


@pytest.mark.parametrize("form", FORMS)
def test_inequalities_are_counted_case_by_case(form: str) -> None:
    case = make_case(form, "binary", EXAMPLE, seed=4)
    positive, negative = [1, 2, 3], [4, 5, 6]
    cases: dict[str, list[bool]] = {str(number): [] for number in range(48, 56)}

    def parts(i: int, k: int) -> tuple[float, float, float, float]:
        a, b, a_back, b_back = (float(side[0]) for side in drift(*case.given, np.array([i]), np.array([k])))
        return a, b, a_back, b_back

    for star, (plus, minus) in product(positive, zip(positive, negative, strict=True)):
        a, b, a_back, b_back = parts(star, plus)
        c, d, c_back, d_back = parts(star, minus)
        cases["51"].append(0 > c + d > d)
        cases["52"].append(0 > c_back + d_back > d_back)
        cases["53"].append(0 > c + d + c_back + d_back > d + d_back)
        if star != plus:
            cases["48"].append(a + b > b > 0)
            cases["49"].append(a_back + b_back > b_back > 0)
            cases["50"].append(a + b + a_back + b_back > b + b_back > 0)
            cases["54"].append(a + b + a_back + b_back > -(c + d + c_back + d_back))
    for star, (plus, minus) in product(negative, zip(positive, negative, strict=True)):
        if star != minus:
            cases["55"].append(sum(parts(star, minus)) > -sum(parts(star, plus)))
    shares = inequalities(*case.given, np.array(positive), np.array(negative))
    assert shares == {name: pytest.approx(np.mean(values)) for name, values in cases.items()}


def test_inequalities_of_a_single_pair() -> None:
    shares = inequalities(*mirrored(1.0).given, np.array([1]), np.array([3]))
    assert [name for name, value in shares.items() if np.isnan(value)] == ["48", "49", "50", "54", "55"]


def test_invalid_pairs_are_rejected() -> None:
    case = make_case("DP", "binary", EXAMPLE)
    with pytest.raises(InputError, match="expected pairs of tokens, got 2 and 1"):
        inequalities(*case.given, np.array([1, 2]), np.array([3]))
    with pytest.raises(InputError, match=r"kind: expected 'binary', .* got 'regression'"):
        inequalities(*make_case("DP", "regression", EXAMPLE).given, np.array([1]), np.array([3]))
    with pytest.raises(InputError, match="expected two lists of equal length"):
        drift(*case.given, np.array([1, 2]), np.array([3]))
