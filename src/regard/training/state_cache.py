"""Cached states of the top level, for phases in which nothing below them is trained.

One table holds the states of all training texts, text after text; row 0 is padding. A batch of row numbers has the form of
a batch of word ids, so it is padded, shuffled and captured in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from regard.data.collate import collate, in_order
from regard.data.padding import owners
from regard.data.stored_texts import costs
from regard.data.tokenizer import Indexed
from regard.models.classifier import Classifier
from regard.models.trained import BATCH, READ, to_device
from regard.values import Batch

MAX_BYTES = {"cpu": 2 << 30, "cuda": 16 << 30}  # on a GPU at most a quarter of its memory


class StateCache:
    """Filled again, the table keeps its address, so that CUDA graphs that read it remain valid."""

    def __init__(self, texts: Sequence[Indexed], levels: int):
        self.lengths = costs(texts)[:, 0 if levels > 1 else 1].astype(np.int64)
        self.firsts = 1 + np.cumsum(self.lengths) - self.lengths  # the first row of each text
        self.table: Tensor | None = None

    def fill(self, model: Classifier, texts: Sequence[Indexed], bf16: bool = False) -> bool:
        """Compute the states of all texts in evaluation mode. Returns False if they take too much memory."""
        device = model.embedding.weight.device
        model.eval()
        for rows in in_order(texts, READ.get(device.type, BATCH)):
            batch = to_device(collate([texts[row] for row in rows], len(model.levels)), device)
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=bf16):
                top = model.read(batch)[-1]
            states = top.states
            if self.table is None:
                if not self.fits(states):
                    return False
                self.table = states.new_zeros(self.size, states.size(-1))
            table_rows = torch.from_numpy(self.table_rows(rows)).to(device)
            self.table[table_rows] = states[top.mask]
        return True

    @property
    def size(self) -> int:
        return 1 + int(self.lengths.sum())

    def fits(self, states: Tensor) -> bool:
        most = MAX_BYTES.get(states.device.type, 0)
        if states.is_cuda:  # not a share of the free memory: a run must not depend on other processes
            most = min(most, torch.cuda.get_device_properties(states.device).total_memory // 4)
        return self.size * states.size(-1) * states.element_size() <= most

    def table_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the table with the states of these texts, text after text."""
        text, offset = owners(self.lengths[rows])
        return self.firsts[rows][text] + offset

    def batch(
        self, rows: NDArray[np.int64], labels: NDArray[np.float64], weights: NDArray[np.float32] | None = None
    ) -> Batch:
        """A batch of these texts, with rows of the table as ids."""
        text, offset = owners(self.lengths[rows])
        ids = np.zeros((len(rows), max(int(self.lengths[rows].max()), 1)), dtype=np.int64)
        ids[text, offset] = self.firsts[rows][text] + offset
        return Batch(
            torch.from_numpy(ids),
            torch.from_numpy(ids > 0),
            torch.from_numpy(labels),
            weights=None if weights is None else torch.from_numpy(weights),
        )

    def look_up(self, rows: Tensor) -> Tensor:
        """(B, L) -> (B, L, D), zeros on padding"""
        assert self.table is not None
        return functional.embedding(rows, self.table)
