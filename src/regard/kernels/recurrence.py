"""LSTMs and GRUs of several stacked models (seeds): one matrix product and one cell per time step for all of them.

    i, f, g, o = W x_t + U h_{t−1} + b,   c_t = σ(f) c_{t−1} + σ(i) tanh(g),   h_t = σ(o) tanh(c_t)

Whatever does not depend on the previous time step is computed for all steps at once: W x forward, and all weight gradients
backward. The steps of an LSTM are a loop in PyTorch here, and one Triton kernel each on CUDA. A GRU is left to autograd: its
products have PyTorch's precision, not cuDNN's, and its steps no kernel.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.kernels.attended_power_mean import has_triton
from regard.kernels.stacking import as_cudnn_would


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
        result: Tensor = states
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        x, w, u, gates, states, cells = ctx.saved_tensors
        with as_cudnn_would("rnn"):
            grad_gates = torch.empty_like(gates)  # (S, N, L, 4H)
            if fusable(x):
                from regard.kernels.fused_recurrence import backward_steps as steps
            else:
                steps = backward_steps
            steps(grad, gates, u.contiguous(), cells, grad_gates)
            flat = grad_gates.flatten(1, 2)  # (S, N·L, 4H)
            previous = torch.zeros_like(states)
            previous[:, :, 1:] = states[:, :, :-1]
            grad_u = torch.bmm(flat.mT, previous.flatten(1, 2))
            grad_w = torch.bmm(flat.mT, x.flatten(1, 2))
            grad_x = torch.bmm(flat, w).view_as(x)
        return grad_x, grad_w, grad_u, flat.sum(1)


def stacked_lstm(x: Tensor, w: Tensor, u: Tensor, input_bias: Tensor, hidden_bias: Tensor) -> Tensor:
    """Weights as in `nn.LSTM`, each with the model axis first.  (S, N, L, E) -> (S, N, L, H)"""
    states: Tensor = StackedLSTM.apply(x, w, u, input_bias + hidden_bias)  # type: ignore[no-untyped-call]
    return states


def stacked_gru(x: Tensor, w: Tensor, u: Tensor, input_bias: Tensor, hidden_bias: Tensor) -> Tensor:
    """Weights as in `nn.GRU`, each with the model axis first.  (S, N, L, E) -> (S, N, L, H)"""
    models, rows, length, _ = x.shape
    inputs = torch.baddbmm(input_bias.unsqueeze(1), x.flatten(1, 2), w.mT).view(models, rows, length, -1)
    h, states = x.new_zeros(models, rows, u.size(-1)), []  # (S, N, H)
    for step in inputs.unbind(2):
        (r, z, n), (reset, update, new) = (
            gates.chunk(3, -1) for gates in (step, torch.baddbmm(hidden_bias.unsqueeze(1), h, u.mT))
        )
        z = (z + update).sigmoid()
        h = (1 - z) * torch.tanh(n + (r + reset).sigmoid() * new) + z * h
        states.append(h)
    return torch.stack(states, 2)


def forward_steps(gates: Tensor, u: Tensor, states: Tensor, cells: Tensor) -> None:
    """Fill states and cells, and replace each gate's input by its value."""
    h, c = states.new_zeros(states[:, :, 0].shape), cells.new_zeros(cells[:, :, 0].shape)  # (S, N, H)
    for t in range(gates.size(2)):
        i, f, g, o = torch.baddbmm(gates[:, :, t], h, u.mT).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        gates[:, :, t], states[:, :, t], cells[:, :, t] = torch.cat((i, f, g, o), -1), h, c


def backward_steps(grad: Tensor, gates: Tensor, u: Tensor, cells: Tensor, grad_gates: Tensor) -> None:
    """Fill `grad_gates` with the gradient of the gates' inputs."""
    length = gates.size(2)
    grad_c = torch.zeros_like(cells[:, :, 0])
    for t in reversed(range(length)):
        grad_h = grad[:, :, t] if t == length - 1 else torch.baddbmm(grad[:, :, t], grad_gates[:, :, t + 1], u)
        i, f, g, o = gates[:, :, t].chunk(4, -1)
        c = cells[:, :, t].tanh()
        grad_c = grad_c + grad_h * o * (1 - c * c)
        previous = cells[:, :, t - 1] if t else torch.zeros_like(grad_c)
        parts = (
            grad_c * g * i * (1 - i),
            grad_c * previous * f * (1 - f),
            grad_c * i * (1 - g * g),
            grad_h * c * o * (1 - o),
        )
        grad_gates[:, :, t] = torch.cat(parts, -1)
        grad_c = grad_c * f


def fusable(x: Tensor) -> bool:
    return x.is_cuda and x.dtype == torch.float32 and has_triton()
