"""MPNet without the two places of its `forward` that wait for a GPU, so that its training steps can be captured as graphs.

It looks at the values of a plain mask, and some versions compute relative positions on the CPU.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor


def mpnet_states(model: Any, rows: Tensor, real: Tensor) -> Tensor:
    """The states of embedded pieces.  (N, T, E), (N, T) -> (N, T, D)"""
    embedded = model.embeddings(inputs_embeds=rows)
    added = torch.zeros_like(real, dtype=embedded.dtype).masked_fill(~real, torch.finfo(embedded.dtype).min)
    with embedded.device if embedded.is_cuda else nullcontext():  # where tensors without a device are created
        output = model.encoder(embedded, attention_mask=added[:, None, None, :], return_dict=True)
    states: Tensor = output.last_hidden_state
    return states
