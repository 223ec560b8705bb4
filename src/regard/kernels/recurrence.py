"""LSTMs of several models side by side (stacked seeds): one product and one cell a time step for all of them.

    i, f, g, o = W x_t + U h_{t−1} + b,   c_t = σ(f) c_{t−1} + σ(i) tanh(g),   h_t = σ(o) tanh(c_t)

What doesn't wait for the time step before is taken for all steps at once: W x forward, and backward every gradient of a weight.
The steps themselves are a loop in PyTorch here, and on CUDA one Triton kernel each.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.kernels.attended_power_mean import triton_is_there
from regard.kernels.precision import as_cudnn_would


class StackedLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, u: Tensor, bias: Tensor) -> Tensor:
        """(S, N, L, E), (S, 4H, E), (S, 4H, H), (S, 4H) -> (S, N, L, H)"""
        models, rows, length, _ = x.shape
        with as_cudnn_would("rnn"):
            gates = torch.baddbmm(bias.unsqueeze(1), x.flatten(1, 2), w.mT).view(models, rows, length, -1)
            states, cells = x.new_empty(2, models, rows, length, u.size(-1))  # (S, N, L, H) each
            if fusable(x):
                from regard.kernels.fused_recurrence import forward_steps as steps
            else:
                steps = forward_steps
            steps(gates, u.contiguous(), states, cells)
        ctx.save_for_backward(x, w, u, gates, states, cells)
        found: Tensor = states
        return found

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, ...]:
        x, w, u, gates, states, cells = ctx.saved_tensors
        with as_cudnn_would("rnn"):
            slopes = torch.empty_like(gates)  # (S, N, L, 4H)
            if fusable(x):
                from regard.kernels.fused_recurrence import backward_steps as steps
            else:
                steps = backward_steps
            steps(given, gates, u.contiguous(), cells, slopes)
            flat = slopes.flatten(1, 2)  # (S, N·L, 4H)
            before = torch.zeros_like(states)
            before[:, :, 1:] = states[:, :, :-1]
            to_u = torch.bmm(flat.mT, before.flatten(1, 2))
            to_w = torch.bmm(flat.mT, x.flatten(1, 2))
            to_x = torch.bmm(flat, w).view_as(x)
        return to_x, to_w, to_u, flat.sum(1)


def stacked_lstm(x: Tensor, w: Tensor, u: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Weights as `nn.LSTM` has them, each with the models' axis in front.  (S, N, L, E) -> (S, N, L, H)"""
    states: Tensor = StackedLSTM.apply(x, w, u, b + c)  # type: ignore[no-untyped-call]
    return states


def forward_steps(gates: Tensor, u: Tensor, states: Tensor, cells: Tensor) -> None:
    """Fills states and cells, and puts each gate's value in the place of what came in."""
    h, c = states.new_zeros(states[:, :, 0].shape), cells.new_zeros(cells[:, :, 0].shape)  # (S, N, H)
    for t in range(gates.size(2)):
        i, f, g, o = torch.baddbmm(gates[:, :, t], h, u.mT).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        gates[:, :, t], states[:, :, t], cells[:, :, t] = torch.cat((i, f, g, o), -1), h, c


def backward_steps(given: Tensor, gates: Tensor, u: Tensor, cells: Tensor, slopes: Tensor) -> None:
    """Fills `slopes` with the gradient of what went into the gates."""
    length = gates.size(2)
    to_c = torch.zeros_like(cells[:, :, 0])
    for t in reversed(range(length)):
        to_h = given[:, :, t] if t == length - 1 else torch.baddbmm(given[:, :, t], slopes[:, :, t + 1], u)
        i, f, g, o = gates[:, :, t].chunk(4, -1)
        c = cells[:, :, t].tanh()
        to_c = to_c + to_h * o * (1 - c * c)
        before = cells[:, :, t - 1] if t else torch.zeros_like(to_c)
        parts = (to_c * g * i * (1 - i), to_c * before * f * (1 - f), to_c * i * (1 - g * g), to_h * c * o * (1 - o))
        slopes[:, :, t] = torch.cat(parts, -1)
        to_c = to_c * f


def fusable(x: Tensor) -> bool:
    return x.is_cuda and x.dtype == torch.float32 and triton_is_there()
