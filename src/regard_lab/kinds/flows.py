"""The kind "flow": what "scores" does, and what would push the finished model's scores on (Sun & Lu §4, supplement B).

π and ρ by type of token, the terms A to F, whether they have the signs that the paper gives them, how far their sum is from
autograd's derivative; on made-up texts, where tokens come in mirror images, also the inequalities (48)–(55).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.flat import AFFINE, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY
from regard_lab.kinds import patterns, scores
from regard_lab.kinds.patterns import mean_of
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    from torch import Tensor

    from regard.analysis.gradient_flow import Flow, Pulls
    from regard.analysis.token_types import TokenTypes
    from regard.models.trained import Trained
    from regard_lab.kinds.scores import Seen
    from regard_lab.tables.table import Cell


Floats = NDArray[np.float64]
SAMPLE = 200  # texts on which terms are held against autograd
SIDED, RAISING = ("B", "C"), ("E", "F")  # terms with the sign of a token's class; terms above 0 for tokens of a class
INEQUALITIES = tuple(str(number) for number in range(48, 56))
MIRRORED = re.compile(r"p(\d+)")  # whose mirror image is n7 for p7: `data/synthetic`

KEYS: Options = {"terms": bool}  # whether rows keep the terms along training, for figures
MEASURES: dict[str, Measure] = {
    **patterns.MEASURES,
    **{f"pi_{name}": Measure(f"π, {name}", 1, 3) for name in patterns.TYPES},
    **{f"rho_{name}": Measure(f"ρ, {name}", 1, 3) for name in patterns.TYPES},
    **{
        f"term_{term}_{name}": Measure(f"{term}, {name}, × 10⁻³", 1e3, 3)
        for term in "ABCDEF"
        for name in patterns.TYPES
    },
    "share_pi": Measure("% tokens, π of its class's sign", 100, 1, 1),
    "share_rho": Measure("% tokens, ρ > 0", 100, 1, 1),
    **{f"share_{term}": Measure(f"% tokens, {term} of its class's sign", 100, 1, 1) for term in SIDED},
    **{f"share_{term}": Measure(f"% tokens, {term} > 0", 100, 1, 1) for term in RAISING},
    "neutral_pi": Measure("π: neutral beside the others", 1, 3, -1),
    "neutral_rho": Measure("ρ: neutral beside the others", 1, 3, -1),
    **{f"neutral_{term}": Measure(f"{term}: neutral beside the others", 1, 3, -1) for term in (*SIDED, *RAISING)},
    "a_share": Measure("|A| beside |B + C|", 1, 4),
    "d_share": Measure("|D| beside |E + F|", 1, 3),
    "difference": Measure("difference from autograd, × 10⁻¹²", 1e12, 3, -1),
    "first_order": Measure("da/dτ by tanh(x) ≈ x off by", 1, 3, -1),
    **{f"holds_{number}": Measure(f"% cases, ({number})", 100, 1, 1) for number in INEQUALITIES},
}


def check(cell: Cell) -> None:
    from regard.models.flat import is_flat

    scores.check(cell)
    model = Config().override(cell.options).model
    if not is_flat(model):
        raise InputError(f"{cell.name}: encoder = {model.encoder!r}; gradient flow is that of embedding and affine")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    yield from scores.trained_and_seen(cell, seeds, context, further=pushed)


def pushed(trained: Trained, seen: Seen) -> dict[str, float]:
    from regard.analysis.gradient_flow import first_order, flow, gap, pulls
    from regard.models.flat import PROJECT

    given = trained.weights, float(trained.config.model.filled().scale), seen.units, trained.task.kind
    pulled, terms = pulls(*given), flow(*given)
    found = of_pulls(seen.types, seen.names, pulled) | of_terms(seen.types, seen.names, terms)
    found["difference"] = largest_difference(*given)
    if PROJECT in trained.weights:
        found["first_order"] = gap(terms, first_order(*given))
    found |= of_inequalities(trained, seen)
    return {name: value for name, value in found.items() if value == value}


def own_side(values: Floats, types: TokenTypes, k: int) -> Floats:
    """Of a class's tokens: above 0 where it is the class's side. Values (U,), or (U, K) one a class."""
    own: Floats = plain(values, types, k)
    return -own if k == 0 and values.ndim == 2 and values.shape[1] == 1 else own


def plain(values: Floats, types: TokenTypes, k: int) -> Floats:
    """Of a type's tokens as they are."""
    from regard.analysis.token_scores import of_type

    own: Floats = values[types.codes == k]
    return own if own.ndim == 1 else of_type(own, k)


def of_pulls(types: TokenTypes, names: Sequence[str], pulled: Pulls) -> dict[str, float]:
    found: dict[str, float] = {}
    for k, name in enumerate(names):
        found |= {f"pi_{name}": mean_of(plain(pulled.pi, types, k))}
        found |= {f"rho_{name}": mean_of(pulled.rho[types.codes == k])}
    found["share_pi"] = share_above(pulled.pi, types)
    found["share_rho"] = share_above(pulled.rho, types)
    found["neutral_pi"], found["neutral_rho"] = beside(pulled.pi, types), beside(pulled.rho, types)
    return found


def of_terms(types: TokenTypes, names: Sequence[str], terms: Flow) -> dict[str, float]:
    every = {**terms.polarity, **terms.attention}
    found = {
        f"term_{term}_{name}": mean_of(plain(every[term], types, k))
        for term in "ABCDEF"
        for k, name in enumerate(names)
    }
    found |= {f"share_{term}": share_above(every[term], types) for term in (*SIDED, *RAISING)}
    found |= {f"neutral_{term}": beside(every[term], types) for term in (*SIDED, *RAISING)}
    tied = types.tied
    found["a_share"] = float(np.abs(every["A"][tied]).mean() / np.abs((every["B"] + every["C"])[tied]).mean())
    found["d_share"] = float(np.abs(every["D"][tied]).mean() / np.abs((every["E"] + every["F"])[tied]).mean())
    return found


def share_above(values: Floats, types: TokenTypes) -> float:
    """Of all tokens of a class, those on the class's side."""
    every = [own_side(values, types, k) for k in range(len(types.names) - 1)]
    return float((np.concatenate(every) > 0).mean())


def beside(values: Floats, types: TokenTypes) -> float:
    """The mean size at neutral tokens over that at tokens of a class; NaN where there are none."""
    neutral, tied = (mean_of(abs(values[own]).ravel()) for own in (types.neutral, types.tied))
    return neutral / max(tied, 1e-300)


def of_inequalities(trained: Trained, seen: Seen) -> dict[str, float]:
    """Of made-up texts of two classes, whose tokens say which is whose mirror image."""
    from regard.analysis.dot_products import inequalities
    from regard.analysis.token_names import token_names

    places = {name: place for place, name in enumerate(token_names(trained.tokenizer))}
    mirrored = [name for name in places if MIRRORED.fullmatch(name) and f"n{name[1:]}" in places]
    if trained.task.kind != "binary" or len(mirrored) < len(seen.types.tied) / 4:
        return {}
    sides = (np.array([places[side + name[1:]] for name in mirrored]) for side in "pn")
    scale = float(trained.config.model.filled().scale)
    found = inequalities(trained.weights, scale, seen.units, "binary", *sides)
    return {f"holds_{number}": share for number, share in found.items()}


def largest_difference(state: Mapping[str, NDArray[Any]], scale: float, texts: UnitTexts, kind: str) -> float:
    """Between the sum of the terms and autograd's derivative, of all tokens on a sample of texts, over the largest one."""
    from regard.analysis.gradient_flow import flow
    from regard.analysis.tracked_tokens import select_texts

    chance = np.random.default_rng(0)
    filled = np.flatnonzero(np.diff(texts.offsets))
    sample = select_texts(texts, np.sort(chance.permutation(filled)[:SAMPLE]))
    terms = flow(state, scale, sample, kind)
    polarity, attention = moved(state, scale, sample, kind)
    return max(off(terms.polarity_total, polarity), off(terms.attention_total, attention))


def off(found: Floats, true: Floats) -> float:
    return float(np.abs(found - true).max() / max(np.abs(true).max(), 1e-300))


def moved(state: Mapping[str, NDArray[Any]], scale: float, texts: UnitTexts, kind: str) -> tuple[Floats, Floats]:
    """ds/dτ (U, K) and da/dτ (U,): derivatives of the scores in the direction of −∂ℓ/∂z."""
    import torch
    from torch.autograd.functional import jvp

    weights = {name: torch.tensor(np.asarray(value), dtype=torch.float64) for name, value in state.items()}
    lengths = torch.from_numpy(np.diff(texts.offsets))
    ids, counts = torch.from_numpy(texts.ids.astype(np.int64)), torch.from_numpy(texts.counts.astype(np.float64))
    whose = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    labels = torch.from_numpy(texts.labels.astype(np.float64))

    def scores(weights: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        states = weights[EMBEDDING] @ weights[AFFINE].T if AFFINE in weights else weights[EMBEDDING]
        keys = torch.tanh(states @ weights[PROJECT].T + weights[PROJECT_BIAS]) if PROJECT in weights else states
        return states @ weights[HEAD].T, keys @ weights[QUERY] / scale

    def loss(weights: dict[str, Tensor]) -> Tensor:
        polarity, attention = scores(weights)
        own = attention[ids]
        top = torch.full((len(lengths),), -torch.inf, dtype=torch.float64)
        top = top.scatter_reduce(0, whose, own.detach(), "amax")
        parts = counts * torch.exp(own - top[whose])
        total = torch.zeros(len(lengths), dtype=torch.float64).index_add(0, whose, parts)
        said = torch.zeros(len(lengths), polarity.shape[1], dtype=torch.float64)
        said = said.index_add(0, whose, parts[:, None] * polarity[ids]) / total[:, None]
        said = said + weights[HEAD_BIAS] if HEAD_BIAS in weights else said
        if kind == "multiclass":
            return torch.nn.functional.cross_entropy(said, labels.long())
        return torch.nn.functional.binary_cross_entropy_with_logits(said[:, 0], labels)

    for value in weights.values():
        value.requires_grad_()
    slopes = torch.autograd.grad(loss(weights), list(weights.values()))
    values = tuple(value.detach() for value in weights.values())

    def moving(*values: Tensor) -> tuple[Tensor, Tensor]:
        return scores(dict(zip(weights, values, strict=True)))

    _, change = jvp(moving, values, tuple(-slope for slope in slopes))
    return change[0].numpy(), change[1].numpy()
