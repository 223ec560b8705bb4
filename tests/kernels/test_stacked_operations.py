"""Operations of several models at once beside PyTorch's own for one: LSTM, convolution, rows taken and put back."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import vmap

from regard.kernels.convolution import stacked_convolution
from regard.kernels.recurrence import stacked_lstm
from regard.kernels.rows import places, take
from regard.kernels.stacking import is_stacked

MODELS, ROWS, LENGTH, WIDTH, HIDDEN = 2, 3, 4, 5, 6


def test_an_lstm_of_several_models_is_each_ones_own() -> None:
    torch.manual_seed(0)
    alone = [nn.LSTM(WIDTH, HIDDEN, batch_first=True).double() for _ in range(MODELS)]
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    x = torch.randn(MODELS, ROWS, LENGTH, WIDTH, dtype=torch.float64, requires_grad=True)
    weights = [torch.stack([getattr(lstm, name).detach() for lstm in alone]).requires_grad_() for name in names]
    states = stacked_lstm(x, *weights)
    given = torch.randn_like(states)
    states.backward(given)
    for place, lstm in enumerate(alone):
        own = x[place].detach().requires_grad_()
        expected = lstm(own)[0]
        torch.testing.assert_close(states[place], expected)
        expected.backward(given[place])
        assert x.grad is not None
        torch.testing.assert_close(x.grad[place], own.grad)
        for name, weight in zip(names, weights, strict=True):
            assert weight.grad is not None
            torch.testing.assert_close(weight.grad[place], getattr(lstm, name).grad)


def test_the_lstms_gradient_is_right() -> None:
    torch.manual_seed(1)
    shapes = ((1, 2, 3, 2), (1, 8, 2), (1, 8, 2), (1, 8), (1, 8))
    given = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(stacked_lstm, given)


def test_filters_of_several_models_are_each_ones_own() -> None:
    torch.manual_seed(2)
    rows = torch.randn(MODELS, ROWS, WIDTH, LENGTH + 2, dtype=torch.float64)
    weight, bias = torch.randn(MODELS, 7, WIDTH, 3, dtype=torch.float64), torch.randn(MODELS, 7, dtype=torch.float64)
    found = stacked_convolution(rows, weight, bias)
    for place in range(MODELS):
        expected = nn.functional.conv1d(rows[place], weight[place], bias[place])
        torch.testing.assert_close(found[place], expected)


def test_rows_are_taken_and_put_back() -> None:
    """Rows 3 and 0 of four; the others come back as zeros, and nothing is sent to them."""
    values = torch.arange(8.0).view(4, 2).requires_grad_()
    rows = torch.tensor([3, 0])
    back = places(rows, 4)
    assert back.tolist() == [1, 2, 2, 0]
    taken = take(values, rows, back)
    assert taken.tolist() == [[6, 7], [0, 1]]
    again = take(taken, back, rows)
    assert again.tolist() == [[0, 1], [0, 0], [0, 0], [6, 7]]
    (again * torch.tensor([[1.0], [10.0], [100.0], [1000.0]])).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [[1, 1], [0, 0], [0, 0], [1000, 1000]]


def test_each_model_takes_its_own_rows() -> None:
    values = torch.arange(12.0).view(2, 3, 2).requires_grad_()
    rows = torch.tensor([[2, 0], [1, 2]])

    def one(own: Tensor, mine: Tensor) -> Tensor:
        assert is_stacked(own)
        return take(own, mine, places(mine, 3))

    found = vmap(one)(values, rows)
    assert found.tolist() == [[[4, 5], [0, 1]], [[8, 9], [10, 11]]]
    found.sum().backward()
    assert values.grad is not None
    assert values.grad[..., 0].tolist() == [[1, 0, 1], [0, 1, 1]]
