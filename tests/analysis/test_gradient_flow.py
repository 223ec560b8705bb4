"""The terms of gradient flow sum to autograd's derivatives, for every token of every flat form."""

from __future__ import annotations

import math
import os
import time
import tracemalloc

import numpy as np
import pytest
import torch
from flowing import (
    FORMS,
    OUTPUTS,
    UNITS,
    WORDS,
    Case,
    assert_same,
    autograds,
    downhill,
    make_case,
    make_classifier,
    padded,
    scores,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.analysis.gradient_flow import Flow, first_order, flow, gap, pulls
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.flat import AFFINE, EMBEDDING, HEAD, PROJECT, PROJECT_BIAS, QUERY
from regard.models.tasks import Binary, Multiclass, Regression, Task

EXAMPLE = [[2, 3, 2, 2, 5], [3], [4, 1, 4, 7], [], [6, 2, 3]]
TERMS = {
    "DP": ("ABC", "DEF"),
    "DP-A": (["A", "B", "C", "A via M", "B via M"], ["D", "E", "F", "D via M", "E via M"]),
    "AD": ("ABC", ["D", "E", "F", "E via P", "E via b"]),
    "AD-A": (
        ["A", "B", "C", "A via M", "B via M"],
        ["D", "E", "F", "D via M", "E via M", "E via P", "E via b"],
    ),
}
every_form = pytest.mark.parametrize("form", FORMS)
every_kind = pytest.mark.parametrize("kind", OUTPUTS)


@every_kind
@every_form
@settings(max_examples=25)
@given(WORDS, st.integers(0, 1000), st.sampled_from([0.5, 1.0, 10.0]), st.booleans())
def test_terms_sum_to_autograds_derivatives(
    form: str, kind: str, words: list[list[int]], seed: int, scale: float, head_bias: bool
) -> None:
    case = make_case(form, kind, words, seed, scale, head_bias)
    terms, (polarity, attention) = flow(*case.given), autograds(case)
    assert list(terms.polarity) == list(TERMS[form][0])
    assert list(terms.attention) == list(TERMS[form][1])
    assert_same(terms.polarity_total, polarity)
    assert_same(terms.attention_total, attention)


@every_kind
@every_form
def test_a_small_step_changes_scores_as_predicted(form: str, kind: str) -> None:
    """Full-batch SGD, half a step backwards and half a step forwards."""
    case, rate = make_case(form, kind, EXAMPLE), 1e-5
    model = make_classifier(case)
    direction, moved = downhill(case, model), []
    for side in (-0.5, 0.5):
        weights = {name: value.detach() + side * rate * direction[name] for name, value in model.named_parameters()}
        moved.append(scores(model, weights))
    terms = flow(*case.given)
    assert_same(terms.polarity_total, ((moved[1][0] - moved[0][0]) / rate).numpy(), 1e-7)
    assert_same(terms.attention_total, ((moved[1][1] - moved[0][1]) / rate).numpy(), 1e-7)


@every_kind
@every_form
def test_the_loss_is_the_tasks(form: str, kind: str) -> None:
    tasks: dict[str, Task] = {
        "binary": Binary(("no", "yes")),
        "multiclass": Multiclass(("a", "b", "c")),
        "regression": Regression(0.0, 1.0),
    }
    case = make_case(form, kind, EXAMPLE)
    loss = tasks[kind].loss(make_classifier(case)(padded(EXAMPLE)).logits, torch.tensor(case.texts.labels))
    pulled = pulls(*case.given)
    assert pulled.loss == pytest.approx(float(loss.detach()), rel=1e-6)
    assert pulled.texts == len(EXAMPLE)


def by_hand() -> Case:
    """W = (1, 0), V = (0, 1), λ = 2 and three tokens: 1 is (2, 0), 2 is (0, 2 log 3), 3 is in no text, (1, 1)."""
    case = make_case("DP", "binary", [[1, 2], [2, 2]], scale=2.0, head_bias=False)
    state = {
        EMBEDDING: np.zeros((UNITS, 2)),
        HEAD: np.array([[1.0, 0.0]]),
        QUERY: np.array([0.0, 1.0]),
    }
    state[EMBEDDING][1:4] = [[2, 0], [0, 2 * math.log(3)], [1, 1]]
    return case._replace(state=state, texts=case.texts._replace(labels=np.array([1.0, 0.0])))


def test_two_texts_by_hand() -> None:
    """a = 0, log 3; α = ¼, ¾ in the positive text and 1 in the negative one; s = 2·¼ = ½ and 0."""
    case = by_hand()
    beta = 1 / (1 + math.exp(0.5))  # σ(−½); of the negative text σ(0) = ½
    pulled = pulls(*case.given)
    pi = [0, beta / 4, beta * 3 / 4 - 0.5, 0]
    rho = [0, beta / 4 * (2 - 0.5), beta * 3 / 4 * (0 - 0.5), 0]
    np.testing.assert_allclose(pulled.pi[:4, 0], pi, rtol=1e-14)
    np.testing.assert_allclose(pulled.rho[:4], rho, rtol=1e-14)
    assert pulled.loss == pytest.approx((-math.log(1 - beta) + math.log(2)) / 2)
    terms, log9 = flow(*case.given), 2 * math.log(3)
    # VᵀW is 0, ‖V‖ and ‖W‖ are 1, m is 2, λ is 2
    assert not terms.polarity["A"].any()
    assert not terms.attention["D"].any()
    np.testing.assert_allclose(terms.polarity["B"][:4, 0], np.array(pi) / 2, rtol=1e-14)
    np.testing.assert_allclose(terms.attention["E"][:4], np.array(rho) / 8, rtol=1e-14)
    # e₁ᵀe₂ = 0, e₃ᵀe₁ = 2, e₃ᵀe₂ = log 9
    products = np.array([[0, 0, 0], [0, 4, 0], [0, 0, log9**2], [0, 2, log9]])
    np.testing.assert_allclose(terms.polarity["C"][:4, 0], products @ pi[:3] / 2, rtol=1e-14)
    np.testing.assert_allclose(terms.attention["F"][:4], products @ rho[:3] / 8, rtol=1e-14)


@pytest.mark.parametrize("form", ["AD", "AD-A"])
def test_the_first_order_is_exact_in_the_limit_of_small_weights(form: str) -> None:
    """The gap shrinks with the square of tanh's argument."""
    gaps = []
    for size in (0.3, 0.03, 0.003):
        case = make_case(form, "binary", EXAMPLE, size=size)
        exact, near = flow(*case.given), first_order(*case.given)
        assert list(near.attention) == list(exact.attention)
        gaps.append(gap(exact, near))
    assert gaps[0] > gaps[1] > 0
    assert gaps[2] == pytest.approx(gaps[1] / 100, rel=0.2)
    assert gaps[2] < 1e-3
    np.testing.assert_allclose(near.attention_total, exact.attention_total, rtol=2e-2)


def test_the_first_order_is_equation_71() -> None:
    """Term by term from its sums over positions; b is 0, because the paper has none."""
    case = make_case("AD", "binary", EXAMPLE)
    case.state[PROJECT_BIAS][:] = 0
    pulled, near = pulls(*case.given), first_order(*case.given)
    e, w, v = case.state[EMBEDDING], case.state[HEAD][0], case.state[QUERY]
    matrix, scale, m = case.state[PROJECT], case.model.scale, len(EXAMPLE)
    x = e @ matrix.T
    expected = {
        "E": pulled.rho * ((matrix.T @ v) ** 2).sum() / scale**2,
        "D": pulled.pi[:, 0] * (w @ matrix.T @ v) / scale,
        "E via P": e @ e.T @ pulled.rho * (v @ v) / scale**2,
        "F": x @ x.T @ pulled.rho / scale**2,
    }
    for name, values in expected.items():
        np.testing.assert_allclose(near.attention[name], values / m, rtol=1e-10, atol=1e-16)
    np.testing.assert_allclose(near.attention["E via b"], 0, atol=1e-16)  # Σ ρ = 0


def test_gap_of_equal_flows_is_zero() -> None:
    terms = flow(*make_case("AD", "multiclass", EXAMPLE).given)
    assert gap(terms, terms) == 0
    nothing = Flow(terms.polarity, {name: 0 * values for name, values in terms.attention.items()})
    assert gap(terms, nothing) == 1
    assert gap(nothing, nothing) == 0


@every_form
def test_some_units_have_the_terms_that_they_have_among_all(form: str) -> None:
    case, some = make_case(form, "multiclass", EXAMPLE), np.array([5, 2, 8])
    whole, part = flow(*case.given), flow(*case.given, units=some)
    for all_terms, some_terms in ((whole.polarity, part.polarity), (whole.attention, part.attention)):
        assert all_terms.keys() == some_terms.keys()
        for name, values in some_terms.items():
            np.testing.assert_allclose(values, all_terms[name][some], rtol=1e-12, atol=1e-16)
    assert flow(*case.given, units=np.array([], dtype=np.int64)).attention_total.shape == (0,)


def test_single_precision_is_read_in_double() -> None:
    case = make_case("DP-A", "binary", EXAMPLE)
    single = {name: value.astype(np.float32) for name, value in case.state.items()}
    double = {name: value.astype(np.float64) for name, value in single.items()}
    rest = case.given[1:]
    assert flow(single, *rest).polarity_total.dtype == np.float64
    np.testing.assert_array_equal(flow(single, *rest).attention_total, flow(double, *rest).attention_total)


def test_texts_without_words_move_nothing() -> None:
    case = make_case("AD-A", "multiclass", [[], []])
    terms = flow(*case.given)
    assert not terms.polarity_total.any()
    assert not terms.attention_total.any()


def test_scores_beyond_the_range_of_exp_stay_finite() -> None:
    case = make_case("DP", "binary", EXAMPLE)
    case.state[QUERY] *= 1e6
    assert np.isfinite(flow(*case.given).attention_total).all()


def test_scores_are_precise_where_tanh_is_nearly_1() -> None:
    """1 − tanh²(18) has one digit left in double precision, 1 / cosh²(18) all."""
    case = make_case("AD", "binary", [[1]], head_bias=False)
    case.state[PROJECT_BIAS][:] = [18, -12, 5]
    state, scale = case.state, case.model.scale
    x = state[EMBEDDING] @ state[PROJECT].T + state[PROJECT_BIAS]
    slopes = state[QUERY] / np.cosh(x) ** 2 @ state[PROJECT]
    expected = (slopes @ state[HEAD].T * pulls(*case.given).pi).sum(1) / scale
    np.testing.assert_allclose(flow(*case.given).attention["D"], expected, rtol=1e-12)
    state[PROJECT_BIAS][:] = 1e5  # beyond the range of cosh
    assert not flow(*case.given).attention_total.any()


def test_invalid_input_is_refused() -> None:
    case = make_case("DP", "binary", EXAMPLE)
    state, scale, texts, kind = case.given
    no_labels = UnitTexts(texts.ids, texts.counts, texts.offsets, texts.labels[:0])
    without = {name: value for name, value in state.items() if name != QUERY}
    with pytest.raises(InputError, match="kind: expected one of binary, multiclass, regression, got 'ternary'"):
        flow(state, scale, texts, "ternary")
    with pytest.raises(InputError, match="expected one label per text, got 5 texts and 0 labels"):
        flow(state, scale, no_labels, kind)
    with pytest.raises(InputError, match="expected ids below 9 from the run's tokenizer, got 107"):
        flow(state, scale, texts._replace(ids=texts.ids + np.int32(100)), kind)
    with pytest.raises(InputError, match="got 1 for 'multiclass'"):
        flow(state, scale, texts, "multiclass")
    with pytest.raises(InputError, match="expected labels 0 … 1, got 2"):
        flow(state, scale, texts._replace(labels=texts.labels + 2), kind)
    with pytest.raises(InputError, match=r"no 'levels\.0\.pooling.scorer\.query' among its weights"):
        flow(without, scale, texts, kind)
    with pytest.raises(InputError, match="scale: expected λ above 0, got 0"):
        flow(state, 0.0, texts, kind)
    with pytest.raises(InputError, match="expected additive attention, got 'dot'"):
        first_order(state, scale, texts, kind)


def test_cost_grows_with_texts_and_table_not_with_their_product() -> None:
    """20,000 units would make a matrix of 3.2 GB, by 4,000 texts one of 640 MB."""
    rng = np.random.default_rng(0)
    units, size, length, width = 20_000, 4_000, 50, 16
    state = {
        EMBEDDING: rng.normal(size=(units, width)).astype(np.float32),
        AFFINE: rng.normal(size=(width, width)).astype(np.float32),
        QUERY: rng.normal(size=width).astype(np.float32),
        HEAD: rng.normal(size=(1, width)).astype(np.float32),
    }
    ids = rng.integers(1, units, size * length).astype(np.int32)
    offsets = np.arange(size + 1, dtype=np.int64) * length
    texts = UnitTexts(ids, np.ones(len(ids), np.uint16), offsets, rng.integers(0, 2, size).astype(np.float32))
    flow(state, 10.0, texts, "binary", units=np.arange(2))  # compiled
    tracemalloc.start()
    flow(state, 10.0, texts, "binary")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.data
def test_imdb_takes_seconds() -> None:
    if not os.environ.get("REGARD_DATA"):
        pytest.skip("REGARD_DATA is not set")
    from regard.corpora.lookup import resolve
    from regard.data.readers import read
    from regard.data.tokenizer import Tokenizer
    from regard.data.vocabulary import Vocabulary
    from regard.data.words import forms
    from regard.kernels.units import distinct

    try:
        examples = read(resolve("imdb")).examples
    except InputError as missing:
        pytest.skip(str(missing))
    tokenizer = Tokenizer(Vocabulary.build(forms(example.text, True) for example in examples))
    encoded = tokenizer.encode_all([example.text for example in examples])
    labels = np.array([str(example.label) == str(examples[0].label) for example in examples], dtype=np.float32)
    units, rng = len(tokenizer), np.random.default_rng(0)
    texts = UnitTexts(*distinct(encoded.ids, encoded.offsets, units), labels)
    state = {
        EMBEDDING: rng.uniform(-0.1, 0.1, (units, 100)).astype(np.float32),
        QUERY: rng.uniform(-0.1, 0.1, 100).astype(np.float32),
        HEAD: rng.uniform(-0.1, 0.1, (1, 100)).astype(np.float32),
    }
    flow(state, 10.0, texts._replace(offsets=texts.offsets[:2], labels=labels[:1]), "binary")  # compiled
    began = time.perf_counter()
    flow(state, 10.0, texts, "binary")
    assert time.perf_counter() - began < 5
