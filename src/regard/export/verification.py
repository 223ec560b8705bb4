"""The comparison of an ONNX graph with the PyTorch model, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from regard.data.collate import collate, in_order
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.export.onnx_graph import CONTRIBUTIONS
from regard.export.samples import sample_texts
from regard.models.classifier import Classifier, Level
from regard.models.trained import Trained

if TYPE_CHECKING:
    from regard.values import Batch, Trace

LOGITS, WEIGHTS = 1e-5, 1e-5  # largest differences; those of logits above 1, and of contributions to them, are relative
TIE = 1e-5
BATCH = 16
LONGEST_LEFT_OUT = 40  # items of the texts whose contributions are compared: each item takes a pass of its own


@dataclass(frozen=True)
class Verified:
    """The largest differences between PyTorch and onnxruntime."""

    texts: int
    longest: int  # ids of the longest text
    logits: float
    weights: float
    contributions: float | None  # None if the graph has none
    ties: int  # rows whose weights were not compared: their largest states are equal up to rounding, which decides between them


def verify(trained: Trained, session: Any) -> Verified:
    texts = sample_texts(len(trained.tokenizer), trained.levels)
    logits, weights, contributions, ties = 0.0, 0.0, 0.0, 0
    names = [one.name for one in session.get_outputs()]
    model = trained.model.eval()
    for batch in read_batches(texts, trained.levels):
        with torch.inference_mode():
            expected = model(batch)
        results = dict(zip(names, run(session, batch), strict=True))
        logits = max(logits, difference(results["logits"], expected.logits.numpy(), relative=True))
        for level, trace, name in zip(model.levels, expected.traces, names[1:], strict=False):
            assert isinstance(level, Level)
            compared = ~tied_rows(trace) if level.pooling.has_ties else torch.ones_like(trace.mask[..., 0])
            ties += int((~compared).sum())
            gaps = difference(results[name][compared.numpy()], trace.pooled.weights[compared].numpy())
            weights = max(weights, gaps)
    if CONTRIBUTIONS in names:
        short = [text for text in texts if len(text.ids) <= LONGEST_LEFT_OUT]
        contributions = max(compare_contributions(model, session, names.index(CONTRIBUTIONS), text) for text in short)
    longest = max(len(text.ids) for text in texts)
    verified = Verified(len(texts), longest, logits, weights, contributions if CONTRIBUTIONS in names else None, ties)
    check(verified)
    return verified


def tied_rows(trace: Trace) -> Tensor:
    """Whether the two largest states of a row are equal up to rounding, in a feature that has weight.  (…, L, D) -> (…)"""
    lowered = trace.states.masked_fill(~trace.mask.unsqueeze(-1), torch.finfo(trace.states.dtype).min)
    if lowered.size(-2) < 2:
        return torch.zeros_like(trace.mask[..., 0])
    first, second = lowered.topk(2, dim=-2).values.unbind(-2)  # (…, D)
    tied = (first - second <= TIE * first.abs().clamp_min(1)) & (first > 0)
    no_height = ~(first > 0).any(-1)  # the number of wins counts instead, and zeros tie
    return (tied.any(-1) | no_height) & (trace.mask.sum(-1) > 1)


def read_batches(texts: Sequence[Indexed], levels: int) -> Iterator[Batch]:
    """Every text alone, and every text among others."""
    for text in texts:
        yield collate([text], levels)
    for rows in in_order(texts, BATCH):
        yield collate([texts[row] for row in rows], levels)


def compare_contributions(model: Classifier, session: Any, index: int, text: Indexed) -> float:
    """By leaving every item out of the text: a difference of two logits, whose rounding grows with them."""
    count = len(text.ids)
    if not count:
        return 0.0
    versions = [text, *(Indexed(np.delete(text.ids, item)) for item in range(count))]
    with torch.inference_mode():
        logits = model(collate(versions, 1)).logits.double().numpy()
    results = run(session, collate([text], 1))[index][0]
    return difference(results, logits[:1] - logits[1:]) / max(1.0, float(np.abs(logits).max()))


def run(session: Any, batch: Batch) -> list[np.ndarray]:
    results: list[np.ndarray] = session.run(None, {"ids": batch.ids.numpy(), "mask": batch.mask.numpy()})
    return results


def difference(actual: np.ndarray, expected: np.ndarray, relative: bool = False) -> float:
    gaps = np.abs(actual.astype(np.float64) - expected)
    if not np.isfinite(gaps).all():
        return float("inf")
    return float((gaps / np.maximum(np.abs(expected), 1) if relative else gaps).max(initial=0.0))


def check(verified: Verified) -> None:
    for name, value, limit in (
        ("logits", verified.logits, LOGITS),
        ("weights", verified.weights, WEIGHTS),
        ("contributions", verified.contributions or 0.0, LOGITS),
    ):
        if not value <= limit:
            raise InputError(
                f"its {name} in onnxruntime differ from PyTorch's by {value:.1e}, more than {limit:.0e}; nothing was written"
            )
