"""Operations on stacked models against PyTorch's for one model: LSTM, convolution, rows selected and put back."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import vmap

from regard.kernels.recurrence import stacked_lstm
from regard.kernels.rows import inverse_index, take
from regard.kernels.stacking import is_stacked, stacked_convolution

MODELS, ROWS, LENGTH, WIDTH, HIDDEN = 2, 3, 4, 5, 6


def test_a_stacked_lstm_equals_separate_ones() -> None:
    torch.manual_seed(0)
    lstms = [nn.LSTM(WIDTH, HIDDEN, batch_first=True).double() for _ in range(MODELS)]
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    x = torch.randn(MODELS, ROWS, LENGTH, WIDTH, dtype=torch.float64, requires_grad=True)
    weights = [torch.stack([getattr(lstm, name).detach() for lstm in lstms]).requires_grad_() for name in names]
    states = stacked_lstm(x, *weights)
    upstream = torch.randn_like(states)
    states.backward(upstream)
    for model, lstm in enumerate(lstms):
        own_values = x[model].detach().requires_grad_()
        expected = lstm(own_values)[0]
        torch.testing.assert_close(states[model], expected)
        expected.backward(upstream[model])
        assert x.grad is not None
        torch.testing.assert_close(x.grad[model], own_values.grad)
        for name, weight in zip(names, weights, strict=True):
            assert weight.grad is not None
            torch.testing.assert_close(weight.grad[model], getattr(lstm, name).grad)


def test_the_gradient_of_the_lstm() -> None:
    torch.manual_seed(1)
    shapes = ((1, 2, 3, 2), (1, 8, 2), (1, 8, 2), (1, 8), (1, 8))
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(stacked_lstm, inputs)


def test_a_stacked_convolution_equals_separate_ones() -> None:
    torch.manual_seed(2)
    rows = torch.randn(MODELS, ROWS, WIDTH, LENGTH + 2, dtype=torch.float64)
    weight, bias = torch.randn(MODELS, 7, WIDTH, 3, dtype=torch.float64), torch.randn(MODELS, 7, dtype=torch.float64)
    result = stacked_convolution(rows, weight, bias)
    for model in range(MODELS):
        expected = nn.functional.conv1d(rows[model], weight[model], bias[model])
        torch.testing.assert_close(result[model], expected)


def test_rows_are_selected_and_put_back() -> None:
    """Rows 3 and 0 of four; the others come back as zeros and get no gradient."""
    values = torch.arange(8.0).view(4, 2).requires_grad_()
    rows = torch.tensor([3, 0])
    back = inverse_index(rows, 4)
    assert back.tolist() == [1, 2, 2, 0]
    taken = take(values, rows, back)
    assert taken.tolist() == [[6, 7], [0, 1]]
    restored = take(taken, back, rows)
    assert restored.tolist() == [[0, 1], [0, 0], [0, 0], [6, 7]]
    (restored * torch.tensor([[1.0], [10.0], [100.0], [1000.0]])).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [[1, 1], [0, 0], [0, 0], [1000, 1000]]


def test_each_model_selects_its_own_rows() -> None:
    values = torch.arange(12.0).view(2, 3, 2).requires_grad_()
    rows = torch.tensor([[2, 0], [1, 2]])

    def one(own_values: Tensor, own_rows: Tensor) -> Tensor:
        assert is_stacked(own_values)
        return take(own_values, own_rows, inverse_index(own_rows, 3))

    result = vmap(one)(values, rows)
    assert result.tolist() == [[[4, 5], [0, 1]], [[8, 9], [10, 11]]]
    result.sum().backward()
    assert values.grad is not None
    assert values.grad[..., 0].tolist() == [[1, 0, 1], [0, 1, 1]]
