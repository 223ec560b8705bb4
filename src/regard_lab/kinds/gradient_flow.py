"""The kind "flow": the measures of "scores" and the gradient flow of a trained model's scores (Sun & Lu §4, supplement B).

π and ρ by type of token, the terms A to F, whether they have the signs stated in the paper, and the difference of their sum
from autograd's derivative; on synthetic texts, whose tokens have mirror images, also the inequalities (48)–(55).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.flat import AFFINE, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY
from regard_lab.kinds import patterns, scores
from regard_lab.kinds.patterns import mean_of
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import single_model

if TYPE_CHECKING:
    from torch import Tensor

    from regard.analysis.gradient_flow import Flow, Pulls
    from regard.analysis.token_types import TokenTypes
    from regard.models.trained import Trained
    from regard_lab.kinds.scores import TypedTexts
    from regard_lab.tables.table import Cell


Floats = NDArray[np.float64]
SAMPLE = 200  # texts on which the terms are compared with autograd
SIDED, RAISING = ("B", "C"), ("E", "F")  # terms with the sign of a token's class; terms above 0 for tokens of a class
INEQUALITIES = tuple(str(number) for number in range(48, 56))
MIRRORED = re.compile(r"p(\d+)")  # the mirror image of p7 is n7: `data/synthetic`

KEYS: Options = {"terms": bool}  # whether rows contain the terms during training, for figures
MEASURES: dict[str, Measure] = {
    **patterns.MEASURES,
    **{f"pi_{name}": Measure(f"π, {name}", 1, 3) for name in patterns.TYPES},
    **{f"rho_{name}": Measure(f"ρ, {name}", 1, 3) for name in patterns.TYPES},
    **{
        f"term_{term}_{name}": Measure(f"{term}, {name}, × 10⁻³", 1e3, 3)
        for term in "ABCDEF"
        for name in patterns.TYPES
    },
    "share_pi": Measure("% tokens, π with the sign of the class", 100, 1, 1),
    "share_rho": Measure("% tokens, ρ > 0", 100, 1, 1),
    **{f"share_{term}": Measure(f"% tokens, {term} with the sign of the class", 100, 1, 1) for term in SIDED},
    **{f"share_{term}": Measure(f"% tokens, {term} > 0", 100, 1, 1) for term in RAISING},
    "neutral_pi": Measure("π: neutral / other tokens", 1, 3, -1),
    "neutral_rho": Measure("ρ: neutral / other tokens", 1, 3, -1),
    **{f"neutral_{term}": Measure(f"{term}: neutral / other tokens", 1, 3, -1) for term in (*SIDED, *RAISING)},
    "a_share": Measure("|A| / |B + C|", 1, 4),
    "d_share": Measure("|D| / |E + F|", 1, 3),
    "difference": Measure("difference from autograd, × 10⁻¹²", 1e12, 3, -1),
    "first_order": Measure("relative error of da/dτ with tanh(x) ≈ x", 1, 3, -1),
    **{f"holds_{number}": Measure(f"% cases, ({number})", 100, 1, 1) for number in INEQUALITIES},
}


def check(cell: Cell) -> None:
    from regard.models.flat import is_flat

    scores.check(cell)
    model = single_model(cell.options).model
    if not is_flat(model):
        raise InputError(
            f"{cell.name}: encoder: expected 'embedding' or 'affine' for gradient flow, got {model.encoder!r}"
        )


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    yield from scores.train_and_measure(cell, seeds, context, more_measures=flow_measures)


def flow_measures(trained: Trained, texts: TypedTexts) -> dict[str, float]:
    from regard.analysis.gradient_flow import first_order, flow, gap, pulls
    from regard.models.flat import PROJECT

    arguments = trained.weights, float(trained.config.model.filled().scale), texts.units, trained.task.kind
    pulled, terms = pulls(*arguments), flow(*arguments)
    values = pull_measures(texts.types, texts.names, pulled) | term_measures(texts.types, texts.names, terms)
    values["difference"] = largest_difference(*arguments)
    if PROJECT in trained.weights:
        values["first_order"] = gap(terms, first_order(*arguments))
    values |= inequality_measures(trained, texts)
    return {name: value for name, value in values.items() if value == value}


def towards_class(values: Floats, types: TokenTypes, k: int) -> Floats:
    """Values of a class's tokens, with the sign such that positive means towards the class. Values (U,), or (U, K) per class."""
    chosen: Floats = of_type_tokens(values, types, k)
    return -chosen if k == 0 and values.ndim == 2 and values.shape[1] == 1 else chosen


def of_type_tokens(values: Floats, types: TokenTypes, k: int) -> Floats:
    """Values of a type's tokens."""
    from regard.analysis.token_scores import of_type

    chosen: Floats = values[types.codes == k]
    return chosen if chosen.ndim == 1 else of_type(chosen, k)


def pull_measures(types: TokenTypes, names: Sequence[str], pulled: Pulls) -> dict[str, float]:
    measures: dict[str, float] = {}
    for k, name in enumerate(names):
        measures |= {f"pi_{name}": mean_of(of_type_tokens(pulled.pi, types, k))}
        measures |= {f"rho_{name}": mean_of(pulled.rho[types.codes == k])}
    measures["share_pi"] = share_above(pulled.pi, types)
    measures["share_rho"] = share_above(pulled.rho, types)
    measures["neutral_pi"], measures["neutral_rho"] = neutral_ratio(pulled.pi, types), neutral_ratio(pulled.rho, types)
    return measures


def term_measures(types: TokenTypes, names: Sequence[str], terms: Flow) -> dict[str, float]:
    every = {**terms.polarity, **terms.attention}
    measures = {
        f"term_{term}_{name}": mean_of(of_type_tokens(every[term], types, k))
        for term in "ABCDEF"
        for k, name in enumerate(names)
    }
    measures |= {f"share_{term}": share_above(every[term], types) for term in (*SIDED, *RAISING)}
    measures |= {f"neutral_{term}": neutral_ratio(every[term], types) for term in (*SIDED, *RAISING)}
    tied = types.tied
    measures["a_share"] = float(np.abs(every["A"][tied]).mean() / np.abs((every["B"] + every["C"])[tied]).mean())
    measures["d_share"] = float(np.abs(every["D"][tied]).mean() / np.abs((every["E"] + every["F"])[tied]).mean())
    return measures


def share_above(values: Floats, types: TokenTypes) -> float:
    """The share of the tokens of any class whose value has the sign of that class."""
    every = [towards_class(values, types, k) for k in range(len(types.names) - 1)]
    return float((np.concatenate(every) > 0).mean())


def neutral_ratio(values: Floats, types: TokenTypes) -> float:
    """The mean magnitude at neutral tokens divided by that at tokens of a class; NaN without neutral tokens."""
    neutral, tied = (mean_of(abs(values[tokens]).ravel()) for tokens in (types.neutral, types.tied))
    return neutral / max(tied, 1e-300)


def inequality_measures(trained: Trained, texts: TypedTexts) -> dict[str, float]:
    """For synthetic texts of two classes, where the names of tokens show which are mirror images."""
    from regard.analysis.dot_products import inequalities
    from regard.analysis.token_names import token_names

    ids = {name: index for index, name in enumerate(token_names(trained.tokenizer))}
    mirrored = [name for name in ids if MIRRORED.fullmatch(name) and f"n{name[1:]}" in ids]
    if trained.task.kind != "binary" or len(mirrored) < len(texts.types.tied) / 4:
        return {}
    sides = (np.array([ids[side + name[1:]] for name in mirrored]) for side in "pn")
    scale = float(trained.config.model.filled().scale)
    shares = inequalities(trained.weights, scale, texts.units, "binary", *sides)
    return {f"holds_{number}": share for number, share in shares.items()}


def largest_difference(state: Mapping[str, NDArray[Any]], scale: float, texts: UnitTexts, kind: str) -> float:
    """The largest difference between the sum of the terms and autograd's derivative, relative to the largest derivative."""
    from regard.analysis.gradient_flow import flow
    from regard.analysis.tracked_tokens import select_texts

    rng = np.random.default_rng(0)
    nonempty = np.flatnonzero(np.diff(texts.offsets))
    sample = select_texts(texts, np.sort(rng.permutation(nonempty)[:SAMPLE]))
    terms = flow(state, scale, sample, kind)
    polarity, attention = autograd_flow(state, scale, sample, kind)
    return max(relative_error(terms.polarity_total, polarity), relative_error(terms.attention_total, attention))


def relative_error(values: Floats, expected: Floats) -> float:
    return float(np.abs(values - expected).max() / max(np.abs(expected).max(), 1e-300))


def autograd_flow(
    state: Mapping[str, NDArray[Any]], scale: float, texts: UnitTexts, kind: str
) -> tuple[Floats, Floats]:
    """ds/dτ (U, K) and da/dτ (U,): derivatives of the scores in the direction of −∂ℓ/∂z."""
    import torch
    from torch.autograd.functional import jvp

    weights = {name: torch.tensor(np.asarray(value), dtype=torch.float64) for name, value in state.items()}
    lengths = torch.from_numpy(np.diff(texts.offsets))
    ids, counts = torch.from_numpy(texts.ids.astype(np.int64)), torch.from_numpy(texts.counts.astype(np.float64))
    text_of = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    labels = torch.from_numpy(texts.labels.astype(np.float64))

    def scores(weights: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        states = weights[EMBEDDING] @ weights[AFFINE].T if AFFINE in weights else weights[EMBEDDING]
        keys = torch.tanh(states @ weights[PROJECT].T + weights[PROJECT_BIAS]) if PROJECT in weights else states
        return states @ weights[HEAD].T, keys @ weights[QUERY] / scale

    def loss(weights: dict[str, Tensor]) -> Tensor:
        polarity, attention = scores(weights)
        occurring = attention[ids]
        top = torch.full((len(lengths),), -torch.inf, dtype=torch.float64)
        top = top.scatter_reduce(0, text_of, occurring.detach(), "amax")
        parts = counts * torch.exp(occurring - top[text_of])
        total = torch.zeros(len(lengths), dtype=torch.float64).index_add(0, text_of, parts)
        logits = torch.zeros(len(lengths), polarity.shape[1], dtype=torch.float64)
        logits = logits.index_add(0, text_of, parts[:, None] * polarity[ids]) / total[:, None]
        logits = logits + weights[HEAD_BIAS] if HEAD_BIAS in weights else logits
        if kind == "multiclass":
            return torch.nn.functional.cross_entropy(logits, labels.long())
        return torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], labels)

    for value in weights.values():
        value.requires_grad_()
    gradients = torch.autograd.grad(loss(weights), list(weights.values()))
    values = tuple(value.detach() for value in weights.values())

    def scores_at(*values: Tensor) -> tuple[Tensor, Tensor]:
        return scores(dict(zip(weights, values, strict=True)))

    _, change = jvp(scores_at, values, tuple(-gradient for gradient in gradients))
    return change[0].numpy(), change[1].numpy()
