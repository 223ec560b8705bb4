"""Adversarial weights (Jain & Wallace 2019, §4.2.2): the attention farthest from the model's with the same prediction.

    maximise JSD(α', α)   over weights α'   with TVD(answer(α'), answer(α)) ≤ ε = 0.01

With two classes and logits that are linear in the weights, this is solved exactly: JSD is convex in α', so its maximum is at
a vertex of the feasible set, which is the simplex between two parallel planes; a vertex has its weight on one position, or on
two with the prediction at an edge. Otherwise it is searched for, for all texts of a batch together: gradient ascent on the logits
of α' from several seeded starts with a penalty beyond ε, then each along the line from α through it, as far as the simplex and
ε allow (JSD only grows along such a line). What the search finds is feasible, but need not be the farthest.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.audit.given_weights import Mixture, distances, divergences, given_weights, probabilities
from regard.audit.intervals import mean_interval, series
from regard.explain.reading import Reading
from regard.facts.audit import Adversary, DivergenceByText
from regard.models.tasks import Binary
from regard.models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

Doubles = NDArray[np.float64]
EPSILON = 0.01
STARTS, STEPS, RATE, PENALTY = 5, 200, 0.3, 10.0
SEARCHED = 200  # texts at most if predictions are not linear in the weights, which takes a pooling at every step
HALVINGS = 30
LONGEST = 5000  # positions of a text, whose pairs take half a second
ROWS = 512  # positions whose pairs with all others are computed together
FAR = math.log(2) / 2  # half of the largest possible divergence


class Farthest(NamedTuple):
    """Per text; NaN if there is only one position, if there are too many pairs of positions, or if it was not searched."""

    divergence: Doubles  # JSD of the farthest weights found
    distance: Doubles  # TVD of the predictions, at most ε
    exact: bool
    weights: list[Doubles]  # the weights themselves
    reach: Doubles  # JSD of the farthest weights whatever the prediction; 0.318 for three positions of equal weight


def farthest(trained: Trained, readings: Sequence[Reading], seed: int = 0) -> Farthest:
    import torch

    divergence, distance, reach = (np.full(len(readings), np.nan) for _ in range(3))
    weights: list[Doubles] = [np.empty(0)] * len(readings)
    exact, chosen = False, np.arange(len(readings))
    top = trained.capabilities[-1]
    is_linear = top.is_linear and not top.compresses and not trained.config.model.head_hidden
    if not is_linear and len(readings) > SEARCHED:
        chosen = np.sort(np.random.default_rng((seed, 3)).choice(len(readings), SEARCHED, replace=False))
    for mixture in given_weights(trained, [readings[row] for row in chosen.tolist()]):
        rows = chosen[mixture.rows]
        exact = mixture.contributions is not None and isinstance(trained.task, Binary)
        texts = [readings[row].text for row in rows]
        adversarial = corners(mixture, EPSILON) if exact else searched(trained, mixture, texts, seed, EPSILON)
        with torch.no_grad():
            before, after = (
                probabilities(trained.task, logits) for logits in (mixture.logits, mixture.answer(adversarial))
            )
            jsd, moved = (
                divergences(adversarial, mixture.weights).cpu().numpy(),
                distances(after, before).cpu().numpy(),
            )
        lengths = mixture.mask.sum(1).cpu().numpy()
        known = (lengths > 1) & (lengths <= LONGEST if exact else True)
        divergence[rows] = np.where(known, jsd, np.nan)
        distance[rows] = np.where(known, moved, np.nan)
        smallest = mixture.weights.masked_fill(~mixture.mask, torch.inf).amin(1).cpu().numpy()
        reach[rows] = np.where(known, single_position(smallest), np.nan)
        for index, row in enumerate(rows):
            weights[row] = adversarial[index, : lengths[index]].cpu().numpy()
    return Farthest(divergence, distance, exact, weights, reach)


def corners(mixture: Mixture, epsilon: float) -> Tensor:
    """(B, L), for two classes."""
    import torch

    assert mixture.contributions is not None
    farthest_weights = np.zeros(tuple(mixture.weights.shape))
    lengths = mixture.mask.sum(1).tolist()
    attention, contributions = mixture.weights.cpu().numpy(), mixture.contributions[..., 0].cpu().numpy()
    for row, (length, logit) in enumerate(zip(lengths, mixture.logits[:, 0].tolist(), strict=True)):
        if 0 < length <= LONGEST:
            weights, values = attention[row, :length], contributions[row, :length]
            edges = allowed_logits(logit, epsilon) - logit + float(weights @ values)
            farthest_weights[row, :length] = corner(weights, values, *edges.tolist())
    return torch.from_numpy(farthest_weights).to(mixture.weights)


def allowed_logits(logit: float, epsilon: float) -> Doubles:
    """The smallest and the largest logit whose probability lies within ε."""
    p = 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
    low, high = p - epsilon * (1 - 1e-9), p + epsilon * (1 - 1e-9)
    return np.array([
        math.log(low / (1 - low)) if low > 0 else -math.inf,
        math.log(high / (1 - high)) if high < 1 else math.inf,
    ])  # fmt: skip


def corner(weights: Doubles, values: Doubles, low: float, high: float) -> Doubles:
    """The farthest weights whose Σ weight × value lies in [low, high]: on one position, or on two and at an edge."""
    size = len(weights)
    best, chosen = 0.0, weights
    alone = single_position(weights)
    alone[(values < low) | (values > high)] = -np.inf
    if alone.max() > best:
        best, chosen = float(alone.max()), np.zeros(size)
        chosen[int(alone.argmax())] = 1.0
    for edge in (low, high):
        if not math.isfinite(edge):
            continue
        below, above = np.flatnonzero(values < edge), np.flatnonzero(values > edge)
        for start in range(0, len(below), ROWS):
            lower = below[start : start + ROWS]
            if not len(above):
                break
            part = (edge - values[above]) / (values[lower][:, None] - values[above])  # (lower, above) α' of the lower
            jsd = (
                math.log(2) / 2 * (1 - weights[lower][:, None] - weights[above])
                + position_term(weights[lower][:, None], part)
                + position_term(weights[above], 1 - part)
            )
            if jsd.max() > best:
                one, two = np.unravel_index(int(jsd.argmax()), jsd.shape)
                best, chosen = float(jsd.max()), np.zeros(size)
                chosen[lower[one]], chosen[above[two]] = part[one, two], 1 - part[one, two]
    return chosen


def single_position(weights: Doubles) -> Doubles:
    """JSD of α' on a single position, for each: a position that α' leaves out adds α log 2 / 2."""
    return np.asarray(math.log(2) / 2 * (1 - weights) + position_term(weights, np.ones(len(weights))))


def position_term(p: Doubles, q: Doubles) -> Doubles:
    """What one position adds to JSD: (p log p + q log q) / 2 − m log m, m = (p + q) / 2."""
    middle = (p + q) / 2
    return np.asarray((p_log_p(p) + p_log_p(q)) / 2 - p_log_p(middle))


def p_log_p(p: Doubles) -> Doubles:
    return np.asarray(p * np.log(np.maximum(p, 1e-300)))


def searched(trained: Trained, mixture: Mixture, texts: Sequence[str], seed: int, epsilon: float) -> Tensor:
    """(B, L), for any model."""
    import torch

    from regard.masking import masked_softmax

    attention, mask, task = mixture.weights, mixture.mask, trained.task
    before = probabilities(task, mixture.logits)
    logits = starts(attention, mask, texts, seed).requires_grad_()  # (S, B, L)
    adam = torch.optim.Adam([logits], lr=RATE)
    with torch.enable_grad():
        for step in range(STEPS):
            # with a constant rate it never settles at the edge of ε
            adam.param_groups[0]["lr"] = RATE * (1 - step / STEPS)
            weights = masked_softmax(logits, mask)
            beyond = (distances(probabilities(task, mixture.answer(weights)), before) - epsilon).clamp_min(0)
            loss = (PENALTY * beyond - divergences(weights, attention)).sum()
            (logits.grad,) = torch.autograd.grad(loss, logits)
            adam.step()
    with torch.no_grad():
        candidates = stretched(trained, mixture, masked_softmax(logits.detach(), mask), before, epsilon)
        best = divergences(candidates, attention).argmax(0)  # (B,)
        return candidates[best, torch.arange(len(best), device=best.device)]


def starts(attention: Tensor, mask: Tensor, texts: Sequence[str], seed: int) -> Tensor:
    """(S, B, L): the weights inverted, and random ones. A text's random numbers do not depend on the other texts."""
    import torch

    logits = np.zeros((STARTS, *attention.shape))
    logits[0] = -attention.clamp_min(1e-6).log().cpu().numpy()
    for row, (text, length) in enumerate(zip(texts, mask.sum(1).tolist(), strict=True)):
        crc = zlib.crc32(text.encode("utf-8", "surrogatepass"))
        logits[1:, row, :length] = 3 * np.random.default_rng((seed, crc)).standard_normal((STARTS - 1, length))
    return torch.from_numpy(logits).to(attention)


def stretched(trained: Trained, mixture: Mixture, weights: Tensor, before: Tensor, epsilon: float) -> Tensor:
    """Move each as far along its line from α as the simplex and ε allow; α itself, at 0, is always feasible."""
    import torch

    direction = weights - mixture.weights  # (S, B, L)
    steps = torch.where(direction < 0, mixture.weights / -direction.clamp_max(-1e-300), torch.inf)
    longest = steps.amin(-1).clamp(1, 1e6)  # (S, B)

    def at(t: Tensor) -> Tensor:
        moved = (mixture.weights + t.unsqueeze(-1) * direction).clamp_min(0)
        return moved / moved.sum(-1, keepdim=True).clamp_min(1e-300)

    def allowed(t: Tensor) -> Tensor:
        return distances(probabilities(trained.task, mixture.answer(at(t))), before) <= epsilon * (1 - 1e-6)

    one = torch.ones_like(longest)
    inside = allowed(one)
    low, high = torch.where(inside, one, 0 * one), torch.where(inside, longest, one)
    low = torch.where(allowed(high), high, low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = allowed(middle)
        low, high = torch.where(fits, middle, low), torch.where(fits, high, middle)
    return at(low)


def adversary_facts(values: Farthest, seed: int) -> Adversary:
    far = np.where(np.isnan(values.divergence), np.nan, values.divergence > FAR)
    return Adversary(
        epsilon=EPSILON,
        exact=values.exact,
        largest=math.log(2),
        divergence=mean_interval(values.divergence, seed),
        distance=mean_interval(values.distance, seed),
        far=mean_interval(far, seed),
        far_of_possible=mean_interval(np.where(values.reach > FAR, far, np.nan), seed),
        by_text=DivergenceByText(series(values.divergence)),
    )
