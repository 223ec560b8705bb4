"""Equations as the papers print them, sum by sum over the words of the texts, compared with autograd (docs/errata.md)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from flowing import UNITS, Case, assert_same, autograds, downhill, make_case, make_classifier
from numpy.typing import NDArray

from regard.analysis.dot_products import drift, inequalities
from regard.analysis.gradient_flow import flow, pulls
from regard.analysis.token_types import types_of
from regard.corpora.lookup import resolve
from regard.data.readers import read
from regard.data.vocabulary import SPECIALS
from regard.errors import InputError
from regard.models.flat import AFFINE, EMBEDDING, HEAD, PROJECT, PROJECT_BIAS, QUERY
from regard.poolings.norm_unit import NormUnit

Doubles = NDArray[np.float64]
WORDS = [[2, 3, 2, 2, 5], [3, 6], [4, 1, 4, 7], [6, 2, 3]]
M = len(WORDS)
SCALE = 3.0


class Model(NamedTuple):
    """The papers' letters for a case's weights. W is (d, K); for two classes K is 1."""

    e: Doubles  # (U, E)
    h: Doubles  # (U, D)
    w: Doubles  # (D, K)
    v: Doubles  # V
    s: Doubles  # (U, K)
    a: Doubles  # (U,)
    x: Doubles | None  # (U, Q) M^a e
    m: Doubles | None  # M, or M^a


class Position(NamedTuple):
    """One position (t, j) of a text."""

    text: int
    unit: int
    alpha: float
    pull: Doubles  # (K,) yβ, or −p̂
    s: Doubles  # (K,) s^(t)
    h: Doubles  # (D,) h^(t)


def make(form: str, kind: str = "binary") -> tuple[Case, Model, list[Position]]:
    """Without the biases that the papers leave out."""
    case = make_case(form, kind, WORDS, seed=1, scale=SCALE, head_bias=False)
    if PROJECT_BIAS in case.state:
        case.state[PROJECT_BIAS][:] = 0
    state = case.state
    e, v = state[EMBEDDING], state[QUERY]
    h = e @ state[AFFINE].T if AFFINE in state else e
    x = h @ state[PROJECT].T if PROJECT in state else None
    a = (h if x is None else np.tanh(x)) @ v / SCALE
    model = Model(e, h, state[HEAD].T, v, h @ state[HEAD].T, a, x, state.get(AFFINE, state.get(PROJECT)))
    return case, model, list(all_positions(case, model))


def all_positions(case: Case, model: Model) -> Iterator[Position]:
    for text, units in enumerate(case.words):
        alpha = np.exp(model.a[units])
        alpha /= alpha.sum()
        h = alpha @ model.h[units]
        s, label = h @ model.w, int(case.texts.labels[text])
        if case.kind == "binary":
            y = 2 * label - 1
            pull = y / (1 + np.exp(y * s))
        else:
            pull = np.eye(len(s))[label] - np.exp(s) / np.exp(s).sum()
        for unit, weight in zip(units, alpha, strict=True):
            yield Position(text, unit, float(weight), pull, s, h)


def texts_of(positions: list[Position]) -> list[Position]:
    """One position of each text: values of the whole text are the same at all of them."""
    return list({position.text: position for position in positions}.values())


def assert_differs(actual: Doubles, expected: Doubles) -> None:
    assert np.abs(actual - expected).max() > 1e-2 * np.abs(expected).max()


def test_82_lacks_the_weights_of_two_sums() -> None:
    case, model, positions = make("DP", "multiclass")
    expected, _ = autograds(case)

    def equation_82(with_alpha: bool) -> Doubles:
        moved = np.zeros_like(model.s)
        for position in positions:
            e, p = position.unit, -position.pull
            alpha = position.alpha if with_alpha else 1.0
            moved[e] -= alpha * (model.w.T @ model.v) * ((model.s[e] - position.s) @ p) / (M * SCALE)
            moved[e] -= alpha * model.w.T @ model.w @ p / M
        for text in texts_of(positions):
            moved += np.outer(model.e @ text.h, text.pull) / M
        return moved

    assert_differs(equation_82(with_alpha=False), expected)
    assert_same(equation_82(with_alpha=True), expected)
    assert_same(flow(*case.given).polarity_total, expected)


def test_83_has_another_sign_and_scale_in_its_first_term() -> None:
    case, model, positions = make("DP", "multiclass")
    _, expected = autograds(case)

    def equation_83(factor: float) -> Doubles:
        moved = np.zeros_like(model.a)
        for position in positions:
            e, p, alpha = position.unit, -position.pull, position.alpha
            moved += factor * alpha * (model.e @ model.e[e]) * ((model.s[e] - position.s) @ p)
            moved[e] -= alpha * (p @ (model.s[e] - position.s)) * (model.v @ model.v) / SCALE / (M * SCALE)
            moved[e] -= alpha * (p @ model.w.T @ model.v) / (M * SCALE)
        return moved

    assert_differs(equation_83(1 / (M * SCALE)), expected)
    assert_differs(equation_83(-1 / (M * SCALE)), expected)
    assert_same(equation_83(-1 / (M * SCALE**2)), expected)
    assert_same(flow(*case.given).attention_total, expected)


def all_pairs() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    i, k = np.meshgrid(np.arange(UNITS), np.arange(UNITS), indexing="ij")
    return i.ravel(), k.ravel()


def test_44_divides_by_the_scale_twice() -> None:
    case, model, positions = make("DP")
    expected = downhill(case, make_classifier(case))[EMBEDDING].numpy() @ model.e.T

    def equation_44(scale: float) -> Doubles:
        moved = np.zeros((UNITS, UNITS))
        for position in positions:
            i, factor = position.unit, position.pull[0] * position.alpha / M
            moved[i] += factor * (model.s[i, 0] - position.s[0]) * model.a / scale
            moved[i] += factor * model.s[:, 0]
        return moved

    assert_differs(equation_44(SCALE), expected)
    assert_same(equation_44(1.0), expected)
    parts = drift(*case.given, *all_pairs())
    assert_same((parts.a + parts.b).reshape(UNITS, UNITS), expected)


def test_45_and_46_lack_the_number_of_texts() -> None:
    """They leave out A, which is proportional to 1/λ: for large λ the rest is exact."""
    case = make_case("DP", "binary", WORDS, seed=1, scale=1e9, head_bias=False)
    moved = downhill(case, make_classifier(case))[EMBEDDING].numpy() @ case.state[EMBEDDING].T
    s = case.state[EMBEDDING] @ case.state[HEAD][0]
    printed = pulls(*case.given).pi * s  # (45): π(e_i) s_k
    assert_differs(printed, moved)
    assert_same(printed / M, moved, 1e-6)
    assert_differs(printed + printed.T, moved + moved.T)  # (46)
    assert_same((printed + printed.T) / M, moved + moved.T, 1e-6)
    assert_same(drift(*case.given, *all_pairs()).total.reshape(UNITS, UNITS), moved + moved.T)


def test_the_text_before_54_says_that_attention_scores_of_a_pair_have_opposite_signs() -> None:
    """Mirrored tokens (1, 1) and (−1, 1) with W = (1, 0), V = (0, 1): were their attention opposed too, (51) would fail,
    and the equality in (54), for α and so π would not be mirrored."""
    shares, mirrored = {}, {}
    for attention in (1.0, -1.0):
        case = make_case("DP", "binary", [[1, 5], [2, 5], [3, 5], [4, 5]], scale=10.0, head_bias=False)
        embedding = np.zeros((UNITS, 2))
        embedding[[1, 2]], embedding[[3, 4]] = (1, 1), (-1, attention)
        state = {EMBEDDING: embedding, HEAD: np.array([[1.0, 0.0]]), QUERY: np.array([0.0, 1.0])}
        case = case._replace(state=state, texts=case.texts._replace(labels=np.array([1.0, 1.0, 0.0, 0.0])))
        shares[attention] = inequalities(*case.given, np.array([1, 2]), np.array([3, 4]))
        like, unlike = (drift(*case.given, np.array([1]), np.array([other])) for other in (2, 3))
        mirrored[attention] = np.allclose(like.b + like.b_back, -unlike.b - unlike.b_back, rtol=1e-12)
    assert set(shares[1.0].values()) == {1.0}
    assert shares[-1.0]["51"] == 0.0
    assert mirrored == {1.0: True, -1.0: False}


@pytest.mark.data
def test_the_intervals_of_section_5_are_closed() -> None:
    """With γ = ±1 the supplement's counts are reproduced, otherwise not."""
    try:
        examples = read(resolve("sst2_uaftc")).examples
    except InputError as missing:
        pytest.skip(f"REGARD_DATA = {os.environ.get('REGARD_DATA')!r}: {missing}")
    seen = {"0": Counter[str](), "1": Counter[str]()}
    for example in examples:
        seen[str(example.label)].update(example.text.split())
    words = sorted(set(seen["0"]) | set(seen["1"]))
    counts = np.zeros((SPECIALS + len(words), 2), dtype=np.int64)
    counts[SPECIALS:] = [[seen["0"][word], seen["1"][word]] for word in words]
    types = types_of(counts, ("negative", "positive"))
    closed = [len(types.of(name)) for name in ("positive", "negative", "neutral")]
    open_ = [int((np.abs(types.gamma[types.of(name)]) < 1).sum()) for name in ("positive", "negative", "neutral")]
    assert closed == [412, 265, 1384]
    assert open_[0] < 412
    assert open_[1] < 265


def test_gulcehres_norms_are_learned() -> None:
    """The unit as that paper defines it: every p has a separate gradient."""
    torch.manual_seed(0)
    unit = NormUnit(4)
    unit(torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)).vector.square().sum().backward()
    assert unit.rho.grad is not None
    assert (unit.rho.grad != 0).all()


def test_equations_13_14_and_23_are_right_as_printed() -> None:
    """And with them 37, 41 and 42 of the supplement."""
    case, model, positions = make("DP")
    e, w, v = np.zeros_like(model.e), np.zeros(model.w.shape[0]), np.zeros_like(model.v)
    for position in positions:
        i, factor = position.unit, position.pull[0] * position.alpha / M
        e[i] += factor * (np.outer(model.v, model.e[i] - position.h) / SCALE + np.eye(len(model.v))) @ model.w[:, 0]
        v += factor * model.e[i] * (model.s[i, 0] - position.s[0]) / SCALE
    for text in texts_of(positions):
        w += text.pull[0] * text.h / M
    expected = downhill(case, make_classifier(case))
    assert_same(e, expected[EMBEDDING].numpy())
    assert_same(w, expected[HEAD].numpy()[0])
    assert_same(v, expected[QUERY].numpy())


def test_equations_19_and_27_are_right_as_printed() -> None:
    case, model, positions = make("DP")
    polarity, attention = np.zeros(UNITS), np.zeros(UNITS)
    w, v, pi, rho = model.w[:, 0], model.v, np.zeros(UNITS), np.zeros(UNITS)
    for position in positions:
        j, factor = position.unit, position.pull[0] * position.alpha
        pi[j] += factor  # (16)
        rho[j] += factor * (model.s[j, 0] - position.s[0])  # (20)
        polarity += factor * (model.e @ model.e[j]) / M
        attention += factor * (model.e @ model.e[j]) * (model.s[j, 0] - position.s[0]) / (M * SCALE**2)
    polarity += (v @ w / SCALE) * rho / M + (w @ w) * pi / M
    attention += (v @ w * SCALE) * pi / (M * SCALE**2) + (v @ v) * rho / (M * SCALE**2)
    expected = autograds(case)
    assert_same(polarity, expected[0][:, 0])
    assert_same(attention, expected[1])


def test_equations_59_to_61_are_right_as_printed() -> None:
    case, model, positions = make("DP-A")
    assert model.m is not None
    w, e, v, m = model.w[:, 0], np.zeros_like(model.e), np.zeros_like(model.v), np.zeros_like(model.m)
    for position in positions:
        j, factor = position.unit, position.pull[0] * position.alpha / M
        lead = model.s[j, 0] - position.s[0]
        e[j] += factor * (lead * model.m.T @ model.v / SCALE + model.m.T @ w)
        v += factor * lead * model.h[j] / SCALE
        m += factor * (lead * np.outer(model.v, model.e[j]) / SCALE + np.outer(w, model.e[j]))
    expected = downhill(case, make_classifier(case))
    assert_same(e, expected[EMBEDDING].numpy())
    assert_same(v, expected[QUERY].numpy())
    assert_same(m, expected[AFFINE].numpy())


def test_equations_63_and_64_are_right_as_printed() -> None:
    case, model, positions = make("DP-A")
    assert model.m is not None
    w, v = model.w[:, 0], model.v
    own_w, own_v = model.m.T @ w, model.m.T @ v  # W', V'
    polarity, attention = np.zeros(UNITS), np.zeros(UNITS)
    for position in positions:
        j, factor = position.unit, position.pull[0] * position.alpha / M
        lead, alike = model.s[j, 0] - position.s[0], model.e @ model.e[j]
        polarity[j] += factor * (own_w @ own_w + lead * (own_w @ own_v) / SCALE)
        polarity += factor * alike * (w @ w + lead * (v @ w) / SCALE)
        attention[j] += factor * ((own_v @ own_v) / SCALE**2 * lead + own_w @ own_v / SCALE)
        attention += factor * alike * (w @ v / SCALE + lead * (v @ v) / SCALE**2)
        attention += factor * lead * (model.h @ model.h[j]) / SCALE**2
    for text in texts_of(positions):
        polarity += text.pull[0] * (model.h @ text.h) / M
    expected = autograds(case)
    assert_same(polarity, expected[0][:, 0])
    assert_same(attention, expected[1])


def test_equations_66_to_68_are_right_as_printed() -> None:
    case, model, positions = make("AD")
    assert model.m is not None
    assert model.x is not None
    w, keys = model.w[:, 0], np.tanh(model.x)
    e, v, m = np.zeros_like(model.e), np.zeros_like(model.v), np.zeros_like(model.m)

    def bent(unit: int) -> Doubles:
        return np.diag(1 - keys[unit] ** 2)  # D_i

    for text in texts_of(positions):
        in_text = [position for position in positions if position.text == text.text]
        key = sum(position.alpha * keys[position.unit] for position in in_text)
        mean = sum(
            position.alpha * np.outer(model.e[position.unit], model.v @ bent(position.unit)) for position in in_text
        )
        for position in in_text:
            i, factor = position.unit, position.pull[0] * position.alpha / M
            slope = model.m.T @ bent(i) @ model.v
            e[i] += factor * (np.outer(slope, model.e[i] - position.h) / SCALE + np.eye(len(w))) @ w
            v += factor * model.s[i, 0] * (keys[i] - key) / SCALE
            m += factor * model.s[i, 0] * (np.outer(model.e[i], model.v @ bent(i)) - mean).T / SCALE
    expected = downhill(case, make_classifier(case))
    assert_same(e, expected[EMBEDDING].numpy())
    assert_same(v, expected[QUERY].numpy())
    assert_same(m, expected[PROJECT].numpy())


def test_equations_78_to_80_are_right_as_printed() -> None:
    case, model, positions = make("DP", "multiclass")
    e, w, v = np.zeros_like(model.e), np.zeros_like(model.w), np.zeros_like(model.v)
    for position in positions:
        i, p, factor = position.unit, -position.pull, position.alpha / M
        e[i] += factor * (np.outer(model.v, model.e[i] - position.h) / SCALE + np.eye(len(model.v))) @ model.w @ p
        v += factor * model.e[i] * ((model.s[i] - position.s) @ p) / SCALE
    for text in texts_of(positions):
        w += np.outer(text.h, -text.pull) / M
    expected = downhill(case, make_classifier(case))
    assert_same(e, -expected[EMBEDDING].numpy())
    assert_same(w, -expected[HEAD].numpy().T)
    assert_same(v, -expected[QUERY].numpy())


def test_the_page_names_existing_tests() -> None:
    here = Path(__file__)
    page = (here.parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    files = (here, here.with_name("test_gradient_flow.py"), here.parents[1] / "lab" / "test_vat_observations.py")
    there = {name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)}
    assert len(named) > 10
    assert named <= there
