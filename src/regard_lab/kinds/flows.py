"""The kind "flow": what "scores" does, and what would push the finished model's scores on (Sun & Lu §4, supplement B).

π and ρ by type of token, the terms A to F, whether they have the signs that the paper gives them, how far their sum is from
autograd's derivative; on made-up texts, where tokens come in mirror images, also the inequalities (48)–(55).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.recording import Recorder
from regard_lab.kinds import scores
from regard_lab.kinds.patterns import mean_of
from regard_lab.measures import Measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.analysis.gradient_flow import Flow, Pulls
    from regard.analysis.token_types import TokenTypes
    from regard.models.trained import Trained
    from regard_lab.kinds.scores import Seen
    from regard_lab.tables.table import Cell

    Floats = NDArray[np.float64]

SIDED, RAISING = ("B", "C"), ("E", "F")  # terms with the sign of a token's class; terms above 0 for tokens of a class
INEQUALITIES = tuple(str(number) for number in range(48, 56))
MIRRORED = re.compile(r"p(\d+)")  # whose mirror image is n7 for p7: `data/synthetic`

KEYS: Mapping[str, Any] = {"terms": bool}  # whether rows keep the terms along training, for figures
MEASURES: dict[str, Measure] = {
    **scores.MEASURES,
    **{f"pi_{name}": Measure(f"π, {name}", 1, 3) for name in scores.TYPES},
    **{f"rho_{name}": Measure(f"ρ, {name}", 1, 3) for name in scores.TYPES},
    **{f"term_{term}_{name}": Measure(f"{term}, {name}, × 10⁻³", 1e3, 3) for term in "ABCDEF" for name in scores.TYPES},
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


def run(cell: Cell, seeds: Sequence[int], device: str, recorder: Recorder) -> Iterator[dict[str, Any]]:
    from regard_lab.tables.corpora import prepare

    yield from scores.trained_and_seen(
        cell, prepare(cell.corpus, cell.options), seeds, device, recorder, further=pushed
    )


def pushed(trained: Trained, seen: Seen) -> dict[str, float]:
    from regard.analysis.gradient_flow import first_order, flow, gap, pulls
    from regard.models.flat import PROJECT
    from regard_lab.kinds.flow_check import largest_difference

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
    import numpy as np

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
    import numpy as np

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
    import numpy as np

    sides = (np.array([places[side + name[1:]] for name in mirrored]) for side in "pn")
    scale = float(trained.config.model.filled().scale)
    found = inequalities(trained.weights, scale, seen.units, "binary", *sides)
    return {f"holds_{number}": share for number, share in found.items()}
