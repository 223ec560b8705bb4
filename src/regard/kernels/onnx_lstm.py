"""An LSTM as one node of an ONNX graph.

What `torch.export` makes of `nn.LSTM` is bound to the length of the texts that it was traced with (PyTorch 2.13); ONNX's own
operator takes any length. Only used while a model is exported.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def onnx_lstm(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """`weights` as `nn.LSTM` names them: input, hidden, and a bias of each.  (N, L, E) -> (N, L, H)"""

    def reordered(weight: Tensor) -> Tensor:
        size = len(weight) // 4
        i, f, g, o = (weight[gate * size : (gate + 1) * size] for gate in range(4))  # chunk() would stay in the graph
        return torch.cat((i, o, f, g))  # the order of the gates in ONNX

    w, u, *biases = map(reordered, weights)
    rows, length, _ = x.shape
    size = u.size(1)
    states: Tensor = torch.onnx.ops.symbolic(
        "LSTM",
        [x.transpose(0, 1), w.unsqueeze(0), u.unsqueeze(0), torch.cat(biases).unsqueeze(0)],
        {"hidden_size": size},
        dtype=x.dtype,
        shape=(length, 1, rows, size),
    )
    return states.squeeze(1).transpose(0, 1)  # (L, 1, N, H) -> (N, L, H)
