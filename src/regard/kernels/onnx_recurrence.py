"""An LSTM or a GRU as one node of an ONNX graph.

What `torch.export` makes of `nn.LSTM` and `nn.GRU` is bound to the length of the texts that it was traced with (PyTorch 2.13);
ONNX's own operators take any length. Only used while a model is exported.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def onnx_lstm(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """`weights` as `nn.LSTM` names them: input, hidden, and a bias of each.  (N, L, E) -> (N, L, H)"""
    return one_node("LSTM", x, weights, order=(0, 3, 1, 2))  # PyTorch: i, f, g, o; ONNX: i, o, f, g


def onnx_gru(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """`weights` as `nn.GRU` names them: input, hidden, and a bias of each.  (N, L, E) -> (N, L, H)"""
    # PyTorch: r, z, n; ONNX: z, r, n. PyTorch resets the product with the last state, not the state itself
    return one_node("GRU", x, weights, order=(1, 0, 2), linear_before_reset=1)


def one_node(operator: str, x: Tensor, weights: Sequence[Tensor], order: Sequence[int], **attributes: int) -> Tensor:
    """`order`: which of PyTorch's gates is the first of ONNX's, the second, …"""

    def reordered(weight: Tensor) -> Tensor:
        size = len(weight) // len(order)
        return torch.cat([weight[gate * size : (gate + 1) * size] for gate in order])  # chunk() would stay in the graph

    w, u, *biases = map(reordered, weights)
    rows, length, _ = x.shape
    size = u.size(1)
    states: Tensor = torch.onnx.ops.symbolic(
        operator,
        [x.transpose(0, 1), w.unsqueeze(0), u.unsqueeze(0), torch.cat(biases).unsqueeze(0)],
        {"hidden_size": size, **attributes},
        dtype=x.dtype,
        shape=(length, 1, rows, size),
    )
    return states.squeeze(1).transpose(0, 1)  # (L, 1, N, H) -> (N, L, H)
