"""The sparse engine's gradient equals that of autograd for the same Classifier, and its steps those of torch.optim."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

from regard.config import Model
from regard.data.unit_texts import UnitTexts
from regard.kernels.sparse_steps import BINARY, MULTICLASS, REGRESSION, gather
from regard.kernels.units import distinct
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.flat import EMBEDDING, QUERY, fresh
from regard.training import worker_pool
from regard.training.sparse_batch import Objective, Worker
from regard.training.worker_pool import WorkerPool
from regard.values import Batch

UNITS, SCALE = 30, 3.0
# repeated units, within a text and across texts; one text of a single unit, and an empty one
WORDS = [[2, 3, 2, 2, 9], [3], [4, 29, 4, 7, 8, 9, 10, 2], [5, 5, 5], [], [11, 2, 3, 12]]
ALL = np.arange(len(WORDS), dtype=np.int64)
WEIGHTS = np.array([2.0, 0.25, 1.0, 0.5, 1.0, 1.25], dtype=np.float32)
KINDS = {"binary": (BINARY, 1), "multiclass": (MULTICLASS, 4), "regression": (REGRESSION, 1)}
State = dict[str, NDArray[Any]]


def options(**values: Any) -> Model:
    return Model(**{"embedding": 7, "hidden": 6, "query": 5, "scale": SCALE, "attention": "dot", **values})


def make_state(model: Model, outputs: int) -> State:
    """Larger than initial weights, so that no gradient is near 0."""
    rng = np.random.default_rng(3)
    state = {
        name: value + 0.3 * rng.normal(size=value.shape) for name, value in fresh(model, UNITS, outputs, 1).items()
    }
    state[EMBEDDING][0] = 0
    return state


def make_texts(kind: int, outputs: int) -> UnitTexts:
    rng = np.random.default_rng(5)
    offsets = np.cumsum([0, *map(len, WORDS)]).astype(np.int64)
    counted = distinct(np.concatenate(WORDS).astype(np.int32), offsets, UNITS)
    labels = rng.normal(size=len(WORDS)) if kind == REGRESSION else rng.integers(0, max(outputs, 2), len(WORDS))
    return UnitTexts(*counted, labels.astype(np.float64))


def make_classifier(model: Model, outputs: int, state: State) -> Classifier:
    classifier = build(model, UNITS, outputs).double()
    classifier.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    return classifier


def loss_of(
    classifier: Classifier,
    kind: int,
    labels: NDArray[Any],
    vtw: float,
    rows: NDArray[np.int64] = ALL,
    weights: NDArray[np.float32] | None = None,
) -> torch.Tensor:
    longest = max(map(len, WORDS))
    ids, mask = torch.zeros(len(rows), longest, dtype=torch.long), torch.zeros(len(rows), longest, dtype=torch.bool)
    for number, row in enumerate(rows):
        ids[number, : len(WORDS[row])] = torch.tensor(WORDS[row], dtype=torch.long)
        mask[number, : len(WORDS[row])] = True
    output, target = classifier(Batch(ids, mask)), torch.tensor(labels[rows])
    losses = {
        BINARY: lambda: functional.binary_cross_entropy_with_logits(output.logits[:, 0], target, reduction="none"),
        MULTICLASS: lambda: functional.cross_entropy(output.logits, target.long(), reduction="none"),
        REGRESSION: lambda: functional.mse_loss(output.logits[:, 0], target, reduction="none"),
    }[kind]()
    loss = (losses if weights is None else losses * torch.tensor(weights[rows])).mean()
    return loss + vtw * output.terms["vtw"] if vtw else loss


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("head_bias", [True, False])
@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize(("attention", "vtw"), [("dot", 0.0), ("dot", 0.7), ("additive", 0.0)])
@pytest.mark.parametrize("encoder", ["embedding", "affine"])
def test_gradient_against_autograd(
    encoder: str, attention: str, vtw: float, task: str, head_bias: bool, weights: NDArray[np.float32] | None
) -> None:
    kind, outputs = KINDS[task]
    model = options(encoder=encoder, attention=attention, head_bias=head_bias)
    state, texts = make_state(model, outputs), make_texts(kind, outputs)._replace(weights=weights)
    classifier = make_classifier(model, outputs, state)
    loss_of(classifier, kind, texts.labels, vtw, weights=weights).backward()
    total, rows, gradients = Worker(state, {}, Objective(kind, SCALE, 0.0, vtw)).gradient(texts, ALL)
    expected_loss = float(loss_of(classifier, kind, texts.labels, 0.0, weights=weights).detach())
    assert total / len(WORDS) == pytest.approx(expected_loss, rel=1e-9)
    assert sorted(rows) == sorted({unit for text in WORDS for unit in text})
    assert gradients.keys() == state.keys()
    for name, parameter in classifier.named_parameters():
        assert parameter.grad is not None
        expected, gradient = parameter.grad.numpy(), gradients[name]
        if name == EMBEDDING:
            assert np.delete(expected, rows, 0).max(initial=0) == 0, "nothing else has a gradient"
            expected = expected[rows]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max(), err_msg=name)


@pytest.mark.parametrize(("encoder", "attention"), [("embedding", "dot"), ("affine", "additive")])
@pytest.mark.parametrize("task", KINDS)
def test_a_weight_is_a_number_of_repetitions(task: str, encoder: str, attention: str) -> None:
    """Text 0 three times and text 3 twice, where both are divided by the number of texts in the batch."""
    kind, outputs = KINDS[task]
    model = options(encoder=encoder, attention=attention)
    state, texts = make_state(model, outputs), make_texts(kind, outputs)
    worker = Worker(state, {}, Objective(kind, SCALE))
    repeated = np.array([0, 0, 0, 1, 2, 3, 3, 4, 5], dtype=np.int64)
    loss, _, gradients = worker.gradient(texts, repeated)
    expected = {name: value * len(repeated) / len(ALL) for name, value in gradients.items()}
    weighted = texts._replace(weights=np.array([3, 1, 1, 2, 1, 1], dtype=np.float32))
    total, _, found = worker.gradient(weighted, ALL)
    assert total == pytest.approx(loss, rel=1e-12)
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(("encoder", "attention"), [("embedding", "dot"), ("affine", "additive")])
def test_weights_of_one_change_no_bit(encoder: str, attention: str) -> None:
    model = options(encoder=encoder, attention=attention)
    state = fresh(model, UNITS, 4, 1)
    worker, texts = Worker(state, {}, Objective(MULTICLASS, SCALE)), make_texts(MULTICLASS, 4)
    loss, _, plain = worker.gradient(texts, ALL)
    expected = {name: value.copy() for name, value in plain.items()}
    total, _, found = worker.gradient(texts._replace(weights=np.ones(len(WORDS), dtype=np.float32)), ALL)
    assert total == loss
    assert all((value == expected[name]).all() for name, value in found.items())


def test_gradient_of_some_of_the_texts() -> None:
    model, rows = options(), np.array([5, 0, 3], dtype=np.int64)
    state, texts = make_state(model, 1), make_texts(BINARY, 1)
    classifier = make_classifier(model, 1, state)
    loss_of(classifier, BINARY, texts.labels, 0.0, rows).backward()
    worker = Worker(state, {}, Objective(BINARY, SCALE))
    worker.gradient(texts, ALL)  # leaves values of another batch in the buffers
    _, used, gradients = worker.gradient(texts, rows)
    assert classifier.embedding.weight.grad is not None
    np.testing.assert_allclose(
        gradients[EMBEDDING], classifier.embedding.weight.grad.numpy()[used], rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("attention", ["dot", "additive"])
@pytest.mark.parametrize("task", KINDS)
def test_weights_do_not_depend_on_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, task: str, attention: str
) -> None:
    """Weights are bit-identical, in single precision, with one, two or three threads."""
    monkeypatch.setattr(worker_pool, "MIN_UNITS", 0)
    kind, outputs = KINDS[task]
    model, rng = options(attention=attention, embedding=32), np.random.default_rng(0)
    offsets = np.cumsum([0, *rng.integers(1, 60, 40)]).astype(np.int64)
    ids = rng.integers(1, UNITS, offsets[-1]).astype(np.int32)
    texts = UnitTexts(*distinct(ids, offsets, UNITS), rng.integers(0, max(outputs, 2), 40).astype(np.float32))
    batches, results = [np.arange(start, start + 20) for start in (0, 20, 0)], []
    for threads in (1, 2, 3):
        state = {name: value.copy() for name, value in fresh(model, UNITS, outputs, 0).items()}
        squares = {name: np.zeros_like(value) for name, value in state.items()}
        pool = WorkerPool(state, squares, Objective(kind, SCALE), True, threads)
        results.append((pool.steps(texts, batches, [0.1] * 3, 0.2, 7), state))
        pool.close()
    for loss, state in results[1:]:
        assert loss == results[0][0]
        assert all((value == results[0][1][name]).all() for name, value in state.items())
    # a single worker sums in another order, so its weights are only close
    state = fresh(model, UNITS, outputs, 0)
    worker = Worker(state, {name: np.zeros_like(value) for name, value in state.items()}, Objective(kind, SCALE))
    loss = sum(worker.step(texts, batch, 0.1, 0.2, 7) for batch in batches)
    assert loss == pytest.approx(results[0][0], rel=1e-5)
    for name, value in state.items():
        np.testing.assert_allclose(value, results[0][1][name], rtol=1e-3, atol=2e-4)


def test_one_thread_works_alone_while_that_is_faster() -> None:
    pace, speeds = worker_pool.Pace(2), {1: 3.0, 2: 2.0}
    chosen = []
    for call in range(40):
        if call == 20:  # another process takes a core
            speeds[2] = 10.0
        chosen.append(pace.choose())
        pace.record(chosen[-1], speeds[chosen[-1]])
    assert chosen[:4] == [2, 1, 2, 1]
    assert chosen[4:20].count(2) >= 15
    assert chosen[24:].count(1) >= 14
    assert 2 in chosen[30:]  # it is tried again
    alone = worker_pool.Pace(1)
    for _ in range(20):
        assert alone.choose() == 1
        alone.record(1, 1.0)


def test_a_failing_thread_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the other thread does not wait for it forever."""
    monkeypatch.setattr(worker_pool, "MIN_UNITS", 0)
    model = options(embedding=4)
    state = fresh(model, UNITS, 1, 0)
    texts = UnitTexts(
        np.ones(8, np.int32), np.ones(8, np.uint16), np.arange(9, dtype=np.int64), np.zeros(8, np.float32)
    )
    pool = WorkerPool(
        state, {name: np.zeros_like(value) for name, value in state.items()}, Objective(BINARY, SCALE), True, 2
    )
    monkeypatch.setattr(pool.workers[1], "gradient", lambda *_: 1 / 0)
    with pytest.raises((ZeroDivisionError, RuntimeError)):
        pool.steps(texts, [np.arange(8)], [0.1], 0.0, 0)
    pool.close()


@pytest.mark.parametrize("head_bias", [True, False])
@pytest.mark.parametrize("attention", ["dot", "additive"])
@pytest.mark.parametrize("encoder", ["embedding", "affine"])
@pytest.mark.parametrize("outputs", [1, 4])
def test_weights_have_the_names_and_shapes_of_the_classifier(
    encoder: str, attention: str, outputs: int, head_bias: bool
) -> None:
    model = options(encoder=encoder, attention=attention, head_bias=head_bias)
    ours, theirs = fresh(model, UNITS, outputs, 0), build(model, UNITS, outputs).state_dict()
    assert {name: value.shape for name, value in ours.items()} == {n: tuple(v.shape) for n, v in theirs.items()}
    assert all(value.dtype == np.float32 for value in ours.values())
    assert (ours[EMBEDDING][0] == 0).all(), "padding"


@pytest.mark.parametrize("attention", ["dot", "additive"])
def test_initial_weights_have_the_range_of_the_classifiers(attention: str) -> None:
    model = options(encoder="affine", attention=attention, embedding=200, hidden=300, query=400)
    torch.manual_seed(0)
    ours, theirs = fresh(model, UNITS, 100, 0), build(model, UNITS, 100).state_dict()
    for name, value in ours.items():
        assert np.abs(value).max() == pytest.approx(float(theirs[name].abs().max()), rel=0.05), name
        assert value.std() == pytest.approx(float(theirs[name].std()), rel=0.2), name


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("method", ["adagrad", "sgd"])
@pytest.mark.parametrize(("encoder", "attention"), [("embedding", "dot"), ("affine", "additive")])
def test_steps_against_torch(encoder: str, attention: str, method: str, l2: float) -> None:
    """Two steps, so that Adagrad has sums of squares. Rows that no text uses do not change, even with L2."""
    model = options(encoder=encoder, attention=attention)
    state, texts = make_state(model, 1), make_texts(BINARY, 1)
    classifier, before = make_classifier(model, 1, state), state[EMBEDDING].copy()
    kind = torch.optim.Adagrad if method == "adagrad" else torch.optim.SGD
    optimizer = kind(classifier.parameters(), lr=0.3, weight_decay=l2)
    squares = {name: np.zeros_like(value) for name, value in state.items()} if method == "adagrad" else {}
    worker = Worker(state, squares, Objective(BINARY, SCALE, l2), method == "adagrad")
    for _ in range(2):
        optimizer.zero_grad()
        loss = loss_of(classifier, BINARY, texts.labels, 0.0)
        loss.backward()
        optimizer.step()
        assert worker.step(texts, ALL, 0.3, 0.0, 0) / len(WORDS) == pytest.approx(float(loss.detach()), rel=1e-9)
    used = sorted({unit for text in WORDS for unit in text})
    for name, parameter in classifier.named_parameters():
        rows = used if name == EMBEDDING else slice(None)
        np.testing.assert_allclose(state[name][rows], parameter.detach().numpy()[rows], rtol=1e-7, err_msg=name)
    np.testing.assert_array_equal(np.delete(state[EMBEDDING], used, 0), np.delete(before, used, 0))


def test_a_text_never_loses_all_units_to_dropout() -> None:
    """With nearly all units dropped, a text that would lose all of them keeps all of them: no text becomes empty."""
    model = options()
    state, texts = make_state(model, 1), make_texts(BINARY, 1)
    worker = Worker(state, {}, Objective(BINARY, SCALE))
    sizes_of = {}
    for seed in range(200):
        worker.gradient(texts, ALL, 0.95, seed)
        sizes = np.diff(worker.workspace.bounds[: len(WORDS) + 1])
        for row, size in enumerate(sizes.tolist()):
            sizes_of.setdefault(row, set()).add(size)
    distinct_units = [len(set(text)) for text in WORDS]
    assert sizes_of[4] == {0}, "the empty text"
    for row in (0, 2, 3, 5):
        assert min(sizes_of[row]) == 1
        assert max(sizes_of[row]) == distinct_units[row]
    assert sizes_of[1] == {1}


def test_dropout_drops_its_share_and_follows_the_seed() -> None:
    ids = np.arange(1, 20_001, dtype=np.int32)
    texts = UnitTexts(ids, np.ones(20_000, dtype=np.uint16), np.array([0, 20_000]), np.ones(1))
    model = options()
    worker = Worker(fresh(model, 20_001, 1, 0), {}, Objective(BINARY, SCALE))
    kept = [set(worker.gradient(texts, np.zeros(1, dtype=np.int64), 0.2, seed)[1].tolist()) for seed in (1, 1, 2)]
    assert kept[0] == kept[1] != kept[2]
    # 16,000 ± 57: within five standard deviations
    assert all(abs(len(units) - 16_000) < 5 * 57 for units in kept)
    assert abs(len(kept[0] & kept[2]) - 12_800) < 5 * 68, "two seeds are independent"


def test_gradients_of_huge_scores_are_finite() -> None:
    model = options()
    state, texts = make_state(model, 1), make_texts(BINARY, 1)
    state[QUERY] *= 1e6
    _, _, gradients = Worker(state, {}, Objective(BINARY, SCALE)).gradient(texts, ALL)
    assert all(np.isfinite(value).all() for value in gradients.values())


@pytest.mark.parametrize("adagrad", [True, False])
@pytest.mark.parametrize("head_bias", [True, False])
@pytest.mark.parametrize("task", KINDS)
def test_batches_in_one_call_are_the_same_steps(task: str, head_bias: bool, adagrad: bool) -> None:
    """The compiled loop over batches against steps one by one, with dropout, weights of texts and a penalty."""
    kind, outputs = KINDS[task]
    texts = make_texts(kind, outputs)._replace(weights=WEIGHTS)
    batches = [np.array(rows, dtype=np.int64) for rows in ([1], [0, 2, 5], [4, 3], [5, 1, 0, 2, 3, 4])]
    rates, results = [0.1, 0.3, 0.05, 0.2], []
    for at_once in (True, False):
        state = make_state(options(head_bias=head_bias), outputs)
        squares = {name: np.zeros_like(value) for name, value in state.items()} if adagrad else {}
        worker = Worker(state, squares, Objective(kind, SCALE, l2=0.01), adagrad)
        if at_once:
            loss = worker.steps(texts, batches, rates, 0.3, 7)
        else:
            loss = sum(worker.step(texts, *one, 0.3, 7) for one in zip(batches, rates, strict=True))
        loss += worker.steps(texts, batches[:1], rates[:1], 0.0, 8)  # rows of earlier batches are forgotten
        results.append((loss, state, squares))
    (loss, state, squares), (expected_loss, expected_state, expected_squares) = results
    assert loss == pytest.approx(expected_loss, rel=1e-9)
    for name, value in expected_state.items():
        np.testing.assert_allclose(state[name], value, rtol=1e-6, atol=1e-9, err_msg=name)
    for name, value in expected_squares.items():
        np.testing.assert_allclose(squares[name], value, rtol=1e-6, atol=1e-12, err_msg=name)


def test_no_batches_are_no_steps() -> None:
    state = make_state(options(), 1)
    assert Worker(state, {}, Objective(BINARY, SCALE), adagrad=False).steps(make_texts(BINARY, 1), [], [], 0.0, 1) == 0


def test_rows_are_prefetched() -> None:
    """Memory is asked for before it is needed; the compiler could drop that without an error."""
    table, out = np.arange(60, dtype=np.float32).reshape(20, 3), np.empty((20, 3), dtype=np.float32)
    rows = np.random.default_rng(0).permutation(20).astype(np.int32)
    compiled = numba.njit(gather.py_func)  # code from the cache cannot be inspected
    compiled(table, rows, out)
    assert np.array_equal(out, table[rows])
    assert any("llvm.prefetch" in code for code in compiled.inspect_llvm().values())
