"""A pretrained transformer over word pieces (Devlin et al. 2019, and its family).

Each text stands between the special tokens that the model knows, [CLS] … [SEP]; they are put there, and taken away again,
in here: the states are those of real pieces, and [CLS] leaves as the summary. A text longer than the model's window is cut
into as few windows as will do, all of one length (the last may be shorter), each between special tokens of its own; their
states are put back in order, and the summary is the mean of theirs. Nothing is left out. Where a text is cut follows from
its own length, so that its batch changes nothing.
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
from regard.encoders.pretrained import FAMILY, Pretrained, positions, read_pretrained, remade
from regard.errors import InputError
from regard.kernels.rows import take
from regard.kernels.stacking import is_stacked
from regard.masking import fill
from regard.values import Encoded


class BERT(Encoder):
    """`model` reads embedded pieces and has no table of its own; `before` and `after` are the special tokens' vectors."""

    summarises: ClassVar[bool] = True

    def __init__(
        self,
        model: nn.Module,
        before: Tensor,  # (specials, E)
        after: Tensor,
        longest: int | None = None,  # pieces that the model can read together, where the tokenizer says fewer than it
        window: int | None = None,
        frozen_layers: int = 0,
    ):
        super().__init__()
        config: Any = model.config
        room = positions(model) - len(before) - len(after)
        longest = room if longest is None else min(longest, room)
        if window is not None and window > longest:
            raise InputError(f"window = {window}: the pretrained model reads at most {longest} pieces together")
        self.dim, self.width, self.window = int(config.hidden_size), before.size(1), window or longest
        self.model = model
        self.before, self.after = nn.Parameter(before.clone()), nn.Parameter(after.clone())
        # what HF makes of a plain mask it first looks into, for which the CPU waits
        self.whole_mask = FAMILY[config.model_type] and config._attn_implementation == "sdpa"
        if frozen_layers:
            self.freeze(frozen_layers)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        """Read from where `pretrained` says; the width is the model's own."""
        assert config.pretrained is not None  # the config asks for it
        return cls.of(read_pretrained(config.pretrained), config)

    @classmethod
    def of(cls, given: Pretrained, config: Model) -> Self:
        """With weights of its own: what is given stays as it is."""
        before, after = given.table[list(given.before)], given.table[list(given.after)]
        return cls(deepcopy(given.model), before, after, given.longest, config.window, config.frozen_layers)

    @classmethod
    def again(cls, make: Mapping[str, Any], before: Tensor, after: Tensor, config: Model) -> Self:
        """Of a saved run; its weights are loaded next."""
        return cls(remade(make), before, after, None, config.window, config.frozen_layers)

    def freeze(self, count: int) -> None:
        """The lowest layers and all below them stay as they are, and drop nothing: they read as they will at prediction."""
        config: Any = self.model.config
        lists = [part for part in self.model.modules() if isinstance(part, nn.ModuleList)]
        layers = next((part for part in lists if len(part) == config.num_hidden_layers), None)
        if layers is None or count > len(layers):
            told = "whose layers share their weights" if layers is None else f"which has {len(layers)} layers"
            raise InputError(f"frozen_layers = {count}: too many for the pretrained model, {told}")
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
        size = equal_parts(lengths, self.window)  # (N, 1)
        number = -(-length // self.window)  # windows of the longest row that there could be
        there, back = ways(lengths, size, length, number, self.window)
        windows = take(embedded.flatten(0, 1), there, back).view(count * number, self.window, -1)
        starts = torch.arange(number, device=mask.device) * size  # (N, K)
        own = (lengths - starts).clamp(min=0).minimum(size)  # (N, K) the pieces of each window
        states, summaries = self.read(windows, own.view(-1, 1))
        states = take(states.flatten(0, 1), back, there).view(count, length, -1)
        summaries = fill(summaries.view(count, number, -1), own > 0)
        summary = summaries.sum(1) / (own > 0).sum(1, keepdim=True).clamp(min=1)
        return Encoded(states, summary)

    def read(self, pieces: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Rows that fit the window, between special tokens: (N, L, E), (N, 1) -> states (N, L, D), summaries (N, D)"""
        count, length, _ = pieces.shape
        first, last = len(self.before), len(self.after)
        rows = torch.cat((self.before.expand(count, -1, -1), pieces, self.after.expand(count, -1, -1)), 1)  # (N, T, E)
        places = torch.arange(first + length + last, device=pieces.device)
        for number in range(last):  # right behind the last piece of each row
            here = places == lengths + first + number  # (N, T)
            rows = torch.where(here.unsqueeze(-1), self.after[number], rows)
        real = places < lengths + first + last  # (N, T)
        seen = real[:, None, None, :].expand(-1, 1, len(places), -1) if self.whole_mask else real.long()
        with products(rows):
            output = self.model(inputs_embeds=rows, attention_mask=seen, return_dict=True)  # whatever its config says
        states: Tensor = output.last_hidden_state  # (N, T, D)
        return states[:, first : first + length], states[:, 0]


def products(rows: Tensor) -> AbstractContextManager[Any]:
    """Attention by plain products where fused kernels don't do: they know no axis of stacked seeds, and on CUDA their way
    back adds up in whatever order is quickest, so that a seed would not give the same weights again."""
    repeatable = rows.is_cuda and torch.is_grad_enabled() and torch.are_deterministic_algorithms_enabled()
    return sdpa_kernel(SDPBackend.MATH) if repeatable or is_stacked(rows) else nullcontext()


def equal_parts(lengths: Tensor, most: int) -> Tensor:
    """How long the windows of each row are: as few as will do, all of one length."""
    windows = ((lengths + most - 1) // most).clamp(min=1)
    return (lengths + windows - 1) // windows


def ways(lengths: Tensor, size: Tensor, length: int, number: int, window: int) -> tuple[Tensor, Tensor]:
    """Where each place of each window comes from, among the places of all rows one after the other, and where each of these
    goes; their number where there is none.  (N, 1), (N, 1) -> (N·K·window,), (N·L,)"""
    rows = torch.arange(len(lengths), device=lengths.device).unsqueeze(1)  # (N, 1)
    place = torch.arange(number * window, device=lengths.device)
    source = place // window * size + place % window  # (N, K·window)
    real = (place % window < size) & (source < lengths)
    there = torch.where(real, rows * length + source, len(lengths) * length).flatten()
    place = torch.arange(length, device=lengths.device)
    step = size.clamp(min=1)
    goal = rows * number * window + place // step * window + place % step  # (N, L)
    back = torch.where(place < lengths, goal, len(lengths) * number * window).flatten()
    return there, back
