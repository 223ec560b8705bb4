"""A trained model as an ONNX graph: (ids, mask) -> (logits, weights of every level), for any number of texts of any length.

Inputs and outputs have one axis per level after that of the texts: words; sentences and words; parts, sentences and words.

    ids            int64, 0 on padding            (texts, …, words)
    mask           True on words                  (texts, …, words)
    logits         float32                        (texts, outputs)
    words          float32, weights               (texts, …, words); of each sentence's words, if there are sentences
    sentences      float32                        (texts, …, sentences)
    parts          float32                        (texts, parts)
    contributions  float32, of flat models        (texts, words, outputs): how far each logit falls without the item
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from regard.models.classifier import Classifier, Level
from regard.models.trained import Trained
from regard.runtime.onnx_model import LEVELS
from regard.values import Trace

if TYPE_CHECKING:
    from onnx import ModelProto

CONTRIBUTIONS = "contributions"


class ExportedModel(nn.Module):
    """The classifier without groups of rows of similar length, which depend on the data: padding is read and masked."""

    def __init__(self, model: Classifier, contributions: bool) -> None:
        super().__init__()
        self.model, self.contributions = model, contributions

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        x, weights = self.model.embedding(ids), []
        for level in self.model.levels:
            assert isinstance(level, Level)
            *lead, _ = mask.shape
            trace = level.read(x.flatten(0, -3), mask.flatten(0, -2))
            x = trace.pooled.vector.unflatten(0, lead)
            weights.append(trace.pooled.weights.unflatten(0, lead))
            mask = mask.any(-1)
        extra = [falls_without(trace, level.pooling, self.model.head)] if self.contributions else []
        return (self.model.head(x), *weights, *extra)


def falls_without(trace: Trace, pooling: Any, head: Any) -> Tensor:
    """For attention over items that do not see each other: how far each logit falls without each item.  -> (N, L, C)

    Σ_{i≠j} e^{a_i} s_i is the sum before j plus the sum after j: a difference from the whole sum would lose digits.
    """
    members = pooling.members
    all_scores = (
        pooling.member_scores(trace.states).double().masked_fill(~trace.mask.unsqueeze(-1), -torch.inf)
    )  # (N, L, M)
    falls = []
    for scores, states, weight in zip(
        all_scores.unbind(-1),
        trace.states.double().chunk(members, -1),
        head.weight.double().chunk(members, -1),
        strict=True,
    ):
        highest = scores.amax(1, keepdim=True).nan_to_num(neginf=0.0)
        powers = (scores - highest).exp().unsqueeze(-1)  # (N, L, 1)
        sums = torch.cat((powers * (states @ weight.mT), powers), -1)
        rest = before(sums) + before(sums.flip(1)).flip(1)
        whole = sums.sum(1, keepdim=True)  # (N, 1, C + 1)
        falls.append(mean(whole) - mean(rest))
    return fill_padding(torch.stack(falls).sum(0), trace.mask).float()


def before(values: Tensor) -> Tensor:
    """The sum of all items before each item."""
    return nn.functional.pad(values.cumsum(1), (0, 0, 1, 0))[:, :-1]


def mean(sums: Tensor) -> Tensor:
    """Of an empty text: 0, which leaves the bias of the head."""
    total = sums[..., -1:]
    return torch.where(total > 0, sums[..., :-1] / total.clamp_min(torch.finfo(total.dtype).tiny), 0.0)


def fill_padding(values: Tensor, mask: Tensor) -> Tensor:
    return values.masked_fill(~mask.unsqueeze(-1), 0)


def make_graph(trained: Trained) -> ModelProto:
    levels = trained.levels
    names = output_names(trained)
    # sizes differ from each other and from 1, so that none is taken for another or for a constant
    shape = (2, 5, 4, 7)[: levels + 1]
    ids = torch.randint(1, max(len(trained.tokenizer), 2), shape)
    mask = torch.ones(shape, dtype=torch.bool)
    mask[0, ..., -2:] = False
    axes = dict(enumerate(("texts", *reversed(LEVELS[:levels]))))
    model = ExportedModel(trained.model, CONTRIBUTIONS in names).eval()
    with quiet():
        program: Any = torch.onnx.export(
            model,
            (ids, mask),
            dynamo=True,
            input_names=["ids", "mask"],
            output_names=names,
            dynamic_shapes={"ids": axes, "mask": axes},
            external_data=False,
            optimize=False,  # its optimiser drops additions of small constants, such as those that keep a logarithm finite
            verbose=False,
        )
    graph: ModelProto = program.model_proto
    graph.producer_name, graph.doc_string = "regard", ""
    return graph


def output_names(trained: Trained) -> list[str]:
    return ["logits", *LEVELS[: trained.levels], *([CONTRIBUTIONS] if trained.is_flat else [])]


@contextmanager
def quiet() -> Iterator[None]:
    """The exporter reports its progress as warnings and log lines; what matters is the comparison afterwards."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
