"""A pretrained transformer over word pieces (Devlin et al. 2019, and its family).

This module adds the special tokens of the model, [CLS] … [SEP], and removes them again: the states are those of real pieces,
and the state of [CLS] is the summary. A text longer than the model's window is split into as few windows as possible, all
of the same length (the last may be shorter), each with its own special tokens; their states are concatenated, and the
summary is the mean of theirs. Nothing is truncated. The split depends only on the length of the text, not on its batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.encoders.mpnet import mpnet_states
from regard.encoders.pretrained import FAMILY, Pretrained, build_from_config, positions, read_pretrained
from regard.errors import InputError
from regard.kernels.rows import take
from regard.kernels.stacking import is_stacked
from regard.masking import fill
from regard.values import Encoded


class BERT(Encoder):
    """`model` reads embedded pieces and has no embedding table; `before` and `after` are the vectors of the special tokens."""

    summarises: ClassVar[bool] = True

    def __init__(
        self,
        model: nn.Module,
        before: Tensor,  # (specials, E)
        after: Tensor,
        longest: int | None = None,  # most pieces per window, if the tokenizer allows fewer than the model
        window: int | None = None,
        frozen_layers: int = 0,
    ):
        super().__init__()
        config: Any = model.config
        limit = positions(model) - len(before) - len(after)
        longest = limit if longest is None else min(longest, limit)
        if window is not None and window > longest:
            raise InputError(
                f"window: expected at most {longest}, the pieces that the pretrained model can read together, got {window}"
            )
        self.dim, self.width, self.window = int(config.hidden_size), before.size(1), window or longest
        self.model = model
        self.before, self.after = nn.Parameter(before.clone()), nn.Parameter(after.clone())
        # for a plain mask, transformers inspects its values first, which synchronises with the CPU
        self.full_mask = FAMILY[config.model_type] and config._attn_implementation == "sdpa"
        self.is_mpnet = config.model_type == "mpnet"
        if frozen_layers:
            self.freeze(frozen_layers)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        """Load the model that `pretrained` names, which also determines the width."""
        assert config.pretrained is not None  # the config requires it
        return cls.from_pretrained(read_pretrained(config.pretrained), config)

    @classmethod
    def from_pretrained(cls, pretrained: Pretrained, config: Model) -> Self:
        """With a copy of the weights; the original is not changed by training."""
        before, after = pretrained.table[list(pretrained.before)], pretrained.table[list(pretrained.after)]
        return cls(deepcopy(pretrained.model), before, after, pretrained.longest, config.window, config.frozen_layers)

    @classmethod
    def from_saved(cls, encoder_config: Mapping[str, Any], before: Tensor, after: Tensor, config: Model) -> Self:
        """For a saved run, whose weights are loaded next."""
        return cls(build_from_config(encoder_config), before, after, None, config.window, config.frozen_layers)

    def freeze(self, count: int) -> None:
        """Freeze the embeddings and the lowest `count` layers, without dropout, so that they behave as at prediction."""
        config: Any = self.model.config
        lists = [part for part in self.model.modules() if isinstance(part, nn.ModuleList)]
        layers = next((part for part in lists if len(part) == config.num_hidden_layers), None)
        if layers is None or count > len(layers):
            allowed = "0, because its layers share their weights" if layers is None else f"at most {len(layers)}"
            raise InputError(f"frozen_layers = {count}: too many for the pretrained model, expected {allowed}")
        embeddings = [part for name, part in self.model.named_children() if name.startswith("embeddings")]
        for part in (*embeddings, *layers[:count]):
            part.requires_grad_(False)
            for inner in part.modules():
                if isinstance(inner, nn.Dropout):
                    inner.p = 0.0
        self.before.requires_grad_(False)
        self.after.requires_grad_(False)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        count, length, _ = embedded.shape
        lengths = mask.sum(1, keepdim=True)  # (N, 1)
        if length <= self.window:
            states, summary = self.read(fill(embedded, mask), lengths)
            return Encoded(fill(states, mask), fill(summary, mask.any(1)))
        size = window_lengths(lengths, self.window)  # (N, 1)
        number = -(-length // self.window)  # windows of the longest possible row
        window_source, row_source = window_indices(lengths, size, length, number, self.window)
        windows = take(embedded.flatten(0, 1), window_source, row_source).view(count * number, self.window, -1)
        starts = torch.arange(number, device=mask.device) * size  # (N, K)
        piece_counts = (lengths - starts).clamp(min=0).minimum(size)  # (N, K) pieces per window
        states, summaries = self.read(windows, piece_counts.view(-1, 1))
        states = take(states.flatten(0, 1), row_source, window_source).view(count, length, -1)
        summaries = fill(summaries.view(count, number, -1), piece_counts > 0)
        summary = summaries.sum(1) / (piece_counts > 0).sum(1, keepdim=True).clamp(min=1)
        return Encoded(states, summary)

    def read(self, pieces: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Read rows that fit into the window, with special tokens.  (N, L, E), (N, 1) -> states (N, L, D), summaries (N, D)"""
        count, length, _ = pieces.shape
        first, last = len(self.before), len(self.after)
        rows = torch.cat((self.before.expand(count, -1, -1), pieces, self.after.expand(count, -1, -1)), 1)  # (N, T, E)
        indices = torch.arange(first + length + last, device=pieces.device)
        for number in range(last):  # right after the last piece of each row
            is_special = indices == lengths + first + number  # (N, T)
            rows = torch.where(is_special.unsqueeze(-1), self.after[number], rows)
        real = indices < lengths + first + last  # (N, T)
        with attention_backend(rows):
            states = mpnet_states(self.model, rows, real) if self.is_mpnet else self.states(rows, real)  # (N, T, D)
        return states[:, first : first + length], states[:, 0]

    def states(self, rows: Tensor, real: Tensor) -> Tensor:
        visible = real[:, None, None, :].expand(-1, 1, rows.size(1), -1) if self.full_mask else real.long()
        output = self.model(inputs_embeds=rows, attention_mask=visible, return_dict=True)  # regardless of its config
        result: Tensor = output.last_hidden_state
        return result


def attention_backend(rows: Tensor) -> AbstractContextManager[Any]:
    """Plain matrix products where fused attention is unsuitable: it has no batching rule for stacked seeds, and on CUDA
    its backward pass sums in no fixed order, so that a seed would not reproduce its weights."""
    repeatable = rows.is_cuda and torch.is_grad_enabled() and torch.are_deterministic_algorithms_enabled()
    return sdpa_kernel(SDPBackend.MATH) if repeatable or is_stacked(rows) else nullcontext()


def window_lengths(lengths: Tensor, window: int) -> Tensor:
    """The length of each row's windows: as few windows as possible, all of the same length."""
    windows = ((lengths + window - 1) // window).clamp(min=1)
    return (lengths + windows - 1) // windows


def window_indices(lengths: Tensor, size: Tensor, length: int, number: int, window: int) -> tuple[Tensor, Tensor]:
    """Indices that gather windows from the flattened rows, and rows from the flattened windows; one past the end where
    there is no source.  (N, 1), (N, 1) -> (N·K·window,), (N·L,)"""
    rows = torch.arange(len(lengths), device=lengths.device).unsqueeze(1)  # (N, 1)
    position = torch.arange(number * window, device=lengths.device)
    source = position // window * size + position % window  # (N, K·window)
    real = (position % window < size) & (source < lengths)
    window_source = torch.where(real, rows * length + source, len(lengths) * length).flatten()
    position = torch.arange(length, device=lengths.device)
    step = size.clamp(min=1)
    target = rows * number * window + position // step * window + position % step  # (N, L)
    row_source = torch.where(position < lengths, target, len(lengths) * number * window).flatten()
    return window_source, row_source
