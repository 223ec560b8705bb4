"""How training changes each token's polarity and attention score: gradient flow of a flat model (Sun & Lu §4, supplement D–F).

Training with small steps moves every weight by dz/dτ = −∂ℓ/∂z: the mean loss of all texts, no dropout, no penalty. With
g = −∂ℓ⁽ᵗ⁾/∂s (two classes yβ, K classes onehot(y) − p, a number 2(y − s)) the texts pull at a token by

    π(e) = Σ α g  ∈ R^K (16)          ρ(e) = Σ α (s_e − s)ᵀg (20)          over all occurrences of e

and the derivatives ds_e/dτ (19, 63, 82) and da_e/dτ (27, 64, 83; exact, unlike 71) are sums of these terms. v_e is
λ ∂a_e/∂h_e: V, or with additive attention Pᵀu_e (`flat_rows`); W' = MᵀW and v' = Mᵀv, or W and v without M.

    polarity        A         W'ᵀv'_e ρ(e) / mλ            its own vector moves along v'
                    B         W'ᵀW' π(e) / m               its own vector moves along W'
                    C         Σ_f π(f) (h_fᵀh_e) / m       W moves
                    A via M   Wᵀ Σ_f v_f ρ(f) (e_fᵀe) / mλ     M moves
                    B via M   WᵀW Σ_f π(f) (e_fᵀe) / m         M moves
    attention       D         v'_eᵀW' π(e) / mλ            its own vector moves along W'
                    E         ‖v'_e‖² ρ(e) / mλ²           its own vector moves along v'
                    F         Σ_f ρ(f) (k_fᵀk_e) / mλ²     V moves; k is h, or tanh(x)
                    D via M   v_eᵀW Σ_f π(f) (e_fᵀe) / mλ      M moves
                    E via M   v_eᵀ Σ_f v_f ρ(f) (e_fᵀe) / mλ²  M moves
                    E via P   u_eᵀ Σ_f u_f ρ(f) (h_fᵀh_e) / mλ²    P moves (additive attention)
                    E via b   u_eᵀ Σ_f u_f ρ(f) / mλ²              b moves (the paper has none)

Sums over f are products with a few columns, so the cost is linear in the texts' units and in the table: no matrix of tokens
by tokens is needed. With frozen embeddings, A, B, D and E are absent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.flat_rows import AnyState, Doubles, Numbers, Weights
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.kernels.pulls import pull
from regard.kernels.sparse_steps import KINDS
from regard.models.flat import PROJECT

ONE_LABEL = ("binary", "multiclass", "regression")  # tasks whose labels are one number per text


class Pulls(NamedTuple):
    """The pull of the texts on the scores of every unit."""

    pi: Doubles  # (U, K)
    rho: Doubles  # (U,)
    texts: int  # m
    loss: float  # the mean

    @property
    def seen(self) -> NDArray[np.int64]:
        """The units with a nonzero pull."""
        return np.flatnonzero(self.pi.any(1) | (self.rho != 0))


class Flow(NamedTuple):
    """Derivatives of the scores of the requested tokens, by term."""

    polarity: dict[str, Doubles]  # (U, K) each
    attention: dict[str, Doubles]  # (U,) each

    @property
    def polarity_total(self) -> Doubles:
        return np.asarray(sum(self.polarity.values()))

    @property
    def attention_total(self) -> Doubles:
        return np.asarray(sum(self.attention.values()))


def pulls(state: AnyState, scale: float, texts: UnitTexts, kind: str) -> Pulls:
    """π and ρ of every unit, 0 for units that do not occur in the texts."""
    return pulls_at(Weights.of(state, scale), texts, kind)


def flow(state: AnyState, scale: float, texts: UnitTexts, kind: str, units: Numbers | None = None) -> Flow:
    """The exact terms, for all units or for `units`."""
    weights = Weights.of(state, scale)
    return terms(weights, pulls_at(weights, texts, kind), units)


def first_order(state: AnyState, scale: float, texts: UnitTexts, kind: str, units: Numbers | None = None) -> Flow:
    """Additive attention with tanh(x) ≈ x and u ≈ V in the terms (71), but with exact weights α."""
    if PROJECT not in state:
        raise InputError("first_order: expected additive attention, got 'dot', whose flow is exact")
    pulls_of_texts = pulls_at(Weights.of(state, scale), texts, kind)
    return terms(Weights.of(state, scale, straight=True), pulls_of_texts, units)


def gap(exact: Flow, approximate: Flow) -> float:
    """The relative error of da/dτ over all tokens: the norm of the difference over the norm of the exact one."""
    true = exact.attention_total
    length, off = np.linalg.norm(true), np.linalg.norm(approximate.attention_total - true)
    return float(off / length) if length else float(off > 0)


def pulls_at(weights: Weights, texts: UnitTexts, kind: str) -> Pulls:
    check(weights, texts, kind)
    units, outputs = len(weights.embedding), len(weights.head)
    scores, polarity = np.zeros(units), np.zeros((units, outputs))
    for rows in weights.rows(np.flatnonzero(np.bincount(texts.ids, minlength=units))):
        scores[rows.numbers] = rows.keys @ weights.query / weights.scale
        polarity[rows.numbers] = rows.states @ weights.head.T
    pi, rho = np.zeros((units, outputs)), np.zeros(units)
    arrays = texts.ids, texts.counts, texts.offsets, texts.labels
    loss = pull(*arrays, scores, polarity, weights.bias, KINDS[kind], pi, rho)
    size = len(texts.labels)
    return Pulls(pi, rho, size, loss / size)


def check(weights: Weights, texts: UnitTexts, kind: str) -> None:
    """Reject input that would be read beyond the end of a table."""
    units, outputs, labels = len(weights.embedding), len(weights.head), texts.labels
    if kind not in ONE_LABEL:
        raise InputError(f"kind: expected one of {', '.join(ONE_LABEL)}, got {kind!r}")
    if len(labels) == 0 or len(labels) != len(texts.offsets) - 1:
        raise InputError(
            f"texts: expected one label per text, got {len(texts.offsets) - 1} texts and {len(labels)} labels"
        )
    if (kind == "multiclass") != (outputs > 1):
        raise InputError(
            f"kind: expected one output per class for 'multiclass' and one otherwise, got {outputs} for {kind!r}"
        )
    if len(texts.ids) and not 0 <= texts.ids.min() <= texts.ids.max() < units:
        raise InputError(f"texts: expected ids below {units} from the run's tokenizer, got {texts.ids.max()}")
    classes = {"binary": 2, "multiclass": outputs}.get(kind)
    if classes is not None and not np.isin(labels, np.arange(classes)).all():
        raise InputError(f"texts: expected labels 0 … {classes - 1}, got {wrong(labels, classes)}")


def wrong(labels: NDArray[Any], classes: int) -> str:
    return f"{labels[~np.isin(labels, np.arange(classes))][0]:g}"


class Sums(NamedTuple):
    """Sums over all units f with a nonzero pull."""

    states_pi: Doubles  # (D, K) Σ h π
    keys_rho: Doubles  # (Q,) Σ k ρ
    embedded_pi: Doubles  # (E, K) Σ e π
    slopes_embedded: Doubles  # (D, E) Σ v ρ eᵀ
    bends_states: Doubles  # (Q, D) Σ u ρ hᵀ
    bends: Doubles  # (Q,) Σ u ρ


def add_up(weights: Weights, pulls_of_texts: Pulls) -> Sums:
    outputs, width = weights.head.shape
    sums = Sums(
        np.zeros((width, outputs)),
        np.zeros(len(weights.query)),
        np.zeros((weights.embedding.shape[1], outputs)),
        np.zeros((width, weights.embedding.shape[1])),
        np.zeros((len(weights.query), width)),
        np.zeros(len(weights.query)),
    )
    for rows in weights.rows(pulls_of_texts.seen):
        pi, rho = pulls_of_texts.pi[rows.numbers], pulls_of_texts.rho[rows.numbers]
        sums.states_pi[:] += rows.states.T @ pi
        sums.keys_rho[:] += rho @ rows.keys
        if weights.affine is not None:
            sums.embedded_pi[:] += rows.embedded.T @ pi
            sums.slopes_embedded[:] += (rho[:, None] * rows.slopes).T @ rows.embedded
        if weights.project is not None:
            sums.bends_states[:] += (rho[:, None] * rows.bends).T @ rows.states
            sums.bends[:] += rho @ rows.bends
    return sums


def terms(weights: Weights, pulls_of_texts: Pulls, units: Numbers | None = None) -> Flow:
    numbers = np.arange(len(weights.embedding)) if units is None else np.asarray(units, dtype=np.int64)
    sums, m, scale = add_up(weights, pulls_of_texts), pulls_of_texts.texts, weights.scale
    head, mapped = weights.head, weights.back(weights.head)  # Wᵀ (K, D), W'ᵀ (K, E)
    parts = []
    for rows in weights.rows(numbers):
        pi, rho, e = pulls_of_texts.pi[rows.numbers], pulls_of_texts.rho[rows.numbers], rows.embedded
        slopes = weights.back(rows.slopes)  # (R, E) v'
        across = slopes @ mapped.T  # (R, K) W'ᵀv'
        polarity = {
            "A": rho[:, None] * across / (m * scale),
            "B": pi @ (mapped @ mapped.T) / m,
            "C": rows.states @ sums.states_pi / m,
        }
        attention = {
            "D": (across * pi).sum(1) / (m * scale),
            "E": (slopes * slopes).sum(1) * rho / (m * scale**2),
            "F": rows.keys @ sums.keys_rho / (m * scale**2),
        }
        if weights.affine is not None:
            pulled = e @ sums.embedded_pi  # (R, K) Σ π(f) (e_fᵀe)
            turned = e @ sums.slopes_embedded.T  # (R, D) Σ v_f ρ(f) (e_fᵀe)
            polarity["A via M"] = turned @ head.T / (m * scale)
            polarity["B via M"] = pulled @ (head @ head.T) / m
            attention["D via M"] = (rows.slopes * (pulled @ head)).sum(1) / (m * scale)
            attention["E via M"] = (rows.slopes * turned).sum(1) / (m * scale**2)
        if weights.project is not None:
            attention["E via P"] = (rows.bends * (rows.states @ sums.bends_states.T)).sum(1) / (m * scale**2)
        if weights.project_bias is not None:
            attention["E via b"] = rows.bends @ sums.bends / (m * scale**2)
        parts.append(Flow(polarity, attention))
    return joined(parts)


def joined(parts: list[Flow]) -> Flow:
    return Flow(
        {name: np.concatenate([part.polarity[name] for part in parts]) for name in parts[0].polarity},
        {name: np.concatenate([part.attention[name] for part in parts]) for name in parts[0].attention},
    )
