"""The top level's states of every training text, kept while nothing below them learns, instead of computed at every step.

One table holds the states of all texts one below the other; row 0 is padding's. A batch of places in it looks like a batch
of words, and is padded, shuffled and captured like one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from regard.data.collate import collate, in_order, owners
from regard.data.tokenizer import Indexed
from regard.models.classifier import Classifier
from regard.models.trained import BATCH, READ, to_device
from regard.values import Batch

MOST = {"cpu": 2 << 30, "cuda": 16 << 30}  # bytes that are kept at most; of a GPU's memory no more than a quarter


class States:
    """Filled again, it stays where it is in memory: what was captured over it goes on working."""

    def __init__(self, texts: Sequence[Indexed], levels: int):
        lengths = [len(text.shape[-1]) if levels > 1 else len(text.ids) for text in texts]
        self.lengths = np.array(lengths, dtype=np.int64)
        self.firsts = 1 + np.cumsum(self.lengths) - self.lengths  # the first row of each text
        self.table: Tensor | None = None

    def fill(self, model: Classifier, texts: Sequence[Indexed], bf16: bool = False) -> bool:
        """Read all texts as the model answers; whether there was room for their states."""
        device = model.embedding.weight.device
        model.eval()
        for rows in in_order(texts, READ.get(device.type, BATCH)):
            batch = to_device(collate([texts[row] for row in rows], len(model.levels)), device)
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=bf16):
                states, mask, _ = model.read(batch)[-1]
            if self.table is None:
                if not self.fits(states):
                    return False
                self.table = states.new_zeros(self.size, states.size(-1))
            places = torch.from_numpy(self.places(rows)).to(device)
            self.table[places] = states[mask]
        return True

    @property
    def size(self) -> int:
        return 1 + int(self.lengths.sum())

    def fits(self, states: Tensor) -> bool:
        most = MOST.get(states.device.type, 0)
        if states.is_cuda:  # not of what is free: a run must not depend on what else is going on
            most = min(most, torch.cuda.get_device_properties(states.device).total_memory // 4)
        return self.size * states.size(-1) * states.element_size() <= most

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the table that hold these texts, one text after the other."""
        text, place = owners(self.lengths[rows])
        return self.firsts[rows][text] + place

    def batch(self, rows: NDArray[np.int64], labels: NDArray[np.float64]) -> Batch:
        """These texts: as ids, the places of their states."""
        text, place = owners(self.lengths[rows])
        ids = np.zeros((len(rows), max(int(self.lengths[rows].max()), 1)), dtype=np.int64)
        ids[text, place] = self.firsts[rows][text] + place
        return Batch(torch.from_numpy(ids), torch.from_numpy(ids > 0), torch.from_numpy(labels))

    def at(self, places: Tensor) -> Tensor:
        """(B, L) -> (B, L, D), zeros on padding"""
        assert self.table is not None
        return functional.embedding(places, self.table)
