"""The attended power mean in Triton: states are read once forward, read once and their gradient written once backward.

    log r = log(m / m_α) + (log Σ_i (x_i / m)^p − log Σ_i (a_i / m_α)^p) / p,   x = clip(α h, 0, 1) + ε,   a = α + ε

m is the largest x of a feature, found while the sums are taken (online log-sum-exp), m_α the largest a of a text: the
dominant terms have logarithms near 0, where they are exact, and nothing under- or overflows. What the way back needs is
kept in four numbers a feature and text, among them ∂r/∂p. It cannot be differentiated again, and says so.

Padding may stand anywhere. Where it comes last, the mask is read once, and tiles without padding are taken without it.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

from __future__ import annotations

from typing import Any

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import Tensor

from regard.kernels.power_mean import EPSILON

EPS = tl.constexpr(EPSILON)
LN2 = tl.constexpr(0.6931471805599453)
BY_HARDWARE = tl.constexpr(not triton.knobs.runtime.interpret)  # the interpreter knows no PTX


@triton.jit
def log2(x):
    """One instruction, within 2⁻²² of the result or of 1; the library's polynomial would take longer than the memory."""
    asm: tl.constexpr = "lg2.approx.ftz.f32 $0, $1;"
    return tl.inline_asm_elementwise(asm, "=f,f", [x], tl.float32, True, 1) if BY_HARDWARE else tl.log2(x)


@triton.jit
def exp2(x):
    asm: tl.constexpr = "ex2.approx.ftz.f32 $0, $1;"
    return tl.inline_asm_elementwise(asm, "=f,f", [x], tl.float32, True, 1) if BY_HARDWARE else tl.exp2(x)


@triton.jit
def clipped(x):
    """Between 0 and 1 in one instruction, which makes 0 of what is not a number."""
    asm: tl.constexpr = "add.sat.f32 $0, $1, 0f00000000;"
    return tl.inline_asm_elementwise(asm, "=f,f", [x], tl.float32, True, 1) if BY_HARDWARE else tl.clamp(x, 0.0, 1.0)


@triton.jit
def larger(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def added(
    weights, states, mask, place, end, token_stride, d, there, top, p2, p3, highest, above, above_log, belows, below_logs,
    A_FEATURE: tl.constexpr, ALL: tl.constexpr,
):  # fmt: skip
    """The sums with some more tokens in them. ALL says that every place is real, and every feature there."""
    where = states + place[:, :, None] * token_stride + d[None, None, :]
    ok = place < end
    if ALL:
        alpha = tl.load(weights + place)
        h = tl.load(where).to(tl.float32)
    else:
        ok = tl.load(mask + place, mask=ok, other=0) != 0
        alpha = tl.load(weights + place, mask=ok, other=0.0)
        h = tl.load(where, mask=ok[:, :, None] & there[None, None, :], other=0.0).to(tl.float32)
    scaled = alpha[:, :, None] * h  # (SIDE, TOKENS, FEATURES)
    # what is not a number goes on from here: the rest loses it
    most = tl.minimum(tl.reduce(scaled, 1, larger), 1.0, propagate_nan=tl.PropagateNan.ALL) + EPS
    higher = larger(highest, most)
    inverse = 1.0 / higher
    down = log2(highest * inverse)
    shrink = exp2(p2 * down)
    x_log = log2(clipped(scaled) * inverse[:, None, :] + (inverse * EPS)[:, None, :])
    raised = exp2(p3 * x_log)
    if not ALL:
        raised = tl.where(ok[:, :, None], raised, 0.0)
    above_log = shrink * (above_log + down * above) + tl.sum(raised * x_log, 1)
    above = shrink * above + tl.sum(raised, 1)
    if A_FEATURE:
        a_log = tl.log2((alpha + EPS) / top)[:, :, None]
        raised_a = tl.where(ok[:, :, None], tl.exp2(p3 * a_log), 0.0)
        belows += tl.sum(raised_a, 1)
        below_logs += tl.sum(raised_a * a_log, 1)
    return higher, above, above_log, belows, below_logs


@triton.jit
def forward_kernel(
    states, weights, norm, mask, vector, kept, tops, ends,
    length, dim, size, row_stride, token_stride, norm_stride,
    TOKENS: tl.constexpr, SIDE: tl.constexpr, FEATURES: tl.constexpr, CHUNK: tl.constexpr, STAGES: tl.constexpr,
    A_FEATURE: tl.constexpr, KEEP: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """One text and FEATURES of its features. TOKENS × SIDE tokens at a time, in SIDE sums that meet at the end only."""
    row = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    there = d < dim
    if A_FEATURE:
        p = tl.load(norm + d, mask=there, other=1.0)
        p2, p3 = p[None, :], p[None, None, :]
    else:
        p = tl.load(norm + row * norm_stride)
        p2, p3 = p, p
    states += row * row_stride
    weights += row * length
    mask += row * length

    real, end, top = 0, 0, 0.0  # tokens, the place after the last of them, the largest weight
    for start in range(0, length, CHUNK):
        place = start + tl.arange(0, CHUNK)
        ok = tl.load(mask + place, mask=place < length, other=0) != 0
        real += tl.sum(ok.to(tl.int32))
        end = tl.maximum(end, tl.max(tl.where(ok, place + 1, 0)))
        top = tl.maximum(top, tl.max(tl.load(weights + place, mask=ok, other=0.0)))
    top += EPS
    below, below_log = top * 0.0, top * 0.0  # Σ (a / m_α)^p and Σ (a / m_α)^p log2(a / m_α)
    if not A_FEATURE:
        for start in range(0, end, CHUNK):
            place = start + tl.arange(0, CHUNK)
            ok = tl.load(mask + place, mask=place < end, other=0) != 0
            a_log = tl.log2((tl.load(weights + place, mask=ok, other=0.0) + EPS) / top)
            raised = tl.where(ok, tl.exp2(p * a_log), 0.0)
            below += tl.sum(raised)
            below_log += tl.sum(raised * a_log)

    token = tl.arange(0, SIDE)[:, None] + tl.arange(0, TOKENS)[None, :] * SIDE  # (SIDE, TOKENS)
    highest = tl.full([SIDE, FEATURES], EPS, tl.float32)
    above = tl.zeros([SIDE, FEATURES], tl.float32)
    above_log = tl.zeros([SIDE, FEATURES], tl.float32)
    belows = tl.zeros([SIDE, FEATURES], tl.float32)
    below_logs = tl.zeros([SIDE, FEATURES], tl.float32)
    even = end // (TOKENS * SIDE) * (TOKENS * SIDE) if WHOLE else 0
    even = tl.where(real == end, even, 0)
    for start in tl.range(0, even, TOKENS * SIDE, num_stages=STAGES):
        highest, above, above_log, belows, below_logs = added(
            weights, states, mask, start + token, end, token_stride, d, there, top, p2, p3,
            highest, above, above_log, belows, below_logs, A_FEATURE, True,
        )  # fmt: skip
    for start in range(even, end, TOKENS * SIDE):
        highest, above, above_log, belows, below_logs = added(
            weights, states, mask, start + token, end, token_stride, d, there, top, p2, p3,
            highest, above, above_log, belows, below_logs, A_FEATURE, False,
        )  # fmt: skip

    most = tl.reduce(highest, 0, larger)  # (FEATURES,)
    down = tl.log2(highest / most[None, :])
    shrink = tl.exp2(p2 * down)
    total_log = tl.sum(shrink * (above_log + down * above), 0)
    total = tl.sum(shrink * above, 0)
    if A_FEATURE:
        under, under_log = tl.sum(belows, 0), tl.sum(below_logs, 0)
    else:
        under, under_log = below, below_log
    some = there & (real > 0)
    apart = tl.log2(total) - tl.log2(under)
    r = most / top * tl.exp2(apart / p)
    tl.store(vector + row * dim + d, tl.where(some, r, 0.0), mask=there)
    if KEEP:
        at = kept + row * dim + d
        turn = r * LN2 * (total_log / total - under_log / under - apart / p) / p  # ∂r/∂p
        tl.store(at, 1.0 / most, mask=there)
        tl.store(at + size, tl.where(some, r / (total * most), 0.0), mask=there)  # ∂r/∂x = this · (x / m)^(p − 1)
        tl.store(at + 2 * size, tl.where(some, r / (under * top), 0.0), mask=there)  # −∂r/∂a, likewise
        tl.store(at + 3 * size, tl.where(some, turn, 0.0), mask=there)
        if tl.program_id(1) == 0:
            tl.store(tops + row, top)
            tl.store(ends + row, tl.where(real == end, end, -end))  # below 0: there is padding before it


@triton.jit
def sent_back(
    given, states, alpha, a_log, norm, p, kept, out, place, ok, length, dim, size, token_stride,
    TOKENS: tl.constexpr, FEATURES: tl.constexpr, STAGES: tl.constexpr, A_FEATURE: tl.constexpr, ALL: tl.constexpr,
):  # fmt: skip
    """Writes the states' gradient; returns that of their weights, and a row's share in that of p, yet to be added up."""
    each = tl.zeros([TOKENS, FEATURES], tl.float32)
    shared = tl.zeros([FEATURES], tl.float32)
    turn = tl.zeros([FEATURES], tl.float32)
    for start in tl.range(0, dim, FEATURES, num_stages=STAGES):
        d = start + tl.arange(0, FEATURES)
        there = d < dim
        g = tl.load(given + d, mask=there, other=0.0)
        inverse = tl.load(kept + d, mask=there, other=1.0)
        upper = g * tl.load(kept + size + d, mask=there, other=0.0)
        lower = g * tl.load(kept + 2 * size + d, mask=there, other=0.0)
        where = place[:, None] * token_stride + d[None, :]
        if ALL:
            h = tl.load(states + where).to(tl.float32)
        else:
            h = tl.load(states + where, mask=ok[:, None] & there[None, :], other=0.0).to(tl.float32)
        x = clipped(alpha[:, None] * h)
        less = (tl.load(norm + d, mask=there, other=1.0) - 1.0)[None, :] if A_FEATURE else p - 1.0
        slope = upper[None, :] * exp2(less * log2(x * inverse[None, :] + (inverse * EPS)[None, :]))
        slope = tl.where(x - x * x != 0.0, slope, 0.0)  # x is neither 0 nor 1
        if ALL:
            tl.store(out + place[:, None] * dim + d[None, :], slope * alpha[:, None])
        else:
            within = (place < length)[:, None] & there[None, :]
            tl.store(out + place[:, None] * dim + d[None, :], slope * alpha[:, None], mask=within)
        each += slope * h
        if A_FEATURE:
            each -= lower[None, :] * tl.exp2(less * a_log[:, None])
        else:
            shared += lower
            if tl.program_id(1) == 0:
                turn += g * tl.load(kept + 3 * size + d, mask=there, other=0.0)
    return each, shared, turn


@triton.jit
def backward_kernel(
    given, states, weights, norm, mask, kept, tops, ends, to_states, to_weights, to_norm,
    length, dim, size, row_stride, token_stride, norm_stride,
    TOKENS: tl.constexpr, FEATURES: tl.constexpr, STAGES: tl.constexpr, A_FEATURE: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """TOKENS tokens of one text and all their features, so that a weight's gradient is summed in one place."""
    row, first = tl.program_id(0).to(tl.int64), tl.program_id(1) * TOKENS
    place = first + tl.arange(0, TOKENS)
    end = tl.load(ends + row)
    gaps = end < 0
    end = tl.abs(end)
    given, kept, out = given + row * dim, kept + row * dim, to_states + row * length * dim
    to_weights += row * length
    if (first < end) | (first == 0):
        ok = place < end
        if gaps:
            ok = tl.load(mask + row * length + place, mask=ok, other=0) != 0
        alpha = tl.load(weights + row * length + place, mask=ok, other=0.0)
        a_log = tl.log2((alpha + EPS) / tl.load(tops + row))
        p = 1.0 if A_FEATURE else tl.load(norm + row * norm_stride)
        if WHOLE and (first + TOKENS <= end) & (gaps == 0):
            each, shared, turn = sent_back(
                given, states + row * row_stride, alpha, a_log, norm, p, kept, out, place, ok, length, dim, size,
                token_stride, TOKENS, FEATURES, STAGES, A_FEATURE, True,
            )  # fmt: skip
        else:
            each, shared, turn = sent_back(
                given, states + row * row_stride, alpha, a_log, norm, p, kept, out, place, ok, length, dim, size,
                token_stride, TOKENS, FEATURES, STAGES, A_FEATURE, False,
            )  # fmt: skip
        to_alpha = tl.sum(each, 1)
        if not A_FEATURE:
            to_alpha -= tl.sum(shared) * tl.exp2((p - 1.0) * a_log)
            if first == 0:
                tl.store(to_norm + row, tl.sum(turn))
        tl.store(to_weights + place, tl.where(ok, to_alpha, 0.0), mask=place < length)
    else:  # padding only: nothing to read
        for start in range(0, dim, FEATURES):
            d = start + tl.arange(0, FEATURES)
            within = (place < length)[:, None] & (d < dim)[None, :]
            tl.store(out + place[:, None] * dim + d[None, :], tl.zeros([TOKENS, FEATURES], tl.float32), mask=within)
        tl.store(to_weights + place, tl.zeros([TOKENS], tl.float32), mask=place < length)


class FusedPowerMean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
        rows, length, dim = states.shape
        states = states if states.stride(2) == 1 or dim == 1 else states.contiguous()
        weights, norm, mask = weights.contiguous(), norm.contiguous(), mask.contiguous().view(torch.uint8)
        keep = any(ctx.needs_input_grad)
        vector = torch.empty(rows, dim, device=states.device)  # (N, D)
        kept = torch.empty(4 if keep else 0, rows, dim, device=states.device)  # (4, N, D)
        tops = torch.empty(rows, device=states.device)  # (N,)
        ends = torch.empty(rows, device=states.device, dtype=torch.int32)  # (N,)
        tile = forward_tile(states)
        forward_kernel[rows, triton.cdiv(dim, tile["FEATURES"])](
            states, weights, norm, mask, vector, kept, tops, ends,
            length, dim, rows * dim, states.stride(0), states.stride(1), int(norm.ndim == 2),
            A_FEATURE=norm.ndim == 1, KEEP=keep, WHOLE=dim % tile["FEATURES"] == 0, **tile,
        )  # fmt: skip
        ctx.save_for_backward(states, weights, norm, mask, kept, tops, ends)
        return vector

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor | None, ...]:
        states, weights, norm, mask, kept, tops, ends = ctx.saved_tensors
        rows, length, dim = states.shape
        given = given.detach().contiguous()
        to_states = torch.empty(rows, length, dim, device=states.device, dtype=states.dtype)  # (N, L, D)
        to_weights = torch.empty_like(weights)  # (N, L)
        to_norm = torch.empty(rows, device=states.device)  # (N,)
        tile = backward_tile(states)
        backward_kernel[rows, triton.cdiv(length, tile["TOKENS"])](
            given, states, weights, norm, mask, kept, tops, ends, to_states, to_weights, to_norm,
            length, dim, rows * dim, states.stride(0), states.stride(1), int(norm.ndim == 2),
            A_FEATURE=norm.ndim == 1, WHOLE=dim % tile["FEATURES"] == 0, **tile,
        )  # fmt: skip
        if norm.ndim == 1:
            to_norm = (given * kept[3]).sum(0)  # (D,)
        elif norm.ndim == 2:
            to_norm = to_norm.unsqueeze(1)  # (N, 1)
        else:
            to_norm = to_norm.sum()  # ()
        found = (to_states, to_weights, to_norm)
        if torch.is_grad_enabled():  # somebody means to differentiate this again
            found = tuple(Final.apply(part, states, weights, norm) for part in found)
        return *found, None


class Final(torch.autograd.Function):
    """Passes a gradient on, and refuses a gradient of it: as a constant it would be wrong without a word."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *sources: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[None, ...]:
        raise RuntimeError("the fused power mean can be differentiated once only; in float64 the plain form is taken")


def fused_power_mean(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """(N, L, D), (N, L), p, (N, L) -> (N, D) in float32: see `attended_power_mean`, which decides when."""
    vector: Tensor = FusedPowerMean.apply(states, weights, norm, mask)
    return vector


FEW = 264  # two for each multiprocessor of a large GPU


def forward_tile(states: Tensor) -> dict[str, int]:
    """Measured on an H200. A thread holds 16 bytes of neighbouring features of TOKENS tokens, and shares them with none."""
    rows, _, dim = states.shape
    warps, features = (4 if states.element_size() == 4 else 2), 128
    if rows * triton.cdiv(dim, features) < FEW:  # few and long texts: more of the GPU on each
        warps, features = 4, 64
    side = warps * 32 * (16 // states.element_size()) // features
    return {"TOKENS": 8, "SIDE": side, "FEATURES": features, "CHUNK": 512, "STAGES": 3, "num_warps": warps}


def backward_tile(states: Tensor) -> dict[str, int]:
    return {"TOKENS": 8, "FEATURES": 128, "STAGES": 3, "num_warps": 4 if states.element_size() == 4 else 2}
